// Rejects `-n` for commands about the whole mesh.
import { MODULE_NAMESPACE } from '../../mesh/index.ts';
import { invalidFlag } from '../exit.ts';
import type { ClusterOptions } from '../options.ts';

/** Throws for another namespace: there is only one mesh. */
export function refuseNamespace({ namespace }: ClusterOptions): void {
  if (namespace === undefined || namespace === MODULE_NAMESPACE) return;
  throw invalidFlag('-n', namespace, `a cluster has one mesh, that of namespace ${MODULE_NAMESPACE}; leave it out`);
}
