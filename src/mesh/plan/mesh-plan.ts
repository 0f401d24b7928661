// What would happen to the mesh: the forecast of its controllers, how the resources would be then, and which workloads would
// restart on the way. For `mesh plan` and `mesh upgrade`.
import { Istio } from '../../api/istio.ts';
import { changesOf, conditionsOf, reportForecast, reportOf } from '../../controller/index.ts';
import type { Forecast, ForecastOptions, ForecastReport } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { istioController } from '../controller.ts';
import { resourceName } from '../deletion/blocking.ts';
import { isHeld } from '../finalizer.ts';
import { meshParts } from '../mesh.ts';
import { notRuling, rulingIstio } from '../ruling.ts';
import type { MeshSettings } from '../settings.ts';
import { RestartRecorder } from './restarts.ts';
import type { PlannedRestarts } from './restarts.ts';
import { assumedRollouts, isOfWorkload, isRollout, withoutAssumed } from './rollouts.ts';

/** How a resource would be in the end. */
export interface PlannedIstio {
  /** `namespace/name` */
  readonly istio: string;
  /** Its state; `Gone` when it is deleted. */
  readonly state: string;
  /** Why it would get no further. */
  readonly problem?: string;
  /** What it would say besides. */
  readonly message?: string;
  /** What would block its deletion: `Kind namespace/name`, the first 20. */
  readonly blockedBy?: readonly string[];
}

export interface MeshPlan extends ForecastReport {
  readonly istios: readonly PlannedIstio[];
  /** The resource, by `namespace/name`, for which Istio is installed again after it was uninstalled for another one. */
  readonly reinstalledFor?: string;
  readonly restarts: PlannedRestarts;
  /** Workloads of the control plane, by `namespace/name`, whose pods are assumed to become ready. */
  readonly assumedReady: readonly string[];
}

export interface MeshPlanOptions extends Pick<ForecastOptions, 'tables' | 'now' | 'intents' | 'refuse' | 'ask'> {
  /** What the controllers run with. */
  readonly settings: Partial<MeshSettings>;
}

/** Plans the mesh: what would be made, changed and removed, in order. */
export function planMesh({ settings, ...options }: MeshPlanOptions): MeshPlan {
  const { intents = [], tables } = options;
  const ofIstio = intents.filter(({ kind }) => kind.kind === Istio.kind);
  const gone = ofIstio.flatMap((intent) => ('delete' in intent ? [keyOf(intent.delete)] : []));
  const asked = new Set(ofIstio.flatMap((intent) => ('put' in intent ? [keyOf(intent.put.metadata)] : [])));
  const before = tables.of(Istio).list();
  const keys = [...before.map(({ metadata }) => keyOf(metadata)), ...gone];
  // What takes its time is foretold all the same.
  const parts = meshParts({ ...settings, reconnectMs: 0 });
  const recorder = new RestartRecorder(parts.restarts);
  const controllers = [istioController(parts), ...recorder.controllers, ...assumedRollouts()];
  return reportForecast({ ...options, controllers }, (made) => {
    const shown = withoutRollouts(made);
    const there = made.facts.list(Istio).map(({ metadata }) => keyOf(metadata));
    const about = [...new Set([...there, ...keys])];
    return {
      ...reportOf(shown),
      istios: about.map((key) => plannedIstio(made, key, asked.has(key))),
      ...reinstallation(before, made),
      restarts: recorder.take(made),
      assumedReady: assumed(made),
    };
  });
}

/** A forecast without what is only assumed, and what Kubernetes does about workloads. */
function withoutRollouts(made: Forecast): Forecast {
  const writes = made.writes
    .filter((write) => !isRollout(write) && !isOfWorkload(write))
    .map((write) => ({ ...write, before: withoutAssumed(write.before), after: withoutAssumed(write.after) }));
  return { ...made, writes, changes: changesOf(writes) };
}

function assumed({ writes }: Forecast): readonly string[] {
  const rolledOut = writes.filter((write) => isRollout(write) && write.kind.kind !== 'Pod');
  return [...new Set(rolledOut.map(({ kind, after }) => `${kind.kind} ${keyOf(after!.metadata)}`))];
}

/** Whoever rules next installs what was uninstalled for the one before. */
function reinstallation(before: readonly Istio[], { facts }: Forecast): Pick<MeshPlan, 'reinstalledFor'> {
  const [was, is] = [rulingIstio(before), rulingIstio(facts.list(Istio))];
  if (was === undefined || is === undefined || !isHeld(was) || was.metadata.uid === is.metadata.uid) return {};
  return { reinstalledFor: keyOf(is.metadata) };
}

/** One that does not rule is no problem of the mesh, unless it is what was asked about. */
function plannedIstio({ facts }: Forecast, key: string, isAsked: boolean): PlannedIstio {
  const [namespace, name] = key.split('/');
  const istio = facts.get(Istio, { namespace: namespace!, name: name! });
  if (istio === undefined) return { istio: key, state: 'Gone' };
  const { state = 'Pending', description = '', blockedBy } = istio.status ?? {};
  const blocking = (blockedBy?.resources ?? []).map((each) => `${resourceName(each.kind)} ${keyOf(each)}`);
  const stalled = conditionsOf(istio).find(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const isIdle = !isAsked && notRuling(istio, facts.list(Istio)) !== undefined;
  const problem = isIdle ? undefined : stalled?.message;
  return {
    istio: key,
    state,
    ...(problem !== undefined && { problem }),
    ...(problem === undefined && description !== '' && { message: description }),
    ...(blocking.length > 0 && { blockedBy: blocking }),
  };
}
