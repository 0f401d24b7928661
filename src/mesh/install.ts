// Plans the installation for the active resource: Istio, the additional resources, and the record of what was applied.
// Each component decides for itself; this file puts them in order.
import type { Istio } from '../api/istio.ts';
import type { Plan, View } from '../controller/index.ts';
import { condition } from './status/conditions.ts';
import type { MeshParts } from './controller.ts';
import { failure } from './status/failures.ts';
import type { Failure } from './status/failures.ts';
import { addFinalizer, hasFinalizer } from './custom-resource/finalizer.ts';
import { installationWrites } from './installation/plan.ts';
import type { Installation } from './installation/state.ts';
import type { Installable } from './installation/target.ts';
import { readMesh } from './models.ts';
import { recordApplied } from './custom-resource/record.ts';
import { userFilterWarning } from './resources/envoy-filters.ts';
import { resourceWrites } from './resources/plan.ts';
import { IstioEnvoyFilter, IstioPod } from './tables.ts';
import { report } from './status/report.ts';
import { runningVersion } from './version/running.ts';

const RENDERING = 'rendering the manifests';

export function planInstallation(view: View, istio: Istio, parts: MeshParts): Plan {
  const { models } = parts;
  const target = readMesh(view, models.target);
  if (target === undefined) return {};
  const version = runningIstio(view);
  if ('failure' in target) {
    const size = target.size ?? istio.status?.clusterSize;
    return report({ istio, failures: [target.failure], ...version, ...(size && { size }) });
  }
  const facts = { istio, ...version, size: target.size };
  const rendered = readMesh(view, models.manifests) ?? { state: 'pending' };
  const failures = rendered.state === 'failed' ? [failure('install', rendered.error)] : [];
  const installation = readMesh(view, models.installation);
  if (installation === undefined) {
    // A process that has just started renders what already runs or is being installed: the status stays.
    if (rendered.state === 'pending' && isCurrent(istio, target)) return {};
    return report({ ...facts, failures, waiting: RENDERING });
  }
  // The finalizer comes first, so that the installation is removed again.
  if (!hasFinalizer(istio)) return report({ ...facts, failures, waiting: '' }, [addFinalizer(istio)]);
  const writes = installationWrites(view, rendered, installation);
  const waiting = waitingFor(installation, rendered.state);
  const known = [...failures, ...writes.failures, ...verification(view, installation)];
  if (!installation.done && target.before.tag === undefined) {
    return report({ ...facts, failures: known, waiting: waiting ?? '' }, writes.steps, verifiedWithin(installation));
  }
  return planMesh(view, { ...facts, target, installation, writes: writes.steps, failures: known, waiting }, parts);
}

/** Whether the status is about this spec, and about the target version or an installation in progress. */
function isCurrent({ metadata, status }: Istio, { before, tag }: Installable): boolean {
  const isAbout = status?.observedGeneration === metadata.generation;
  return isAbout && (before.tag === tag || status?.state === 'Processing');
}

interface Installed {
  readonly istio: Istio;
  readonly istioVersion?: string;
  readonly target: Installable;
  readonly installation: Installation;
  readonly writes: ReturnType<typeof installationWrites>['steps'];
  readonly failures: readonly Failure[];
  readonly waiting: string | undefined;
}

/** Plans everything that needs Istio, once it has been installed. */
function planMesh(view: View, installed: Installed, { restarts, settings }: MeshParts): Plan {
  const { istio, istioVersion, target, installation, writes } = installed;
  const progress = restarts.progress(view);
  const resources = resourceWrites(view, istio, target, settings);
  const filter = userFilterWarning(view.list(IstioEnvoyFilter));
  const failures = [
    ...installed.failures,
    ...resources.failures,
    ...(progress?.failures ?? []),
    ...(filter === undefined ? [] : [filter]),
    ...(target.problem === undefined ? [] : [failure('features', target.problem)]),
  ];
  const isApplied = installation.done && installed.failures.length === 0;
  const waiting = installed.waiting ?? progress?.waiting;
  const status = {
    istio,
    failures,
    size: target.size,
    ...(istioVersion !== undefined && { istioVersion }),
    ...(waiting !== undefined && { waiting }),
    ...(installation.done && progress?.plan && { restarts: progress.plan }),
    manual: progress?.manual ?? [],
    uninjected: progress?.uninjected ?? [],
    conditions: filter === undefined ? [condition('IngressTargetingUserResourceNotFound')] : [],
  };
  const steps = [
    ...writes,
    ...resources.steps,
    ...(isApplied && progress ? recordApplied(view, istio, target, progress, failures) : []),
  ];
  const { wakeAt } = progress?.plan ?? {};
  // Some workloads wait for a certain time.
  const nextRestart = wakeAt === undefined ? Infinity : Math.max(0, wakeAt - view.now());
  const again = verifiedWithin(installation) ?? settings.reconciliationIntervalMs;
  return report(status, steps, Math.min(nextRestart, again));
}

/** The running version, if it is the same in all pods. */
export function runningIstio(view: View): { readonly istioVersion?: string } {
  const running = runningVersion(view.list(IstioPod));
  return 'version' in running ? { istioVersion: running.version } : {};
}

/** How long pods may have another version than their workloads before it is an error. */
const LAG_MS = 10_000;

function verification(view: View, { mismatch }: Installation): readonly Failure[] {
  if (mismatch === undefined || view.heldFor(mismatch) < LAG_MS) return [];
  return [failure('verify', mismatch)];
}

/** When to check pods of the wrong version again. */
function verifiedWithin({ mismatch }: Installation): number | undefined {
  return mismatch === undefined ? undefined : LAG_MS;
}

/** What an unfinished installation waits for. */
function waitingFor({ waiting, mismatch }: Installation, state: 'pending' | 'ready' | 'failed'): string | undefined {
  const [first] = waiting;
  if (first !== undefined) return `${first.component}: ${first.for}`;
  return state === 'pending' ? RENDERING : mismatch;
}
