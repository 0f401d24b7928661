// The size of a cluster: whether it gets the defaults for evaluation or for production.
import type { KubeObject } from '../../../kube/index.ts';
import { parseQuantity } from '../../../kube/quantity.ts';

export type ClusterSize = 'Evaluation' | 'Production';

export interface Node extends KubeObject {
  readonly spec?: { readonly providerID?: string };
  readonly status?: {
    readonly capacity?: { readonly cpu?: string | number; readonly memory?: string | number };
    readonly nodeInfo?: { readonly kubeletVersion?: string; readonly osImage?: string };
  };
}

const BILLION = 1_000_000_000n;
/** A cluster below one of these limits is for evaluation: 5 cores, and 10 G of memory (not Gi), in billionths. */
const CORES = 5n * BILLION;
const MEMORY = 10n * BILLION * BILLION;

/**
 * The size by the capacity of all nodes. A known size is kept until the cluster has clearly changed: a production
 * cluster that loses a node becomes one for evaluation, which restarts every sidecar, only below four fifths of the
 * limits.
 */
export function clusterSize(nodes: Iterable<Node>, before?: ClusterSize): ClusterSize {
  let cpu = 0n;
  let memory = 0n;
  for (const { status } of nodes) {
    cpu += amountOf(status?.capacity?.cpu);
    memory += amountOf(status?.capacity?.memory);
  }
  const [parts, of] = before === 'Production' ? [4n, 5n] : [1n, 1n];
  return cpu * of < CORES * parts || memory * of < MEMORY * parts ? 'Evaluation' : 'Production';
}

/** A quantity in billionths; 0 if there is none. */
function amountOf(quantity: string | number | undefined): bigint {
  return parseQuantity(String(quantity ?? '0'))?.nano ?? 0n;
}
