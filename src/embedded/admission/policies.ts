// Built-in admission: sets the defaults of limit ranges, service accounts and priority classes before the webhooks,
// checks limit ranges after the mutating webhooks, and quotas last. Called by server.ts.
import type { Admission, Cluster, Reviews } from '../rest/context.ts';
import { checkLimits, withLimitDefaults } from './limit-ranges.ts';
import { createsPod } from './new-pods.ts';
import type { NewPodRequest } from './new-pods.ts';
import { withPriority } from './priority-classes.ts';
import { createWithinQuotas } from './quotas.ts';
import { withAccount } from './service-accounts.ts';

/** Adds the built-in admission to the admission webhooks. */
export function withPolicies(inner: Reviews, cluster: () => Cluster): Admission {
  return {
    mutate: (request) => inner.mutate(createsPod(request) ? withDefaults(cluster(), request) : request),
    validate: async (request) => {
      if (createsPod(request)) checkLimits(cluster(), request);
      await inner.validate(request);
    },
    create: (request, write) => createWithinQuotas(cluster(), request, write),
  };
}

function withDefaults(cluster: Cluster, request: NewPodRequest): NewPodRequest {
  const steps = [withLimitDefaults, withAccount, withPriority];
  return steps.reduce((pod, step) => ({ ...pod, object: step(cluster, pod) }), request);
}
