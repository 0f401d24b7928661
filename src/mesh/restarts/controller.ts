// The restart controller: brings workloads up to date, batch after batch, beside the controller of the resource. All that
// it knows is in the cluster: a restarted workload carries the hash of the state that it was restarted for.
import { Istio } from '../../api/istio.ts';
import { defineController } from '../../controller/index.ts';
import type { ControllerDefinition, Facts, Plan, PlannedEvent, View, WriteCounter } from '../../controller/index.ts';
import { edit, keyOf, remove } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import type { MeshSettings } from '../settings.ts';
import { marked, markOf, podToDelete } from './mark.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { rulingGoal } from './outdated-pods.ts';
import { restartModels, restartProgress } from './progress.ts';
import type { LotProgress, RestartModels, RestartProgress } from './progress.ts';
import { reconnectingMs } from './reconnect.ts';
import { writeRestarts } from './refusals.ts';
import { podOwner, Pods, workloadTable } from './tables.ts';

/** Restarts for a mesh. */
export interface Restarts {
  /** How far they are; undefined where no resource rules. */
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
        plan: (view, istio) => (rulingGoal(view)?.istio === keyOf(istio.metadata) ? planRestart(view, models) : {}),
        write: (steps, notes) => writeRestarts(steps, notes, models.refusals),
      }),
    ],
  };
}

/** Restarted workloads, and pods that were deleted where that is what restarts a workload. */
const restartCounter: WriteCounter = {
  name: 'offshoot_mesh_restarts_total',
  help: 'Workloads restarted and pods deleted to update their sidecars, by kind',
  labels: ['kind'],
  initial: ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Pod'].map((kind) => ({ kind })),
  labelsOf: ({ step, did }) => (did === 'nothing' ? undefined : { kind: step.kind.kind }),
};

/** What to restart now. */
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
 * How much longer the desired state must stay the same before anything is restarted for it: changes that come together
 * make one restart, and the injector has heard of them by then. In the second in which a filter was changed, a new pod
 * could not be told from an old one.
 */
function settlingMs(view: View, { lot, hash, changedAt }: LotProgress, { settleMs }: MeshSettings): number {
  const settled = settleMs - view.heldFor(`${lot} ${hash}`);
  return Math.max(settled, changedAt === undefined ? 0 : changedAt + SECOND - view.now());
}

const SECOND = 1_000;

function stepsOf(view: View, { hash, plan }: LotProgress, models: RestartModels): readonly Step[] {
  const restarts = plan.restart.map(({ workload }) =>
    edit(workloadTable(workload), workload, marked(workload, hash, view.now())),
  );
  const replacements = plan.replace.flatMap((workload) => {
    const pods = view.index(Pods, 'owner', podOwner(workload.kind, workload.metadata));
    const outdated = view.model(models.outdated);
    const pod = podToDelete(
      markOf(workload)!,
      pods.filter(({ metadata }) => view.read.has(outdated, keyOf(metadata))),
    );
    return pod === undefined ? [] : [remove(Pods, pod)];
  });
  return [...restarts, ...replacements];
}

const MOST_NAMES = 5;

/** What people are told of a batch: each workload why it is restarted, the resource how far it is. */
function eventsOf({ lot, plan }: LotProgress): readonly PlannedEvent[] {
  const { restart, progress } = plan;
  if (restart.length === 0) return [];
  const names = restart.map(({ workload }) => workloadKey(workloadRef(workload)));
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return [
    {
      type: 'Normal',
      reason: lot === 'gateways' ? 'RestartingGateways' : 'RestartingWorkloads',
      note: `Restarting ${names.slice(0, MOST_NAMES).join(', ')}${more}: ${progress.done} of ${progress.total} are done`,
    },
    ...restart.map(({ workload, why }): PlannedEvent => ({
      type: 'Normal',
      reason: 'RestartedForMesh',
      note: `Restarted for the service mesh: ${why}`,
      regarding: workload,
    })),
  ];
}
