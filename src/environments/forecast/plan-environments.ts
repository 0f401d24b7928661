// What would happen to environments: the part of the controllers' forecast that concerns them, and their state
// afterwards. For `env plan`.
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
import { timestamp } from '../../kube/times.ts';
import type { TrafficDiff } from '../../traffic/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { jsonEqual, untracked } from '../../watchable/index.ts';
import { stateOf, verdictOf } from '../describe/state.ts';
import { EXTENDED_UNTIL, lifetimeOf } from '../lifecycle/ttl.ts';
import { uniqueVersion } from '../names.ts';
import { Deployment } from '../objects.ts';
import { describeOrphan, findOrphans } from '../orphans/orphans.ts';
import { environmentsOf } from '../identity/ownership.ts';
import type { ProofData } from '../proofs/proof-data.ts';
import { routesOf } from '../routes/edit.ts';
import type { Settings } from '../settings.ts';
import { orphanedBy, orphanRemovals } from './orphan-removals.ts';
import { assumedRollouts, isRollout, isRolloutStep } from './rollouts.ts';
import { withRouteFields } from './route-fields.ts';
import { conflictsAmong, proofsOf, trafficOf } from './traffic.ts';
import type { PlannedConflict } from './traffic.ts';

/** The state of an environment at the end of the forecast. */
export interface PlannedEnvironment {
  /** `namespace/name` */
  readonly environment: string;
  /** Its state; `gone` when it is deleted. */
  readonly state: string;
  /** Why it would be stalled. */
  readonly problem?: string;
  /** What it would wait for or report. */
  readonly message?: string;
  /** When it expires. */
  readonly expiresAt?: string;
  /** How long a new environment lives. */
  readonly expiresAfter?: string;
}

export interface EnvironmentPlan extends ForecastReport {
  readonly environments: readonly PlannedEnvironment[];
  /** The clones, by `namespace/name`, whose pods are assumed to become ready: routes are added after that. */
  readonly assumedReady: readonly string[];
  /** Orphans of removed environments. Those without a doubt are also among the changes, if they are removed. */
  readonly orphans: readonly PlannedOrphan[];
  /** The requests that would be routed differently. */
  readonly traffic: TrafficDiff;
  /** Whether the environments would be isolated. */
  readonly proofs: readonly ProofData[];
  /** Other environments that ask for the same requests. */
  readonly conflicts: readonly PlannedConflict[];
}

export interface PlannedOrphan {
  /** `namespace/name`; empty if it is not known. */
  readonly environment: string;
  /** `Deployment shop/cart-shop-feature` */
  readonly object: string;
  /** Why it may belong to somebody else, and is kept. */
  readonly doubt?: string;
}

export interface EnvironmentPlanOptions extends Pick<
  ForecastOptions,
  'tables' | 'now' | 'intents' | 'refuse' | 'managedFields'
> {
  /** The controllers of environments. */
  readonly controllers: readonly ControllerDefinition[];
  /** The settings of the controllers. */
  readonly settings: Settings;
  /** Namespaces of removed environments whose orphans to report. */
  readonly orphansIn?: readonly string[];
  /** Further environments to report on, beside those in the intents. */
  readonly environments?: readonly Ref[];
}

/** Added to the delays of the controllers. */
const HORIZON_MS = 10_000;

