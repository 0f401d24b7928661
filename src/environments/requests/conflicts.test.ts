// Environments that ask for the same requests: which report it, which gets them, and which are planned again.
import { expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { conditionsOf, Reads } from '../../controller/index.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { conflictsIn } from './conflicts.ts';
import { ASLEEP } from '../lifecycle/sleep.ts';
import { defaultSettings } from '../settings.ts';

type Requests = Pick<DynamicEnv['spec'], 'key' | 'istioMatches'>;

const byUser = (match: NonNullable<IstioMatch['headers']>[string]): Requests => ({
  istioMatches: [{ headers: { user: match } }],
});

function environmentOf(name: string, requests: Requests, deployment = 'cart'): DynamicEnv {
  const env = environment('shop', name, [{ name: deployment, namespace: 'shop' }]);
  return { ...env, spec: { ...requests, subsets: env.spec.subsets } };
}

/** A shop whose environments are created one after the other, in this order. */
async function shopWith(...environments: readonly DynamicEnv[]): Promise<MemoryCluster> {
  const cluster = await MemoryCluster.of(['cart', 'web'].flatMap((name) => Object.values(workload('shop', name))));
  for (const env of environments) {
    await cluster.put(env);
    expect(await cluster.settle()).toEqual([]);
  }
  return cluster;
}

function conflictedOf(cluster: MemoryCluster, name: string): string | undefined {
  const env = cluster.list(DynamicEnv).find(({ metadata }) => metadata.name === name)!;
  const found = conditionsOf(env).find(({ type }) => type === 'Conflicted');
  return found && `${found.status} ${found.reason}: ${found.message}`;
}

function stateOf(cluster: MemoryCluster, name: string): string | undefined {
  return cluster.list(DynamicEnv).find(({ metadata }) => metadata.name === name)?.status?.state;
}

/** The environments whose routes a VirtualService has, in order. */
function routesIn(cluster: MemoryCluster, name = 'cart'): readonly string[] {
  const service = cluster.list(VirtualService).find(({ metadata }) => metadata.name === name);
  return (service?.spec?.http ?? []).flatMap(({ route = [] }) => route.map(({ destination }) => destination!.subset!));
}

test('both environments report the requests that they share, and which comes first', async () => {
  const cluster = await shopWith(
    environmentOf('first', byUser({ prefix: 'al' })),
    environmentOf('second', byUser({ regex: 'a.*' })),
  );
  expect(conflictedOf(cluster, 'first')).toBe(
    'True SameRequests: istioMatches[0]: environment shop/second asks for all of these requests to shop/cart, and for others, such as a request with user: al: this one was created first, so its routes come first',
  );
  expect(conflictedOf(cluster, 'second')).toBe(
    'True SameRequests: istioMatches[0]: environment shop/first asks for some of these requests to shop/cart, such as a request with user: al: it was created first, so its routes come first',
  );
  expect([stateOf(cluster, 'first'), stateOf(cluster, 'second')]).toEqual(['ready', 'ready']);
  const [first] = cluster.list(DynamicEnv);
  await cluster.delete(first!);
  expect(await cluster.settle()).toEqual([]);
  expect(conflictedOf(cluster, 'second')).toBeUndefined();
});

test('an environment that is asleep is not reported to come first', async () => {
  const cluster = await shopWith(
    environmentOf('first', byUser({ exact: 'al' })),
    environmentOf('second', byUser({ prefix: 'a' })),
  );
  const [first] = cluster.list(DynamicEnv);
  await cluster.put({ ...first!, metadata: { ...first!.metadata, annotations: { [ASLEEP]: 'true' } } });
  expect(await cluster.settle()).toEqual([]);
  expect([...new Set(routesIn(cluster))]).toEqual(['shop-second', 'shared']);
  const ends = 'was created first, but is asleep and gets nothing until it is woken';
  expect(conflictedOf(cluster, 'first')).toMatch(new RegExp(`: this one ${ends}$`));
  expect(conflictedOf(cluster, 'second')).toMatch(new RegExp(`: it ${ends}$`));
});

test('the last of three environments reports only that the others come first', async () => {
  const cluster = await shopWith(
    environmentOf('a', byUser({ exact: 'al' })),
    environmentOf('b', byUser({ prefix: 'a' })),
    environmentOf('c', byUser({ regex: 'al.*' })),
  );
  // The first environment gets the example request.
  expect(conflictedOf(cluster, 'c')).toMatch(
    /environment shop\/b .* user: al: it was created first, so its routes come first$/,
  );
});

test('an environment is degraded if an earlier one takes all of its requests', async () => {
  const cluster = await shopWith(environmentOf('b', { key: 'pr-7' }), environmentOf('a', { key: 'pr-7' }));
  expect([stateOf(cluster, 'b'), stateOf(cluster, 'a')]).toEqual(['ready', 'degraded']);
  expect(conflictedOf(cluster, 'a')).toBe(
    'True SameRequests: key: environment shop/b asks for the same requests to shop/cart, such as a request with x-env: pr-7: it was created first, so its routes come first',
  );
});

test('two environments from the same second report that their names decide', async () => {
  const cluster = await MemoryCluster.of(Object.values(workload('shop', 'cart')));
  for (const name of ['b', 'a']) await cluster.put(environmentOf(name, { key: 'pr-7' }));
  expect(await cluster.settle()).toEqual([]);
  const reasons = ['a', 'b'].map((name) => conflictedOf(cluster, name)?.split(': ').at(-1));
  expect(reasons).toEqual([
    'both were created in the same second, and this one comes first by its name',
    'both were created in the same second, and it comes first by its name',
  ]);
});

test.each<[string, DynamicEnv, DynamicEnv]>([
  ['two keys', environmentOf('a', { key: 'pr-1' }), environmentOf('b', { key: 'pr-12' })],
  ['a key and another header', environmentOf('a', { key: 'pr-1' }), environmentOf('b', byUser({ prefix: 'b' }))],
  ['two values', environmentOf('a', byUser({ exact: 'a' })), environmentOf('b', byUser({ exact: 'b' }))],
  ['two workloads', environmentOf('a', byUser({ exact: 'a' })), environmentOf('b', byUser({ exact: 'a' }), 'web')],
])('there is no conflict between %s', async (_what, one, other) => {
  const cluster = await shopWith(one, other);
  expect([conflictedOf(cluster, 'a'), conflictedOf(cluster, 'b')]).toEqual([undefined, undefined]);
});

test('an environment reports an overlap that cannot be decided', async () => {
  const large = (times: number): Requests => byUser({ regex: `a{${times}}` });
  const cluster = await shopWith(environmentOf('a', large(600)), environmentOf('b', large(700)));
  expect(conflictedOf(cluster, 'a')).toMatch(
    /^Unknown Undecided: .* may ask for some of these requests .* can't be determined/,
  );
});

test('a key conflicts with a match that includes it', async () => {
  const byBaggage = { istioMatches: [{ headers: { baggage: { exact: 'env=pr-1' } } }] };
  const cluster = await shopWith(environmentOf('a', { key: 'pr-1' }), environmentOf('b', byBaggage));
  expect(conflictedOf(cluster, 'b')).toContain('such as a request with baggage: env=pr-1');
});

test('a request with two keys goes to the environment that was created first, whenever that got its routes', async () => {
  const cluster = await shopWith();
  cluster.refused.add('Deployment shop/cart-shop-a');
  for (const env of [environmentOf('a', { key: 'a' }), environmentOf('b', byUser({ exact: 'x' }))]) {
    await cluster.put(env);
    await cluster.settle();
  }
  expect([...new Set(routesIn(cluster))]).toEqual(['shop-b', 'shared']);
  await cluster.put(environmentOf('c', { key: 'c' }));
  cluster.refused.clear();
  expect(await cluster.settle()).toEqual([]);
  expect([...new Set(routesIn(cluster))]).toEqual(['shop-a', 'shop-b', 'shop-c', 'shared']);
});

test('only environments whose requests another one asks for now are compared again', async () => {
  const names = ['a', 'b', 'c'];
  const cluster = await shopWith(...names.map((name) => environmentOf(name, { key: name })));
  const woken: string[] = [];
  const reads = new Reads({
    tables: cluster.tables,
    now: () => cluster.now,
    wake: (reader) => woken.push(reader),
  });
  const follow = (): void => {
    for (const name of names) reads.track(name, (view) => conflictsIn(view, `shop/${name}`, defaultSettings));
  };
  const after = async (change: () => Promise<void>): Promise<readonly string[]> => {
    follow();
    woken.length = 0;
    await change();
    reads.deliver();
    return woken.toSorted();
  };
  const [a] = cluster.list(DynamicEnv);
  expect(await after(() => cluster.put({ ...a!, metadata: { ...a!.metadata, labels: { x: 'y' } } }))).toEqual([]);
  expect(await after(() => cluster.put(environmentOf('d', { key: 'd' })))).toEqual([]);
  expect(await after(() => cluster.put(environmentOf('e', { key: 'b' })))).toEqual(['b']);
  expect(await after(() => cluster.put(environmentOf('f', { key: 'c' }, 'web')))).toEqual([]);
  reads.close();
});
