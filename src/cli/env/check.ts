// The checks of `offshoot env` on manifests. They need no cluster, and their errors name line and column.
import { dynamicEnv } from '../../api/dynamicenv.ts';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { uniqueVersion, validateCreate } from '../../environments/index.ts';
import type { Check } from '../manifests/check.ts';
import { checkedObjects } from '../manifests/checked.ts';
import type { ClusterOptions } from '../options.ts';

/** Checks environments, also that the names of their objects do not collide. */
export const environmentCheck: Check = {
  resource: dynamicEnv,
  judge(object, before) {
    const env = object as DynamicEnv;
    const version = uniqueVersion(env.metadata);
    const namesakes = before.map(({ metadata }) => metadata).filter((other) => uniqueVersion(other) === version);
    const verdict = validateCreate(env, { namesakes });
    if (verdict.allowed) return [];
    return verdict.plain ?? [{ at: verdict.at, message: verdict.status.message ?? '' }];
  },
};

/** The environments in files. Other kinds are rejected. */
export function environmentsIn(
  filenames: readonly string[],
  options: ClusterOptions,
  namespace: string,
): readonly DynamicEnv[] {
  const accepted = { checks: [environmentCheck], one: 'an environment' };
  return checkedObjects(filenames, options, namespace, accepted).map(({ object }) => object as DynamicEnv);
}
