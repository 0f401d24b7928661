// PodDisruptionBudgets: a rollout does not ask them, so we do before we start one.
import { keyOf, matches, selectorOf } from '../../kube/index.ts';
import type { KubeObject, LabelSelector } from '../../kube/index.ts';
import type { Workload } from '../workloads.ts';

export interface DisruptionBudget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: { readonly disruptionsAllowed?: number; readonly observedGeneration?: number };
}

/** Budgets, and what has been spent of them in this batch. */
export class Budgets {
  readonly #byNamespace: ReadonlyMap<string, readonly DisruptionBudget[]>;
  readonly #spent = new Set<DisruptionBudget>();

  constructor(budgets: Iterable<DisruptionBudget>) {
    this.#byNamespace = Map.groupBy(budgets, ({ metadata }) => metadata.namespace ?? '');
  }

  /** What forbids a restart now; undefined, and spent, when nothing does. One workload a budget and batch. */
  spend(workload: Workload): string | undefined {
    if (keepsAllPods(workload)) return undefined;
    const concerned = this.#of(workload);
    for (const budget of concerned) {
      const { generation = 0 } = budget.metadata;
      const { disruptionsAllowed = 0, observedGeneration = 0 } = budget.status ?? {};
      const name = `PodDisruptionBudget ${keyOf(budget.metadata)}`;
      if (observedGeneration < generation) return `${name} has changed and is not counted yet`;
      if (disruptionsAllowed < 1) return `${name} allows no disruption`;
      if (this.#spent.has(budget)) return `${name} is shared with a workload that is restarting`;
    }
    for (const budget of concerned) this.#spent.add(budget);
    return undefined;
  }

  #of({ metadata, spec }: Workload): readonly DisruptionBudget[] {
    const labels = spec?.template?.metadata?.labels ?? {};
    return (this.#byNamespace.get(metadata.namespace ?? '') ?? []).filter(({ spec: budget }) => {
      // A budget without a selector is for no pod.
      return budget?.selector !== undefined && matches(selectorOf(budget.selector), labels);
    });
  }
}

/** A Deployment that makes new pods before it takes old ones away disturbs nobody: many do, shares are rounded down. */
function keepsAllPods({ kind, spec }: Workload): boolean {
  const { type = 'RollingUpdate', rollingUpdate } = spec?.strategy ?? {};
  const { maxUnavailable, maxSurge = 1 } = rollingUpdate ?? {};
  if (kind !== 'Deployment' || type !== 'RollingUpdate' || maxUnavailable === undefined) return false;
  const { replicas = 1 } = spec ?? {};
  // Where there may be none more and none less, Kubernetes takes one away.
  return Math.floor(podsOf(maxUnavailable, replicas)) === 0 && podsOf(maxSurge, replicas) > 0;
}

/** A number of pods, or a share of them such as `25%`. */
function podsOf(count: number | string, replicas: number): number {
  return typeof count === 'number' ? count : (Number.parseFloat(count) / 100) * replicas;
}
