// Environments that the webhook would have refused, in a cluster without the webhook.
import { expect, test } from 'vitest';
import { MemoryCluster } from '../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../test/environments/workload.ts';
import { DynamicEnv } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { Deployment } from './objects.ts';

/** An environment with this number of replicas. */
function environmentWith(replicas: number): DynamicEnv {
  const env = environment('shop', 'feature', [{ name: 'cart', namespace: 'shop' }]);
  return { ...env, spec: { ...env.spec, subsets: env.spec.subsets.map((subset) => ({ ...subset, replicas })) } };
}

async function settled(...environments: readonly DynamicEnv[]): Promise<MemoryCluster> {
  const cluster = await MemoryCluster.of(Object.values(workload('shop', 'cart')));
  for (const env of environments) {
    const [there] = cluster.list(DynamicEnv);
    await cluster.put(there === undefined ? env : { ...there, spec: env.spec });
    expect(await cluster.settle()).toEqual([]);
  }
  return cluster;
}

function readyIn(cluster: MemoryCluster): string {
  const { status, message } = conditionsOf(cluster.list(DynamicEnv)[0]!).find(({ type }) => type === 'Ready')!;
  return `${status}: ${message}`;
}

const REFUSED = /^False: .*cart has 0 replicas, .*: set 1 or more, or put the environment to sleep/;

test('an environment with 0 replicas gets no objects, and says why', async () => {
  const cluster = await settled(environmentWith(0));
  expect(readyIn(cluster)).toMatch(REFUSED);
  expect(cluster.list(Deployment).map(({ metadata }) => metadata.name)).toEqual(['cart']);
  expect(cluster.list(VirtualService)[0]!.spec?.http).toHaveLength(1);
});

test('an environment that is changed to 0 replicas keeps its pods and routes', async () => {
  const cluster = await settled(environmentWith(2), environmentWith(0));
  expect(readyIn(cluster)).toMatch(REFUSED);
  const clone = cluster.list(Deployment).find(({ metadata }) => metadata.name === 'cart-shop-feature');
  expect(clone?.spec.replicas).toBe(2);
  expect(cluster.list(VirtualService)[0]!.spec?.http).toHaveLength(2);
});
