// PodDisruptionBudgets: rollouts ignore them, so we check them before we start one.
import { keyOf, matches, selectorOf } from '../../kube/index.ts';
import type { KubeObject, LabelSelector } from '../../kube/index.ts';
import type { Workload } from '../workloads/workloads.ts';

export interface DisruptionBudget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: { readonly disruptionsAllowed?: number; readonly observedGeneration?: number };
}

/** The budgets, and which of them are used up in this batch. */
export class Budgets {
  readonly #byNamespace: ReadonlyMap<string, readonly DisruptionBudget[]>;
  readonly #spent = new Set<DisruptionBudget>();

  constructor(budgets: Iterable<DisruptionBudget>) {
    this.#byNamespace = Map.groupBy(budgets, ({ metadata }) => metadata.namespace ?? '');
  }

  /** Why a restart is forbidden. If it is allowed, undefined, and the budgets are spent: one workload per batch. */
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
      // A budget without a selector matches no pod.
      return budget?.selector !== undefined && matches(selectorOf(budget.selector), labels);
    });
  }
}

/** Whether a Deployment creates new pods before it removes old ones. Many do, as percentages are rounded down. */
function keepsAllPods({ kind, spec }: Workload): boolean {
  const { type = 'RollingUpdate', rollingUpdate } = spec?.strategy ?? {};
  const { maxUnavailable, maxSurge = 1 } = rollingUpdate ?? {};
  if (kind !== 'Deployment' || type !== 'RollingUpdate' || maxUnavailable === undefined) return false;
  const { replicas = 1 } = spec ?? {};
  // If both are zero, Kubernetes removes one pod.
  return Math.floor(podsOf(maxUnavailable, replicas)) === 0 && podsOf(maxSurge, replicas) > 0;
}

/** A number of pods, from a number or a percentage such as `25%`. */
function podsOf(count: number | string, replicas: number): number {
  return typeof count === 'number' ? count : (Number.parseFloat(count) / 100) * replicas;
}
