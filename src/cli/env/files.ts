// The environments that `-f` names, refused with line and column before a cluster is asked. Called by create.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { checkedObjects } from '../manifests/checked.ts';
import type { ClusterOptions } from '../options.ts';
import { environmentCheck } from './check.ts';

/** The environments of files. Anything else in them is refused. */
export function environmentsIn(
  filenames: readonly string[],
  options: ClusterOptions,
  namespace: string,
): readonly DynamicEnv[] {
  const accepted = { checks: [environmentCheck], one: 'an environment' };
  return checkedObjects(filenames, options, namespace, accepted).map(({ object }) => object as DynamicEnv);
}
