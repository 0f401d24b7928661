// A resource that is being deleted, of which we installed Istio: it waits for people, and then everything goes.
import type { Istio } from '../api/istio.ts';
import { conditionsOf } from '../controller/index.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { condition } from './conditions.ts';
import type { MeshParts } from './controller.ts';
import { deletionWrites } from './deletion/plan.ts';
import type { InjectedWorkloads } from './deletion/plan.ts';
import { release } from './finalizer.ts';
import { runningIstio } from './install.ts';
import { workloadKey } from './restarts/owners.ts';
import type { RestartProgress } from './restarts/index.ts';
import { tell } from './tell.ts';

const UNINSTALLED = condition('IstioUninstallSucceeded');

export function planDeletion(view: View, istio: Istio, { restarts, settings }: MeshParts): Plan {
  const progress = restarts.progress(view);
  const deletion = deletionWrites(view, istio, injectedWorkloads(progress), settings);
  const { steps, failures, blocking, uninstalled, finished, waiting = '' } = deletion;
  // It is told before the resource goes, else nobody could hear of it.
  if (finished && isTold(istio)) return { steps: [...steps, release(istio)] };
  const size = istio.status?.clusterSize;
  const facts = { istio, failures, blocking, waiting, ...runningIstio(view), ...(size && { size }) };
  const conditions = uninstalled && failures.length === 0 ? [UNINSTALLED] : [];
  const plan = tell({ ...facts, conditions }, steps, finished ? 0 : undefined);
  // The status names a few of them; these lines name all.
  const log = blocking.map(({ kind, metadata }) => ({
    message: 'Customer resource is blocking Istio deletion',
    resource: `${kind} ${keyOf(metadata)}`,
  }));
  return { ...plan, log };
}

function isTold(istio: Istio): boolean {
  return conditionsOf(istio).some(({ reason }) => reason === UNINSTALLED.reason);
}

const MOST_NAMES = 3;

function injectedWorkloads(progress: RestartProgress | undefined): InjectedWorkloads {
  const { injected: count = 0, plan, waiting } = progress ?? {};
  const left = plan === undefined ? [] : [...plan.restarting, ...plan.waiting.filter(({ on }) => on !== 'people')];
  const named = left.slice(0, MOST_NAMES).map((each) => `${workloadKey(each.workload)} (${each.waiting})`);
  const names = [...named, ...(left.length > MOST_NAMES ? [`and ${left.length - MOST_NAMES} more`] : [])];
  const text = `${count} workload${count === 1 ? ' still has a sidecar' : 's still have sidecars'}`;
  return { count, text: waiting ?? [text, ...(names.length > 0 ? [names.join(', ')] : [])].join(': ') };
}
