// The deletion of a mesh: it waits for blocking resources of users, and then removes everything in order.
import type { Istio } from '../../api/istio.ts';
import type { View } from '../../controller/index.ts';
import { keyOf, remove } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { installedObjects, removals } from '../installation/plan.ts';
import type { Writes } from '../installation/plan.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { resourceWrites } from '../resources/plan.ts';
import type { MeshSettings } from '../settings.ts';
import { Blocking, DistributedConfigMap, Namespace } from '../tables.ts';
import { blockedMessage, blockingResources } from './blocking.ts';
import { uninstallStep } from './uninstall.ts';

export interface Deletion extends Writes {
  /** Resources of users that would be lost: nothing is removed while there are any. */
  readonly blocking: readonly AnyObject[];
  /** Nothing of Istio is left, except perhaps its namespace, which is being deleted. */
  readonly uninstalled: boolean;
  /** Nothing for sidecars is left either. */
  readonly finished: boolean;
  /** What it waits for. */
  readonly waiting?: string;
}

/** Workloads that still have sidecars. */
export interface InjectedWorkloads {
  readonly count: number;
  /** Their names, and what they wait for. */
  readonly text: string;
}

/** The writes for a resource that is being deleted and has installed Istio. */
export function deletionWrites(
  view: View,
  istio: Istio,
  injected: InjectedWorkloads,
  settings: MeshSettings,
): Deletion {
  const blocking = blockingResources(Blocking.flatMap((kind) => view.list(kind)));
  if (blocking.length > 0) {
    const failures = [failure('blocked', blockedMessage(blocking))];
    return { blocking, steps: [], failures, uninstalled: false, finished: false };
  }
  const resources = resourceWrites(view, istio, {}, settings);
  const namespace = view.get(Namespace, { name: ISTIO_NAMESPACE });
  const distributed = view.list(DistributedConfigMap);
  const next = uninstallStep({
    objects: installedObjects(view),
    namespace,
    injectedWorkloads: injected.count,
    distributed,
  });
  const uninstalled = next.do !== 'remove-namespace' && !(next.do === 'remove' && next.of === 'istio');
  const failures: Failure[] = [...resources.failures];
  const inProgress = (steps: Writes['steps'], waiting: string): Deletion => ({
    blocking,
    steps: [...resources.steps, ...steps],
    failures,
    uninstalled,
    finished: false,
    waiting,
  });
  switch (next.do) {
    case 'remove': {
      const what = next.of === 'istio' ? 'objects of Istio' : 'certificates for sidecars';
      const left = [...next.objects, ...next.awaited];
      return inProgress(removals(view, next.objects, 'uninstall', failures), stillThere(left, what));
    }
    case 'remove-namespace':
      return inProgress(
        [remove(Namespace, next.namespace, 'Foreground')],
        `Namespace ${ISTIO_NAMESPACE} is still there`,
      );
    case 'restart-workloads':
      return inProgress([], injected.text);
    case 'release':
      return { blocking, steps: resources.steps, failures, uninstalled, finished: failures.length === 0 };
  }
}

/** Names one of the remaining objects, with the server's message about its deletion. */
function stillThere(left: readonly AnyObject[], what: string): string {
  const { kind, metadata, status } = left.at(-1) as AnyObject & { readonly status?: TerminatingStatus };
  const why = status?.conditions?.find(({ type }) => type === 'Terminating')?.message ?? '';
  const one = `${kind} ${keyOf(metadata)}${why === '' ? '' : ` (${why})`}`;
  return left.length === 1 ? `${one} is still there` : `${left.length} ${what} are still there: ${one}, …`;
}

interface TerminatingStatus {
  readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
}