/** Plans environments: what would be created, changed and deleted for them or because of the intents, in order. */
export function planEnvironments(planning: EnvironmentPlanOptions): EnvironmentPlan {
  const { environments = [], orphansIn = [], settings, ...options } = planning;
  const { intents = [], controllers, tables } = options;
  const horizonMs = HORIZON_MS + settings.routeAfterMs + 2 * (settings.settleMs + settings.drainMs);
  const orphans = orphansIn.length === 0 ? [] : orphansOf(tables, settings, orphansIn);
  // Even if there is a doubt now: it may be gone once an environment of the same version is deleted.
  const isRemoving = settings.removeOrphans && orphans.length > 0;
  const isOrphaned = (change: Change): boolean =>
    orphanedBy(change).some((key) => orphansIn.includes(refOf(key).namespace ?? ''));
  const asked = environments.map((ref): Named => ({ kind: DynamicEnv, ref }));
  const roots = [...asked, ...intents.map(namedIn)];
  const byKey = new Map(roots.filter(({ kind }) => kind === DynamicEnv).map(({ ref }) => [keyOf(ref), ref]));
  const [keys, about] = [new Set(byKey.keys()), [...byKey.values()]];
  /** The clones that the current forecast assumes to be ready. */
  let assumed: readonly string[] = [];
  const forecasting = {
    ...options,
    controllers: [...controllers, assumedRollouts(), ...(isRemoving ? orphanRemovals(settings, horizonMs) : [])],
    horizonMs,
    // Names, labels and digests depend only on the names of environments.
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
      environments: about.map(environmentIn(made, tables, options.now)),
      assumedReady: assumed,
      orphans,
      traffic: trafficOf(factsOf(tables, untracked), made.facts, report.changes, settings),
      proofs: proofsOf(made, about, settings),
      conflicts: conflictsAmong(made, about, settings),
    }),
  });
}

/** Orphans of removed environments of some namespaces. */
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

/** The clones of some environments that the forecast assumes to be rolled out. */
function rolledOut({ writes }: Forecast, environments: ReadonlySet<string>): readonly string[] {
  const clones = writes.filter((write) => isRollout(write) && write.kind.kind === Deployment.kind);
  const own = clones.filter(({ after }) => environmentsOf(after!).some((each) => environments.has(each)));
  return [...new Set(own.map(({ after }) => keyOf(after!.metadata)))];
}

/** A forecast without the assumed rollouts. */
function withoutRollouts(made: Forecast): Forecast {
  const writes = made.writes.filter((write) => !isRollout(write)).map(withoutDeploymentStatus);
  return { ...made, writes, changes: changesOf(writes).map(withRouteFields) };
}

/** Removes the status of a Deployment, which our controllers do not write. */
export function withoutDeploymentStatus(write: Write): Write {
  if (write.kind.kind !== Deployment.kind) return write;
  const strip = (object: KubeObject | undefined): KubeObject | undefined => {
    if (object === undefined) return undefined;
    const { status: _status, ...rest } = object as Deployment;
    return rest;
  };
  return { ...write, before: strip(write.before), after: strip(write.after) };
}

/** Whether a change adds or removes routes of some environments, or their names. */
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

function environmentIn({ facts }: Forecast, tables: Tables, now: number): (ref: Ref) => PlannedEnvironment {
  return (ref) => {
    const env = facts.get(DynamicEnv, ref);
    const environment = keyOf(ref);
    if (env === undefined) return { environment, state: 'gone' };
    const verdict = verdictOf(env);
    const state = stateOf(env);
    const { creationTimestamp } = tables.of(DynamicEnv).get(environment)?.metadata ?? {};
    const expiry = plannedExpiry(env, creationTimestamp === undefined, now);
    if (verdict.is === 'stalled') return { environment, state, problem: verdict.reason, ...expiry };
    const { message = '' } = conditionsOf(env).find(({ type }) => type === 'Ready') ?? {};
    return { environment, state, ...(verdict.is !== 'ready' && message !== '' && { message }), ...expiry };
  };
}

/** The time is known only if the environment exists, or was extended: otherwise it depends on when it is created. */
function plannedExpiry(
  env: DynamicEnv,
  isNew: boolean,
  now: number,
): Pick<PlannedEnvironment, 'expiresAt' | 'expiresAfter'> {
  const lifetime = env.metadata.deletionTimestamp === undefined ? lifetimeOf(env, now) : undefined;
  if (lifetime === undefined) return {};
  const isExtended = env.metadata.annotations?.[EXTENDED_UNTIL] !== undefined;
  return isNew && !isExtended ? { expiresAfter: env.spec.ttl!.duration } : { expiresAt: timestamp(lifetime.expiresAt) };
}
