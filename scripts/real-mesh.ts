// The real mesh of the tests, by hand:
//   npm run real-mesh -- fetch   find istiod and Envoy, or build and download them once
//   npm run real-mesh -- path    print the folders that they are in (fails when they are missing)
import { envoy } from '../test/programs/envoy.ts';
import { istiod } from '../test/programs/istio.ts';
import { programCommands, runSubcommand } from './subcommand.ts';

await runSubcommand('real-mesh', { ...programCommands([istiod, envoy]) });
