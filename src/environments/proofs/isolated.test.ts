// The condition `Isolated`, as the controller writes it.
import { expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';

const cart = { name: 'cart', namespace: 'shop' };

function conditionIn(cluster: MemoryCluster, type: string) {
  return conditionsOf(cluster.list(DynamicEnv)[0]!).find((each) => each.type === type);
}

test('an environment reports whether it is isolated, whether or not it is ready', async () => {
  const cluster = await MemoryCluster.of([
    ...Object.values(workload('shop', 'cart')),
    environment('shop', 'feature', [cart]),
  ]);
  expect(await cluster.settle()).toEqual([]);
  expect(conditionIn(cluster, 'Isolated')).toMatchObject({ status: 'True', reason: 'Isolated' });
  const [routes] = cluster.list(VirtualService);
  const plain = { match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'cart' } }] };
  await cluster.put({ ...routes!, spec: { ...routes!.spec, http: [...routes!.spec!.http!, plain] } } as VirtualService);
  // No request reaches a route after a catch-all route.
  expect(await cluster.settle()).toEqual([]);
  expect(conditionIn(cluster, 'Isolated')).toMatchObject({ status: 'True' });
  await cluster.put({ ...routes!, spec: { ...routes!.spec, http: [plain, ...routes!.spec!.http!] } } as VirtualService);
  expect(await cluster.settle()).toEqual([]);
  expect(conditionIn(cluster, 'Ready')).toMatchObject({ status: 'True' });
  expect(conditionIn(cluster, 'Isolated')).toMatchObject({
    status: 'False',
    reason: 'OtherRequestsMoved',
    message:
      'a request without its key is routed differently: it now reaches shop/Deployment/cart-shop-feature too, by route http[0] of VirtualService shop/cart; try: offshoot explain GET http://cart.shop.svc.cluster.local/plain -n shop',
  });
});
