// Admission by objects of the cluster itself: limit ranges before and after the webhooks, service accounts before them,
// quotas last of all.
import type { Admission, Cluster } from '../rest/context.ts';
import { withAccount } from './account-admission.ts';
import { checkLimits, withLimitDefaults } from './limits.ts';
import { reserve } from './quota.ts';

/** Wraps an admission with the limits, accounts and quotas of namespaces. */
export function withPolicies(inner: Admission, cluster: () => Cluster): Admission {
  return {
    mutate: (request) => {
      const object = withAccount(cluster(), request, withLimitDefaults(cluster(), request));
      return inner.mutate(object === request.object ? request : { ...request, object });
    },
    validate: async (request) => {
      checkLimits(cluster(), request);
      await inner.validate(request);
      if (request.operation === 'CREATE') await reserve(cluster(), request);
    },
  };
}
