// What would happen to environments: the forecast of their controllers, as far as it concerns them, and how they would be
// then. For `env plan`.
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { changesOf, conditionsOf, factsOf, namedIn, relatedTo, reportFollowing } from '../../controller/index.ts';
import type {
  Change,
  ControllerDefinition,
  Forecast,
  ForecastOptions,
  ForecastReport,
  Named,
  Write,
} from '../../controller/index.ts';
import { keyOf, refOf } from '../../kube/index.ts';
import type { KubeObject, Ref, Step, Tables } from '../../kube/index.ts';
import type { TrafficDiff } from '../../traffic/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual, untracked } from '../../watchable/index.ts';
import { stateOf, verdictOf } from '../describe/state.ts';
import { uniqueVersion } from '../names.ts';
import { Deployment } from '../objects.ts';
import { describeOrphan, findOrphans } from '../orphans.ts';
import { environmentsOf } from '../ownership.ts';
import type { ProofData } from '../proofs/proof-data.ts';
import { routesOf } from '../routes/edit.ts';
import type { Settings } from '../settings.ts';
import { orphanedBy, orphanRemovals } from './orphan-removals.ts';
import { assumedRollouts, isRollout, isRolloutStep } from './rollouts.ts';
import { withRouteFields } from './route-fields.ts';
import { conflictsAmong, proofsOf, trafficOf } from './traffic.ts';
import type { PlannedConflict } from './traffic.ts';

/** How an environment would be in the end. */
export interface PlannedEnvironment {
  /** `namespace/name` */
  readonly environment: string;
  /** Its state; `gone` when it is deleted. */
  readonly state: string;
  /** Why it would get no further. */
  readonly problem?: string;
  /** What it would wait for, or say besides. */
  readonly message?: string;
}

export interface EnvironmentPlan extends ForecastReport {
  readonly environments: readonly PlannedEnvironment[];
  /** The clones, by `namespace/name`, whose pods are assumed to become ready: routes come after that. */
  readonly assumedReady: readonly string[];
  /** What environments left behind that are gone. Without a doubt it is among the changes, as far as it is removed. */
  readonly orphans: readonly PlannedOrphan[];
  /** The requests that would be routed differently. */
  readonly traffic: TrafficDiff;
  /** Whether the environments would move requests of others. */
  readonly proofs: readonly ProofData[];
  /** Who else asks for the same requests. */
  readonly conflicts: readonly PlannedConflict[];
}

export interface PlannedOrphan {
  /** `namespace/name`; empty where nothing says it. */
  readonly environment: string;
  /** `Deployment shop/cart-shop-feature` */
  readonly object: string;
  /** Why it may be somebody else's, and stays. */
  readonly doubt?: string;
}

export interface EnvironmentPlanOptions extends Pick<
  ForecastOptions,
  'tables' | 'now' | 'intents' | 'refuse' | 'managedFields'
> {
  /** The controllers of environments. */
  readonly controllers: readonly ControllerDefinition[];
  /** What they run with. */
  readonly settings: Settings;
  /** The namespaces of environments that are gone, of which is asked what they left behind. */
  readonly orphansIn?: readonly string[];
  /** The environments that are asked about, beside those that are intended. */
  readonly environments?: readonly Ref[];
}

/** Beyond what controllers wait for on purpose. */
const HORIZON_MS = 10_000;

