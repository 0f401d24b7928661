// Proxies that lose their istiod get no endpoint updates until they have connected to another one. If a workload is
// restarted meanwhile, they still send requests to its old pods.
import type { View } from '../../controller/index.ts';
import { istiodPods } from '../version/running.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { Pods } from './tables.ts';

/**
 * How much longer proxies may need to reconnect to istiod: while a pod of istiod is terminating, and for `withinMs`
 * after its pods have changed. A pod that still exists after its grace period is on a lost node.
 */
export function reconnectingMs(view: View, withinMs: number): number {
  const now = view.now();
  const pods = istiodPods(view.list(Pods, { namespace: ISTIO_NAMESPACE })).flatMap(({ metadata }) => {
    const { name, deletionTimestamp } = metadata;
    const endsInMs = deletionTimestamp === undefined ? Infinity : Date.parse(deletionTimestamp) - now;
    return endsInMs <= 0 ? [] : [{ name, endsInMs }];
  });
  if (pods.length === 0) return 0;
  const ends = pods.map(({ endsInMs }) => endsInMs).filter(Number.isFinite);
  if (ends.length > 0) return Math.max(...ends);
  const names = pods.map(({ name }) => name).toSorted();
  return Math.max(0, withinMs - view.heldFor(`istiod is ${names.join(', ')}`));
}
