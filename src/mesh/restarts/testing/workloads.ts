// Workloads for the tests of the planner, healthy and outdated by default.
import type { Workload } from '../../workloads/workloads.ts';
import type { OutdatedWorkload } from '../outdated.ts';
import { workloadKey, workloadRef } from '../owners.ts';
import { planRestarts } from '../plan.ts';
import type { RestartFacts, RestartPlan } from '../plan.ts';

export const NOW = Date.parse('2026-01-01T12:00:00Z');
export const HASH = 'h1';
export const HEALTHY = { replicas: 2, readyReplicas: 2, updatedReplicas: 2, availableReplicas: 2 };

export interface WorkloadOptions {
  readonly kind?: string;
  readonly namespace?: string;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly spec?: Workload['spec'];
  readonly status?: Workload['status'];
}

export const workload = (name: string, options: WorkloadOptions = {}): Workload => ({
  apiVersion: 'apps/v1',
  kind: options.kind ?? 'Deployment',
  metadata: {
    name,
    namespace: options.namespace ?? 'shop',
    annotations: options.annotations ?? {},
    labels: options.labels ?? {},
  },
  spec: { replicas: 2, template: { metadata: { labels: { app: name } } }, ...options.spec },
  status: { ...HEALTHY, ...options.status },
});
/** A plan for workloads that are all outdated by default. */
export function plan(
  workloads: readonly Workload[],
  facts: Partial<RestartFacts> = {},
  upToDate: readonly string[] = [],
): RestartPlan {
  const outdated = workloads
    .filter(({ metadata }) => !upToDate.includes(metadata.name))
    .map((each): [string, OutdatedWorkload] => {
      const ref = workloadRef(each);
      return [
        workloadKey(ref),
        {
          workload: ref,
          why: 'old image',
          pods: 2,
          oldest: NOW - 3_600_000,
          newest: NOW - 30_000,
          bySetting: false,
          isUnhealthy: false,
        },
      ];
    });
  return planRestarts({
    workloads,
    outdated: new Map(outdated),
    hash: HASH,
    now: NOW,
    budgets: [],
    batchSize: 2,
    ...facts,
  });
}
