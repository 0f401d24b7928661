// The controller of Istio resources: reads what is known of the mesh, lets each component say what to write, and tells how
// far all of it is.
import { Istio } from '../api/istio.ts';
import { defineController } from '../controller/index.ts';
import type { ControllerDefinition, Plan, PlannedEvent, View } from '../controller/index.ts';
import { annotate, edit } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { condition } from './conditions.ts';
import { deletionWrites } from './deletion/plan.ts';
import { failure, worstOf } from './failures.ts';
import type { Failure } from './failures.ts';
import { meshGauges } from './gauges.ts';
import { installationWrites } from './installation/plan.ts';
import type { Installation } from './installation/state.ts';
import type { Installable } from './installation/target.ts';
import { withApplied, writeLastApplied } from './last-applied.ts';
import { readMesh } from './models.ts';
import type { MeshModels } from './models.ts';
import { FIELD_MANAGER, FINALIZER, LAST_APPLIED } from './names.ts';
import { userFilterWarning } from './resources/envoy-filters.ts';
import { resourceWrites } from './resources/plan.ts';
import type { RestartProgress, Restarts } from './restarts/index.ts';
import { notRuling } from './ruling.ts';
import type { MeshSettings } from './settings.ts';
import { meshStatus } from './status.ts';
import type { StatusFacts } from './status.ts';
import { IstioEnvoyFilter, IstioPod } from './tables.ts';
import { runningVersion } from './version/running.ts';

/** The controller of Istio resources. */
export function istioController(models: MeshModels, restarts: Restarts, settings: MeshSettings): ControllerDefinition {
  return defineController<Istio>({
    name: 'mesh',
    kind: Istio,
    fieldManager: FIELD_MANAGER,
    workers: 1,
    baseBackoffMs: settings.failureBaseDelayMs,
    maxBackoffMs: settings.failureMaxDelayMs,
    retryLimit: settings.retryLimit,
    gauges: meshGauges,
    plan: (view, istio) => planIstio(view, istio, models, restarts, settings),
    failed: (istio, { message }) => ({ status: meshStatus({ istio, failures: [failure('install', message)] }) }),
  });
}

function planIstio(view: View, istio: Istio, models: MeshModels, restarts: Restarts, settings: MeshSettings): Plan {
  const isHeld = istio.metadata.finalizers?.includes(FINALIZER) ?? false;
  const deleting = istio.metadata.deletionTimestamp !== undefined;
  const idle = notRuling(istio, view.list(Istio));
  if (idle !== undefined) {
    // Whoever rules removes what is installed.
    if (deleting) return isHeld ? { steps: [withoutFinalizer(istio)] } : {};
    return told({ istio, failures: [idle] }, []);
  }
  if (deleting) return isHeld ? planDeletion(view, istio, restarts, settings) : notNeeded(istio);
  return planInstallation(view, istio, models, restarts, settings);
}

/** Nothing was installed for it. */
function notNeeded(istio: Istio): Plan {
  const { conditions = [], ...status } = meshStatus({ istio, failures: [] });
  const notNeededCondition = condition('IstioInstallNotNeeded');
  return {
    status: { ...status, conditions: [...conditions.filter(({ type }) => type !== 'Ready'), notNeededCondition] },
  };
}

function planInstallation(
  view: View,
  istio: Istio,
  models: MeshModels,
  restarts: Restarts,
  settings: MeshSettings,
): Plan {
  const target = readMesh(view, models.target);
  const version = versionFacts(view);
  if (target === undefined) return {};
  if (!('operator' in target)) {
    const { failure: told_, size = istio.status?.clusterSize } = target;
    return told({ istio, failures: [told_], ...version, ...(size && { size }) }, []);
  }
  const rendered = readMesh(view, models.manifests) ?? { state: 'pending' };
  const failures = rendered.state === 'failed' ? [failure('install', rendered.error)] : [];
  const facts = { istio, ...version, size: target.size };
  const installation = readMesh(view, models.installation);
  if (installation === undefined) return told({ ...facts, failures, waiting: 'rendering the manifests' }, []);
  // It comes first: what is installed must be removed again.
  if (!istio.metadata.finalizers?.includes(FINALIZER)) {
    return told({ ...facts, failures, waiting: '' }, [withFinalizer(istio)]);
  }
  const progress = restarts.progress(view);
  const writes = installationWrites(view, rendered, installation);
  const hasBeenDone = installation.done || target.before.tag !== undefined;
  const resources = hasBeenDone ? resourceWrites(view, istio, target, settings) : { steps: [], failures: [] };
  const found = [
    ...failures,
    ...writes.failures,
    ...verification(view, installation),
    ...resources.failures,
    ...(progress?.failures ?? []),
    ...(hasBeenDone ? userFilters(view) : []),
  ];
  const waiting = waitingFor(installation, rendered.state) ?? progress?.waiting;
  const isApplied = installation.done && writes.failures.length === 0;
  const record = isApplied && progress !== undefined ? recordApplied(istio, target, progress, found) : [];
  const status: StatusFacts = {
    ...facts,
    failures: found,
    ...(waiting !== undefined && { waiting }),
    ...(installation.done && progress?.plan && { restarts: progress.plan }),
    manual: progress?.manual ?? [],
  };
  return told(status, [...writes.steps, ...resources.steps, ...record], settings.reconciliationIntervalMs);
}

