// Admission by objects of the cluster itself: limit ranges before and after the webhooks, service accounts and priority
// classes before them, quotas last of all.
import type { Admission, Cluster } from '../rest/context.ts';
import { withAccount } from './account-admission.ts';
import { checkLimits, withLimitDefaults } from './limits.ts';
import { withPriority } from './priority.ts';
import { reserve } from './quota.ts';

/** Wraps an admission with the limits, accounts, priorities and quotas of namespaces. */
export function withPolicies(inner: Admission, cluster: () => Cluster): Admission {
  return {
    mutate: (request) => {
      const limited = withLimitDefaults(cluster(), request);
      const object = withPriority(cluster(), request, withAccount(cluster(), request, limited));
      return inner.mutate(object === request.object ? request : { ...request, object });
    },
    validate: async (request) => {
      checkLimits(cluster(), request);
      await inner.validate(request);
      if (request.operation === 'CREATE') await reserve(cluster(), request);
    },
  };
}
