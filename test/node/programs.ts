// The programs of a real node.
import { hostArchitecture } from '../../scripts/image/oci.ts';
import { imageParts } from '../../scripts/image/parts.ts';
import type { Architecture } from '../../scripts/image/parts.ts';
import { containerd } from '../programs/containerd.ts';
import { coredns } from '../programs/coredns.ts';
import { debian } from '../programs/debian.ts';
import { envoy } from '../programs/envoy.ts';
import { istiod, istioNode } from '../programs/istio.ts';
import { kubernetes, kubernetesNode } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';
import type { ProgramSet } from '../programs/programs.ts';
import { toolbox } from '../programs/toolbox.ts';

const release = imageParts(hostArchitecture as Architecture);
const plain: readonly ProgramSet[] = [debian, kubernetes, kubernetesNode, containerd, coredns, toolbox, release];
export const nodePrograms: readonly ProgramSet[] = [...plain, istiod, istioNode, envoy];

/** One line that says why a node (or one with a mesh) cannot run on this machine. */
export function nodeMissing({ mesh }: { readonly mesh: boolean }): string | undefined {
  if (process.platform !== 'linux') return 'a real node needs Linux';
  if (process.getuid?.() !== 0) return 'a real node needs root';
  for (const set of mesh ? nodePrograms : plain) {
    const found = findPrograms(set);
    if ('missing' in found) return found.missing;
  }
  return undefined;
}