/** How long pods may lag behind their workloads before that is an error. */
const LAG_MS = 10_000;

function verification(view: View, { mismatch }: Installation): readonly Failure[] {
  if (mismatch === undefined || view.heldFor(mismatch) < LAG_MS) return [];
  return [failure('verify', mismatch)];
}

function userFilters(view: View): readonly Failure[] {
  const warning = userFilterWarning(view.list(IstioEnvoyFilter));
  return warning === undefined ? [] : [warning];
}

/** What an installation that is not done waits for. */
function waitingFor({ waiting, mismatch }: Installation, state: 'pending' | 'ready' | 'failed'): string | undefined {
  const [first] = waiting;
  if (first !== undefined) return `${first.component}: ${first.for}`;
  return state === 'pending' ? 'rendering the manifests' : mismatch;
}

/** Writes down what is in effect: the version at once, every other part of the spec as soon as it is. */
function recordApplied(
  istio: Istio,
  { before, tag }: Installable,
  { gatewaysDone, sidecarsDone }: RestartProgress,
  failures: readonly Failure[],
): readonly Step[] {
  const { spec = {} } = istio;
  let applied = before.spec;
  if (gatewaysDone) applied = withApplied({ spec: applied }, spec, 'gateway');
  if (sidecarsDone) applied = withApplied({ spec: applied }, spec, 'sidecars');
  const everything = gatewaysDone && sidecarsDone && failures.length === 0;
  const text = writeLastApplied(everything ? spec : applied, tag);
  return istio.metadata.annotations?.[LAST_APPLIED] === text ? [] : [annotate(Istio, istio, { [LAST_APPLIED]: text })];
}

function planDeletion(view: View, istio: Istio, restarts: Restarts, settings: MeshSettings): Plan {
  const progress = restarts.progress(view);
  const deletion = deletionWrites(view, istio, progress?.injected ?? 0, settings);
  const { steps, failures, blocking, finished, waiting } = deletion;
  if (finished) return { steps: [...steps, withoutFinalizer(istio)] };
  const size = istio.status?.clusterSize;
  const facts = { istio, failures, blocking, ...versionFacts(view), ...(size && { size }) };
  return told({ ...facts, waiting: waiting ?? '' }, steps);
}

function versionFacts(view: View): { readonly istioVersion?: string } {
  const running = runningVersion(view.list(IstioPod));
  return 'version' in running ? { istioVersion: running.version } : {};
}

/** A plan that tells people how far the resource is, and looks again when it is time. */
function told(facts: StatusFacts, steps: readonly Step[], intervalMs?: number): Plan {
  const status = meshStatus(facts);
  const { retry } = worstOf(facts.failures) ?? {};
  const lag = facts.waiting === undefined ? undefined : LAG_MS;
  const times = [typeof retry === 'number' ? retry * 1000 : undefined, lag, intervalMs].filter(
    (ms) => ms !== undefined,
  );
  return {
    steps,
    status,
    events: eventsOf(facts.istio, status),
    ...(times.length > 0 && { requeueAfterMs: Math.min(...times) }),
  };
}

/** One for each state that a person acts on, or has waited for. */
function eventsOf({ status: before }: Istio, status: ReturnType<typeof meshStatus>): readonly PlannedEvent[] {
  const { state, description = '', conditions = [] } = status;
  if (before?.state === state && (before.description ?? '') === description) return [];
  const reason = conditions.find(({ type }) => type === 'Ready')?.reason ?? state;
  if (state === 'Error' || state === 'Warning') return [{ type: 'Warning', reason, note: description }];
  if (state !== 'Ready') return [];
  return [{ type: 'Normal', reason, note: `Istio ${status.istioVersion ?? ''} is ready` }];
}

function withFinalizer(istio: Istio): Step {
  const finalizers = [...(istio.metadata.finalizers ?? []), FINALIZER];
  return edit(Istio, istio, { ...istio, metadata: { ...istio.metadata, finalizers } });
}

function withoutFinalizer(istio: Istio): Step {
  const finalizers = (istio.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  return edit(Istio, istio, { ...istio, metadata: { ...istio.metadata, finalizers } });
}
