// The restart controller: restarts outdated workloads in batches, next to the controller of the resource. All its state
// is in the cluster: a restarted workload has the hash of the desired state for which it was restarted.
import { Istio } from '../../api/istio.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Facts, Plan, PlannedEvent, View, WriteCounter } from '../../controller/index.ts';
import { edit, keyOf, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import type { MeshSettings } from '../settings.ts';
import { withRestart, lastRestart, podToDelete } from './restart-annotations.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { activeGoal } from './outdated-pods.ts';
import { restartModels, restartProgress } from './progress.ts';
import type { LotProgress, RestartModels, RestartProgress } from './progress.ts';
import { reconnectingMs } from './reconnect.ts';
import { writeRestarts } from './refusals.ts';
import { podOwner, Pods, workloadTable } from './tables.ts';

/** The restarts of a mesh. */
export interface Restarts {
  /** The progress of restarts; undefined if no resource rules. */
  progress(view: Facts & Pick<View, 'now'>): RestartProgress | undefined;
  readonly controllers: readonly ControllerDefinition[];
}

export function meshRestarts(settings: MeshSettings): Restarts {
  const models = restartModels(settings);
  return {
    progress: (view) => restartProgress(view, models),
    controllers: [
      defineController<Istio>({
        name: 'mesh-restarts',
        kind: Istio,
        ownsStatus: false,
        counters: [restartCounter],
        plan: (view, istio) => (activeGoal(view)?.istio === keyOf(istio.metadata) ? planRestart(view, models) : {}),
        write: (steps, notes) => writeRestarts(steps, notes, models.refusals),
      }),
    ],
  };
}

/** Counts restarted workloads, and deleted pods of workloads that are restarted in this way. */
const restartCounter: WriteCounter = {
  name: 'offshoot_mesh_restarts_total',
  help: 'Workloads restarted and pods deleted to update their sidecars, by kind',
  labels: ['kind'],
  initial: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Pod'].map((kind) => ({ kind })),
  labelsOf: ({ step, did }) => (did === 'nothing' ? undefined : { kind: step.kind.kind }),
};

/** Plans the next restarts. */
function planRestart(view: View, models: RestartModels): Plan {
  const steps: Step[] = [];
  const events: PlannedEvent[] = [];
  const waits: number[] = [];
  const reconnecting = reconnectingMs(view, models.settings.reconnectMs);
  for (const lot of restartProgress(view, models)?.lots ?? []) {
    const { wakeAt, restart, replace } = lot.plan;
    if (wakeAt !== undefined) waits.push(wakeAt - view.now());
    const settling = Math.max(reconnecting, settlingMs(view, lot, models.settings));
    if (restart.length + replace.length === 0) continue;
    if (settling > 0) waits.push(settling);
    else {
      steps.push(...stepsOf(view, lot, models));
      events.push(...eventsOf(lot));
    }
  }
  return { steps, events, ...(waits.length > 0 && { requeueAfterMs: Math.max(0, Math.min(...waits)) }) };
}

/**
 * How much longer the desired state must be stable before workloads are restarted for it, so that changes in a row
 * cause one restart and the injector has received them. Within the second of a filter change, new pods could not be
 * distinguished from old ones.
 */
function settlingMs(view: View, { lot, hash, changedAt }: LotProgress, { settleMs }: MeshSettings): number {
  const settled = settleMs - view.heldFor(`${lot} ${hash}`);
  return Math.max(settled, changedAt === undefined ? 0 : changedAt + SECOND - view.now());
}

const SECOND = 1_000;

function stepsOf(view: View, { hash, plan }: LotProgress, models: RestartModels): readonly Step[] {
  const restarts = plan.restart.map(({ workload }) =>
    edit(workloadTable(workload), workload, withRestart(workload, hash, view.now())),
  );
  const replacements = plan.replace.flatMap((workload) => {
    const pods = view.index(Pods, 'owner', podOwner(workload.kind, workload.metadata));
    const outdated = view.model(models.outdated);
    const pod = podToDelete(
      lastRestart(workload)!,
      pods.filter(({ metadata }) => view.read.has(outdated, keyOf(metadata))),
    );
    return pod === undefined ? [] : [remove(Pods, pod)];
  });
  return [...restarts, ...replacements];
}

const MAX_NAMES = 5;

/** The Events of a batch: on each workload why it is restarted, on the resource the progress. */
function eventsOf({ lot, plan }: LotProgress): readonly PlannedEvent[] {
  const { restart, progress } = plan;
  if (restart.length === 0) return [];
  const names = restart.map(({ workload }) => workloadKey(workloadRef(workload)));
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return [
    {
      type: 'Normal',
      reason: lot === 'gateways' ? 'RestartingGateways' : 'RestartingWorkloads',
      note: `Restarting ${names.slice(0, MAX_NAMES).join(', ')}${more}: ${progress.done} of ${progress.total} are done`,
    },
    ...restart.map(({ workload, why }): PlannedEvent => ({
      type: 'Normal',
      reason: 'RestartedForMesh',
      note: `Restarted for the service mesh: ${why}`,
      regarding: workload,
    })),
  ];
}
