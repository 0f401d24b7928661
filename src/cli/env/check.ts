// What `offshoot env` checks of manifests before a cluster sees them.
import { dynamicEnv } from '../../api/dynamicenv.ts';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { uniqueVersion, validateCreate } from '../../environments/index.ts';
import type { Check } from '../manifests/check.ts';

/** Environments, which must not get each other's names either. */
export const environmentCheck: Check = {
  resource: dynamicEnv,
  judge(object, before) {
    const env = object as DynamicEnv;
    const version = uniqueVersion(env.metadata);
    const namesakes = before.map(({ metadata }) => metadata).filter((other) => uniqueVersion(other) === version);
    const verdict = validateCreate(env, { namesakes });
    return verdict.allowed ? [] : [{ at: verdict.at, message: verdict.status.message ?? '' }];
  },
};
