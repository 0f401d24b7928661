// The real node of the tests, by hand:
//   npm run real-node -- fetch   find its programs, or build and download them once
//   npm run real-node -- path    print the folders that they are in (fails when they are missing)
import { containerd } from '../test/programs/containerd.ts';
import { coredns } from '../test/programs/coredns.ts';
import { debian } from '../test/programs/debian.ts';
import { envoy } from '../test/programs/envoy.ts';
import { istiod, istioNode } from '../test/programs/istio.ts';
import { kubernetes, kubernetesNode } from '../test/programs/kubernetes.ts';
import { toolbox } from '../test/programs/toolbox.ts';
import { programCommands, runSubcommand } from './subcommand.ts';

const sets = [debian, kubernetes, kubernetesNode, containerd, coredns, toolbox, istiod, istioNode, envoy];

await runSubcommand('real-node', { ...programCommands(sets) });
