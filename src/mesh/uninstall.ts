// Plans the deletion of the active resource: it waits for blocking resources, and then uninstalls Istio.
import type { Istio } from '../api/istio.ts';
import { conditionsOf } from '../controller/index.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { condition } from './status/conditions.ts';
import type { MeshParts } from './controller.ts';
import { deletionWrites } from './deletion/plan.ts';
import type { InjectedWorkloads } from './deletion/plan.ts';
import { removeFinalizer } from './custom-resource/finalizer.ts';
import { runningIstio } from './install.ts';
import { workloadKey } from './restarts/owners.ts';
import type { RestartProgress } from './restarts/index.ts';
import { report } from './status/report.ts';

const UNINSTALLED = condition('IstioUninstallSucceeded');

export function planDeletion(view: View, istio: Istio, { restarts, settings }: MeshParts): Plan {
  const progress = restarts.progress(view);
  const deletion = deletionWrites(view, istio, injectedWorkloads(progress), settings);
  const { steps, failures, blocking, uninstalled, finished, waiting = '' } = deletion;
  // The uninstall is reported before the resource is gone.
  if (finished && isReported(istio)) return { steps: [...steps, removeFinalizer(istio)] };
  const size = istio.status?.clusterSize;
  const facts = { istio, failures, blocking, waiting, ...runningIstio(view), ...(size && { size }) };
  const conditions = uninstalled && failures.length === 0 ? [UNINSTALLED] : [];
  const plan = report({ ...facts, conditions }, steps, finished ? 0 : undefined);
  // The status lists only some of them; the log names all.
  const log = blocking.map(({ kind, metadata }) => ({
    message: 'Customer resource is blocking Istio deletion',
    resource: `${kind} ${keyOf(metadata)}`,
  }));
  return { ...plan, log };
}

function isReported(istio: Istio): boolean {
  return conditionsOf(istio).some(({ reason }) => reason === UNINSTALLED.reason);
}

const MAX_NAMES = 3;

function injectedWorkloads(progress: RestartProgress | undefined): InjectedWorkloads {
  const { injected: count = 0, plan, waiting } = progress ?? {};
  const left = plan === undefined ? [] : [...plan.restarting, ...plan.waiting.filter(({ on }) => on !== 'people')];
  const named = left.slice(0, MAX_NAMES).map((each) => `${workloadKey(each.workload)} (${each.waiting})`);
  const names = [...named, ...(left.length > MAX_NAMES ? [`and ${left.length - MAX_NAMES} more`] : [])];
  const text = `${count} workload${count === 1 ? ' still has a sidecar' : 's still have sidecars'}`;
  return { count, text: waiting ?? [text, ...(names.length > 0 ? [names.join(', ')] : [])].join(': ') };
}
