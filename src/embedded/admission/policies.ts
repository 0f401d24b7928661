// Admission by objects of the cluster itself: limit ranges before and after the webhooks, service accounts and priority
// classes before them, quotas last of all. Called by server.ts.
import type { Admission, Cluster, Reviews } from '../rest/context.ts';
import { checkLimits, withLimitDefaults } from './limit-ranges.ts';
import { makesPod } from './new-pods.ts';
import type { NewPodRequest } from './new-pods.ts';
import { withPriority } from './priority-classes.ts';
import { createWithinQuotas } from './quotas.ts';
import { withAccount } from './service-accounts.ts';

/** Wraps an admission with the limits, accounts, priorities and quotas of namespaces. */
export function withPolicies(inner: Reviews, cluster: () => Cluster): Admission {
  return {
    mutate: (request) => inner.mutate(makesPod(request) ? completed(cluster(), request) : request),
    validate: async (request) => {
      if (makesPod(request)) checkLimits(cluster(), request);
      await inner.validate(request);
    },
    create: (request, write) => createWithinQuotas(cluster(), request, write),
  };
}

function completed(cluster: Cluster, request: NewPodRequest): NewPodRequest {
  const steps = [withLimitDefaults, withAccount, withPriority];
  return steps.reduce((pod, step) => ({ ...pod, object: step(cluster, pod) }), request);
}
