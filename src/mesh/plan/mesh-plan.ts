// The forecast for a mesh: the writes of its controllers, the resulting states of the resources, and the workloads that
// would restart. For `mesh plan` and `mesh upgrade`.
import { Istio } from '../../api/istio.ts';
import { changesOf, conditionsOf, reportForecast, reportOf } from '../../controller/index.ts';
import type { Forecast, ForecastOptions, ForecastReport } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { istioController } from '../controller.ts';
import { resourceName } from '../deletion/blocking.ts';
import { hasFinalizer } from '../custom-resource/finalizer.ts';
import { meshParts } from '../mesh.ts';
import { whyInactive, activeIstio } from '../custom-resource/active-istio.ts';
import type { MeshSettings } from '../settings.ts';
import { RestartRecorder } from './restarts.ts';
import type { PlannedRestarts } from './restarts.ts';
import { assumedRollouts, isOfWorkload, isRollout, withoutAssumed } from './rollouts.ts';

/** The final state of a resource. */
export interface PlannedIstio {
  /** `namespace/name` */
  readonly istio: string;
  /** Its state; `Gone` if it is deleted. */
  readonly state: string;
  /** Why it would be stalled. */
  readonly problem?: string;
  /** Its description otherwise. */
  readonly message?: string;
  /** The resources that would block its deletion: `Kind namespace/name`, the first 20. */
  readonly blockedBy?: readonly string[];
}

export interface MeshPlan extends ForecastReport {
  readonly istios: readonly PlannedIstio[];
  /** The resource, as `namespace/name`, for which Istio is reinstalled after it was uninstalled for another one. */
  readonly reinstalledFor?: string;
  readonly restarts: PlannedRestarts;
  /** Workloads of the control plane, as `Kind namespace/name`, whose pods are assumed to become ready. */
  readonly assumedReady: readonly string[];
}

export interface MeshPlanOptions extends Pick<ForecastOptions, 'tables' | 'now' | 'intents' | 'refuse' | 'ask'> {
  /** The settings of the controllers. */
  readonly settings: Partial<MeshSettings>;
}

/** Plans the mesh: the objects that would be created, changed and removed, in order. */
export function planMesh({ settings, ...options }: MeshPlanOptions): MeshPlan {
  const { intents = [], tables } = options;
  const ofIstio = intents.filter(({ kind }) => kind.kind === Istio.kind);
  const gone = ofIstio.flatMap((intent) => ('delete' in intent ? [keyOf(intent.delete)] : []));
  const asked = new Set(ofIstio.flatMap((intent) => ('put' in intent ? [keyOf(intent.put.metadata)] : [])));
  const before = tables.of(Istio).list();
  const keys = [...before.map(({ metadata }) => keyOf(metadata)), ...gone];
  // The forecast does not wait for proxies to reconnect.
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

/** A forecast without the assumed rollouts, and without the writes of Kubernetes for workloads. */
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

/** The next active resource installs what was uninstalled for the previous one. */
function reinstallation(before: readonly Istio[], { facts }: Forecast): Pick<MeshPlan, 'reinstalledFor'> {
  const [was, is] = [activeIstio(before), activeIstio(facts.list(Istio))];
  if (was === undefined || is === undefined || !hasFinalizer(was) || was.metadata.uid === is.metadata.uid) return {};
  return { reinstalledFor: keyOf(is.metadata) };
}

/** A resource that does not rule is not a problem of the mesh, unless the plan is about it. */
function plannedIstio({ facts }: Forecast, key: string, isAsked: boolean): PlannedIstio {
  const [namespace, name] = key.split('/');
  const istio = facts.get(Istio, { namespace: namespace!, name: name! });
  if (istio === undefined) return { istio: key, state: 'Gone' };
  const { state = 'Pending', description = '', blockedBy } = istio.status ?? {};
  const blocking = (blockedBy?.resources ?? []).map((each) => `${resourceName(each.kind)} ${keyOf(each)}`);
  const stalled = conditionsOf(istio).find(({ type, status: is }) => type === 'Stalled' && is === 'True');
  const isIdle = !isAsked && whyInactive(istio, facts.list(Istio)) !== undefined;
  const problem = isIdle ? undefined : stalled?.message;
  return {
    istio: key,
    state,
    ...(problem !== undefined && { problem }),
    ...(problem === undefined && description !== '' && { message: description }),
    ...(blocking.length > 0 && { blockedBy: blocking }),
  };
}
