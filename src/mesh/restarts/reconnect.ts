// Proxies that lose their istiod hear of no endpoint that comes or goes until they have found another one. A workload that
// is restarted meanwhile would still get their requests after its pods have ended.
import type { View } from '../../controller/index.ts';
import { istiodPods } from '../version/running.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import { Pods } from './tables.ts';

/**
 * How much longer proxies may be looking for an istiod: while a pod of it is terminating, and for `withinMs` after the
 * pods of istiod have changed. A pod that is still there after its grace period is on a node that is lost.
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
