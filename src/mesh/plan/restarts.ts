// Which workloads a forecast restarts, why, and in which batches: records the plans of the restart controller.
import type { ControllerDefinition, Forecast, Plan, View } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { LotProgress, RestartProgress, Restarts } from '../restarts/index.ts';
import { workloadKey, workloadRef } from '../restarts/owners.ts';
import type { WorkloadRef } from '../restarts/owners.ts';

export interface PlannedRestart extends Pick<WorkloadRef, 'kind' | 'namespace' | 'name'> {
  readonly why: string;
}

/** Workloads that restart together. The next batch of the same lot starts when all of them are healthy. */
export interface PlannedBatch {
  readonly lot: LotProgress['lot'];
  readonly workloads: readonly PlannedRestart[];
}

/** A workload that is not restarted, and what it waits for. */
interface WaitingRestart extends PlannedRestart {
  readonly waiting: string;
}

export interface PlannedRestarts {
  readonly batches: readonly PlannedBatch[];
  readonly waiting: readonly WaitingRestart[];
  /** Pods that only a person can replace. */
  readonly manual: RestartProgress['manual'];
}

interface Recorded {
  readonly batch: number;
  readonly lot: LotProgress['lot'];
  readonly restart: PlannedRestart;
}

export class RestartRecorder {
  /** The restart controllers, with recording. */
  readonly controllers: readonly ControllerDefinition[];
  readonly #restarts: Restarts;
  readonly #recorded = new Map<string, Recorded>();
  #latest: RestartProgress | undefined;
  #batches = 0;

  constructor(restarts: Restarts) {
    this.#restarts = restarts;
    this.controllers = restarts.controllers.map((controller) => ({
      ...controller,
      plan: (view, object) => {
        const plan = controller.plan(view, object);
        this.#record(view, plan);
        return plan;
      },
    }));
  }

  /** Returns the restarts of a forecast, and resets the recorder. */
  take({ writes }: Forecast): PlannedRestarts {
    const names = new Set(this.controllers.map(({ name }) => name));
    const written = writes.filter(({ by, after }) => names.has(by) && after !== undefined);
    const done = new Set(written.map(({ kind, after }) => idOf(kind.kind, after!.metadata)));
    const recorded = [...this.#recorded].flatMap(([key, each]) => (done.has(key) ? [each] : []));
    const batches = Map.groupBy(recorded, ({ lot, batch }) => `${lot} ${batch}`);
    const { plan, manual = [] } = this.#latest ?? {};
    this.#recorded.clear();
    this.#latest = undefined;
    return {
      batches: [...batches.values()].map((own) => ({ lot: own[0]!.lot, workloads: own.map(({ restart }) => restart) })),
      waiting: [...(plan?.waiting ?? []), ...(plan?.unchanged ?? [])].map(({ workload, why, waiting }) => ({
        ...named(workload),
        why,
        waiting,
      })),
      manual,
    };
  }

  #record(view: View, { steps = [] }: Plan): void {
    const progress = this.#restarts.progress(view);
    this.#latest = progress;
    if (steps.length === 0) return;
    const batch = ++this.#batches;
    const targets = new Set(
      steps.flatMap((step) => (step.do === 'edit' ? [idOf(step.kind.kind, step.to.metadata)] : [])),
    );
    for (const { lot, plan } of progress?.lots ?? []) {
      for (const { workload, why } of plan.restart) {
        const key = workloadKey(workloadRef(workload));
        if (targets.has(key))
          this.#recorded.set(key, { batch, lot, restart: { ...named(workloadRef(workload)), why } });
      }
    }
  }
}

function idOf(kind: string, metadata: { readonly name: string; readonly namespace?: string }): string {
  return `${kind} ${keyOf(metadata)}`;
}

function named({ kind, namespace, name }: WorkloadRef): Pick<WorkloadRef, 'kind' | 'namespace' | 'name'> {
  return { kind, namespace, name };
}