/** Plans environments: what would be made, changed and removed for them or because of what is intended, in order. */
export function planEnvironments(planning: EnvironmentPlanOptions): EnvironmentPlan {
  const { environments = [], orphansIn = [], settings, ...options } = planning;
  const { intents = [], controllers, tables } = options;
  const horizonMs = HORIZON_MS + settings.routeAfterMs + 2 * (settings.settleMs + settings.drainMs);
  const orphans = orphansIn.length === 0 ? [] : orphansOf(tables, settings, orphansIn);
  const isRemoving = settings.removeOrphans && orphans.some(({ doubt }) => doubt === undefined);
  const isOrphaned = (change: Change): boolean =>
    orphanedBy(change).some((key) => orphansIn.includes(refOf(key).namespace ?? ''));
  const asked = environments.map((ref): Named => ({ kind: DynamicEnv, ref }));
  const roots = [...asked, ...intents.map(namedIn)];
  const byKey = new Map(roots.filter(({ kind }) => kind === DynamicEnv).map(({ ref }) => [keyOf(ref), ref]));
  const [keys, about] = [new Set(byKey.keys()), [...byKey.values()]];
  /** Of the forecast that is looked at. */
  let assumed: readonly string[] = [];
  const forecasting = {
    ...options,
    controllers: [...controllers, assumedRollouts(), ...(isRemoving ? orphanRemovals(settings, horizonMs) : [])],
    horizonMs,
    // Names, labels and digests follow from the names of environments alone.
    isUidFree: true,
    refuse: (step: Step): string | undefined => (isRolloutStep(step) ? undefined : options.refuse?.(step)),
  };
  return reportFollowing(forecasting, {
    shown(made) {
      assumed = rolledOut(made, keys);
      return withoutRollouts(made);
    },
    concerning(made) {
      const { changes, stalled } = relatedTo(roots, made);
      const isRelated = new Set(changes);
      return {
        changes: made.changes.filter(
          (change) => isRelated.has(change) || isRoutingOf(about, change) || isOrphaned(change),
        ),
        stalled,
      };
    },
    answer: (report, made) => ({
      ...report,
      environments: about.map(environmentIn(made)),
      assumedReady: assumed,
      orphans,
      traffic: trafficOf(factsOf(tables, untracked), made.facts, report.changes, settings),
      proofs: proofsOf(made, about, settings),
      conflicts: conflictsAmong(made, about, settings),
    }),
  });
}

/** What environments of some namespaces left behind that are gone. */
function orphansOf(tables: Tables, settings: Settings, namespaces: readonly string[]): readonly PlannedOrphan[] {
  return findOrphans(factsOf(tables, untracked), settings)
    .filter(({ environment, object: { metadata } }) =>
      namespaces.includes((environment === '' ? metadata : refOf(environment)).namespace ?? ''),
    )
    .map((orphan) => ({
      environment: orphan.environment,
      object: describeOrphan(orphan),
      ...(orphan.doubt !== undefined && { doubt: orphan.doubt }),
    }));
}

/** The clones of some environments that are assumed to be rolled out. */
function rolledOut({ writes }: Forecast, environments: ReadonlySet<string>): readonly string[] {
  const clones = writes.filter((write) => isRollout(write) && write.kind.kind === Deployment.kind);
  const own = clones.filter(({ after }) => environmentsOf(after!).some((each) => environments.has(each)));
  return [...new Set(own.map(({ after }) => keyOf(after!.metadata)))];
}

/** A forecast without what is only assumed. */
function withoutRollouts(made: Forecast): Forecast {
  const writes = made.writes.filter((write) => !isRollout(write)).map(withoutDeploymentStatus);
  return { ...made, writes, changes: changesOf(writes).map(withRouteFields) };
}

/** The status of a Deployment is nobody's of ours. */
export function withoutDeploymentStatus(write: Write): Write {
  if (write.kind.kind !== Deployment.kind) return write;
  const strip = (object: KubeObject | undefined): KubeObject | undefined => {
    if (object === undefined) return undefined;
    const { status: _status, ...rest } = object as Deployment;
    return rest;
  };
  return { ...write, before: strip(write.before), after: strip(write.after) };
}

/** Whether a change brings or takes routes of some environments, or their names. */
function isRoutingOf(environments: readonly Ref[], { kind, before, after }: Change): boolean {
  if (kind.kind !== VirtualService.kind) return false;
  return environments.some((ref) => {
    const owner = { version: uniqueVersion(ref), taken: [] };
    const [one, other] = [before, after].map((service) =>
      service === undefined
        ? undefined
        : [environmentsOf(service).includes(keyOf(ref)), routesOf(owner, service as VirtualService)],
    );
    return !jsonEqual(one, other);
  });
}

function environmentIn({ facts }: Forecast): (ref: Ref) => PlannedEnvironment {
  return (ref) => {
    const env = facts.get(DynamicEnv, ref);
    const environment = keyOf(ref);
    if (env === undefined) return { environment, state: 'gone' };
    const verdict = verdictOf(env);
    const state = stateOf(env);
    if (verdict.is === 'stalled') return { environment, state, problem: verdict.reason };
    const { message = '' } = conditionsOf(env).find(({ type }) => type === 'Ready') ?? {};
    return { environment, state, ...(verdict.is !== 'ready' && message !== '' && { message }) };
  };
}
