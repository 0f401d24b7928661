// `-n` of commands about the mesh as a whole.
import { MODULE_NAMESPACE } from '../../mesh/index.ts';
import { invalidFlag } from '../exit.ts';
import type { ClusterOptions } from '../options.ts';

/** There is one mesh, so a namespace would choose nothing. */
export function refuseNamespace({ namespace }: ClusterOptions): void {
  if (namespace === undefined || namespace === MODULE_NAMESPACE) return;
  throw invalidFlag('-n', namespace, `a cluster has one mesh, that of namespace ${MODULE_NAMESPACE}; leave it out`);
}
