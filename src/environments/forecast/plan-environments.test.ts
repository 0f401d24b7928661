// The plans of `env plan`, on an API in memory: each kind of change, in the order of the writes.
import { describe, expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Intent, ReportedChange } from '../../controller/index.ts';
import { objectOf } from '../../kube/index.ts';
import type { KubeObject, Step } from '../../kube/index.ts';
import { baggageRegex } from '../../traffic/baggage.ts';
import { defaultSettings, environments } from '../index.ts';
import { Deployment } from '../objects.ts';
import type { EnvironmentPlan, EnvironmentPlanOptions } from './plan-environments.ts';
import { planEnvironments } from './plan-environments.ts';

const REF = { name: 'feature', namespace: 'shop' };
const cart = { name: 'cart', namespace: 'shop' };
const pay = { name: 'pay', namespace: 'shop' };

/** A settled cluster with the workloads of a shop and the given objects. */
async function settled(...objects: readonly KubeObject[]): Promise<MemoryCluster> {
  const workloads = [cart, pay].flatMap(({ name }) => Object.values(workload('shop', name)));
  const cluster = await MemoryCluster.of([...workloads, ...objects]);
  expect(await cluster.settle()).toEqual([]);
  return cluster;
}

/** The plan for the environment `REF`, or for the intents. */
function plan(
  cluster: MemoryCluster,
  intents: readonly Intent[] = [],
  options: Partial<EnvironmentPlanOptions> = {},
): EnvironmentPlan {
  return planEnvironments({
    controllers: environments(),
    settings: defaultSettings,
    tables: cluster.tables,
    now: cluster.now,
    environments: intents.length === 0 ? [REF] : [],
    intents,
    ...options,
  });
}

const put = (env: DynamicEnv): Intent => ({ kind: DynamicEnv, put: env });

/** The existing environment with another spec. */
function changed(cluster: MemoryCluster, spec: DynamicEnv['spec']): Intent {
  const [env] = cluster.list(DynamicEnv);
  const metadata = { ...env!.metadata, generation: (env!.metadata.generation ?? 0) + 1 };
  return put({ ...env!, metadata, spec });
}

/** One line for each change and each changed field of a spec. */
function linesOf({ changes }: EnvironmentPlan): string[] {
  const fieldsOf = ({ fields = [] }: ReportedChange): string[] =>
    fields
      .filter(({ path }) => !path.startsWith('status.') && !path.startsWith('metadata.'))
      .map(({ path, text: read, ...values }) => ({ path, before: undefined, after: undefined, ...values, ...read }))
      .map(({ path, before, after }) => `${path}: ${text(before)} → ${text(after)}`);
  return changes.flatMap((change) => [`${change.do} ${change.kind} ${change.name}`, ...fieldsOf(change)]);
}

const text = (value: unknown): string =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replaceAll(/[0-9a-f]{10}/g, 'DIGEST');
const routed = (name: string): string => `spec.http[dynamic-environment-shop-feature-${name}-DIGEST]`;
const linesWithoutDigests = (made: EnvironmentPlan): string[] =>
  linesOf(made).map((line) => line.replaceAll(/-[0-9a-f]{10}\]/g, '-DIGEST]'));

test('a plan for a new environment makes clone, rule, then routes, and says which pods these wait for', async () => {
  const made = plan(await settled(), [put(environment('shop', 'feature', [cart]))]);
  expect(linesWithoutDigests(made)).toEqual([
    'make DynamicEnv feature',
    'make Deployment cart-shop-feature',
    'make DestinationRule cart-shop-feature-cart',
    'change VirtualService cart',
    `${routed('cart')}:  → end-user=alice → cart/shop-feature`,
  ]);
  expect(made.assumedReady).toEqual(['shop/cart-shop-feature']);
  expect(made.environments).toEqual([{ environment: 'shop/feature', state: 'ready' }]);
});

test('a plan has routes as text for people, and as objects for programs', async () => {
  const env = environment('shop', 'feature', [cart]);
  const made = plan(await settled(), [put({ ...env, spec: { key: 'pr-7', subsets: env.spec.subsets } })]);
  const [, byBaggage] = made.changes
    .flatMap(({ fields = [] }) => fields)
    .filter(({ path }) => path.startsWith('spec.http'));
  expect(byBaggage).toMatchObject({
    text: { after: 'baggage that holds env=pr-7 → cart/shop-feature' },
    after: { match: [{ headers: { baggage: { regex: baggageRegex('pr-7') } } }], route: [{}] },
  });
  expect(made.traffic.changes[1]!.text).toMatch(/^Requests to cart\.shop:80 with baggage that holds env=pr-7 go to /);
});

test('a plan for a settled environment is empty', async () => {
  const { proofs, ...made } = plan(await settled(environment('shop', 'feature', [cart])));
  expect(made).toEqual({
    changes: [],
    stalled: [],
    assumedReady: [],
    orphans: [],
    environments: [{ environment: 'shop/feature', state: 'ready' }],
    traffic: { changes: [], isPartial: false },
    conflicts: [],
  });
  expect(proofs).toMatchObject([{ environment: 'shop/feature', isolated: 'True', reason: 'Isolated' }]);
});

describe('a time to live', () => {
  const lasting = (name: string, duration: string): DynamicEnv => {
    const env = environment('shop', name, [cart]);
    return { ...env, spec: { ...env.spec, key: name, ttl: { duration } } };
  };
  const namesOf = ({ changes }: EnvironmentPlan): string[] => changes.map((each) => `${each.do} ${each.kind}`);

  /** A settled environment with a time to live. */
  const existing = async (duration: string): Promise<MemoryCluster> => {
    const cluster = await settled(environment('shop', 'feature', [cart]));
    const [env] = cluster.list(DynamicEnv);
    await cluster.put({ ...env!, spec: { ...env!.spec, ttl: { duration } } } as DynamicEnv);
    return cluster;
  };

  test.each(['30s', '1s', '5ms'])('of %s does not hide what is created', async (duration) => {
    const made = plan(await settled(), [put(lasting('feature', duration))]);
    expect(namesOf(made)).toEqual([
      'make DynamicEnv',
      'make Deployment',
      'make DestinationRule',
      'change VirtualService',
    ]);
    expect(made.environments).toEqual([{ environment: 'shop/feature', state: 'ready', expiresAfter: duration }]);
  });

  test('that is not over leaves an environment as it is, and the plan says when it expires', async () => {
    const made = plan(await existing('50s'));
    expect(namesOf(made)).toEqual(['change DynamicEnv']);
    expect(made.environments).toEqual([
      { environment: 'shop/feature', state: 'ready', expiresAt: '2026-01-01T00:00:50Z' },
    ]);
  });

  test('that is over removes the environment', async () => {
    const made = plan(await existing('1s'));
    expect(namesOf(made)).toContain('remove Deployment');
    expect(made.environments).toEqual([{ environment: 'shop/feature', state: 'gone' }]);
  });

  test('of another environment is no part of a plan', async () => {
    const made = plan(await existing('50s'), [put(lasting('other', '8s'))]);
    expect(linesOf(made).join('\n')).not.toContain('shop-feature');
    expect(made.traffic.changes.map(({ text }) => text).join('\n')).not.toContain('alice');
    expect(made.environments).toMatchObject([{ environment: 'shop/other', expiresAfter: '8s' }]);
  });
});

describe('the traffic of a plan', () => {
  const textsOf = ({ traffic }: EnvironmentPlan): readonly string[] => traffic.changes.map(({ text }) => text);
  const TO_CLONE =
    'Requests to cart.shop:80 with end-user: alice go to cart version shop-feature instead of version shared.';

  test('sends requests with the key of a new environment to its clone, and moves no others', async () => {
    const made = plan(await settled(), [put(environment('shop', 'feature', [cart]))]);
    expect(textsOf(made)).toEqual([TO_CLONE]);
    expect(made.proofs).toMatchObject([{ environment: 'shop/feature', isolated: 'True' }]);
  });

  test('includes a route that was removed by hand', async () => {
    const cluster = await settled(environment('shop', 'feature', [cart]));
    await cluster.put(workload('shop', 'cart').routes);
    expect(textsOf(plan(cluster))).toEqual([TO_CLONE]);
  });

  test('includes all requests of a route that leads to the Service without a subset', async () => {
    const { routes, ...others } = workload('shop', 'cart');
    const open = { match: [{ uri: { prefix: '/open' } }], route: [{ destination: { host: 'cart' } }] };
    const http = [open, ...(routes.spec?.http ?? [])];
    const cluster = await MemoryCluster.of([...Object.values(others), { ...routes, spec: { ...routes.spec, http } }]);
    const made = plan(cluster, [put(environment('shop', 'feature', [cart]))]);
    expect(textsOf(made)).toEqual([
      'Requests to cart.shop:80 with a path that starts with /open go to cart: shop/Deployment/cart, shop/Deployment/cart-shop-feature, instead of shop/Deployment/cart.',
      TO_CLONE.replace(' go to', ', except those with a path that starts with /open, go to'),
    ]);
    expect(made.proofs).toMatchObject([
      {
        environment: 'shop/feature',
        isolated: 'False',
        reason: 'OtherRequestsMoved',
        counterexample: { request: { path: '/open' } },
      },
    ]);
  });
});

test('a plan reports another environment that asks for the same requests', async () => {
  const cluster = await settled(environment('shop', 'first', [cart]));
  const { conflicts } = plan(cluster, [put(environment('shop', 'feature', [cart]))]);
  expect(conflicts).toMatchObject([
    { environment: 'shop/feature', other: 'shop/first', workload: 'shop/cart', relation: 'same' },
  ]);
  expect(conflicts[0]!.text).toContain('environment shop/first asks for the same requests to shop/cart');
  expect(plan(cluster, [put(environment('shop', 'feature', [pay]))]).conflicts).toEqual([]);
});

test('a plan shows a changed image', async () => {
  const env = environment('shop', 'feature', [cart]);
  const cluster = await settled(env);
  const subsets = [{ ...cart, containers: [{ containerName: 'cart', image: 'cart:3' }] }];
  expect(linesOf(plan(cluster, [changed(cluster, { ...env.spec, subsets })]))).toEqual([
    'change DynamicEnv feature',
    'spec.subsets[cart].containers[cart].image: cart:2 → cart:3',
    'change Deployment cart-shop-feature',
    'spec.template.spec.containers[cart].image: cart:2 → cart:3',
  ]);
});

test('a plan reverts a clone that was changed by hand', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  const clone = cluster.list(Deployment).find(({ metadata }) => metadata.name === 'cart-shop-feature')!;
  const containers = clone.spec.template.spec!.containers!.map((each) => ({ ...each, image: 'cart:evil' }));
  const template = { ...clone.spec.template, spec: { ...clone.spec.template.spec, containers } };
  await cluster.put({ ...clone, spec: { ...clone.spec, template } } as Deployment);
  expect(linesOf(plan(cluster))).toEqual([
    'change Deployment cart-shop-feature',
    'spec.template.spec.containers[cart].image: cart:evil → cart:2',
  ]);
});

test('a plan writes nothing until the pods of a clone are ready', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  const clone = cluster.list(Deployment).find(({ metadata }) => metadata.name === 'cart-shop-feature')!;
  const metadata = { ...clone.metadata, resourceVersion: '1000' };
  cluster.tables.of(Deployment).observe({ ...clone, metadata, status: { ...clone.status, observedGeneration: 0 } });
  const made = plan(cluster);
  expect([made.changes, made.assumedReady]).toEqual([[], ['shop/cart-shop-feature']]);
});

test('a plan restores routes that were removed by hand', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  await cluster.put(workload('shop', 'cart').routes);
  expect(linesWithoutDigests(plan(cluster))).toEqual([
    'change VirtualService cart',
    `${routed('cart')}:  → end-user=alice → cart/shop-feature`,
  ]);
});

describe('a plan reports as degraded', () => {
  test('an environment whose Deployment does not exist', async () => {
    const env = environment('shop', 'feature', [{ name: 'ghost', namespace: 'shop' }]);
    const made = plan(await settled(), [put(env)]);
    expect(linesOf(made)).toEqual(['make DynamicEnv feature']);
    expect(made.environments).toEqual([
      { environment: 'shop/feature', state: 'degraded', problem: expect.stringContaining('ghost') },
    ]);
    const [stuck] = plan(await settled(env)).environments;
    expect(stuck).toEqual(made.environments[0]);
  });

  test('a clone that the server refuses', async () => {
    const made = plan(await settled(), [put(environment('shop', 'feature', [cart]))], {
      refuse: ({ kind }) => (kind.kind === 'Deployment' ? 'exceeded quota' : undefined),
    });
    expect(linesOf(made)).toEqual(['make DynamicEnv feature']);
    expect(made.environments).toEqual([{ environment: 'shop/feature', state: 'degraded', problem: 'exceeded quota' }]);
  });

  test('an environment whose routes the server refuses', async () => {
    const made = plan(await settled(), [put(environment('shop', 'feature', [cart]))], {
      refuse: ({ kind }) => (kind.kind === 'VirtualService' ? 'no more routes' : undefined),
    });
    expect(linesOf(made)).not.toContain('change VirtualService cart');
    expect(made.environments).toEqual([
      { environment: 'shop/feature', state: 'degraded', problem: expect.stringContaining('no more routes') },
    ]);
  });

  test('only the environment whose routes the server refuses, and not others in the same write', async () => {
    const names = ['one', 'feature', 'two'];
    const intents = names.map((name) => {
      const env = environment('shop', name, [cart]);
      return put({ ...env, spec: { ...env.spec, istioMatches: [{ headers: { user: { exact: name } } }] } });
    });
    const isRefused = (step: Step): boolean => JSON.stringify(objectOf(step)).includes('environment-shop-feature-');
    const made = plan(await settled(), intents, {
      refuse: (step) => (step.kind.kind === 'VirtualService' && isRefused(step) ? 'not this one' : undefined),
    });
    const routes = made.changes.find(({ kind }) => kind === 'VirtualService')!.fields!.map(({ path }) => path);
    expect(routes.filter((path) => path.startsWith('spec.http')).map((path) => path.split('-')[3])).toEqual([
      'one',
      'two',
    ]);
    expect(made.environments.map(({ state, problem }) => [state, problem?.includes('not this one')])).toEqual([
      ['ready', undefined],
      ['degraded', true],
      ['ready', undefined],
    ]);
  });
});

test('a plan removes routes, rule and clone of a removed subset, in this order', async () => {
  const env = environment('shop', 'feature', [cart, pay]);
  const cluster = await settled(env);
  const only = environment('shop', 'feature', [cart]);
  const lines = linesWithoutDigests(plan(cluster, [changed(cluster, only.spec)]));
  expect(lines.filter((line) => !line.startsWith('spec.subsets'))).toEqual([
    'change DynamicEnv feature',
    'change VirtualService pay',
    `${routed('pay')}: end-user=alice → pay/shop-feature → `,
    'remove DestinationRule pay-shop-feature-pay',
    'remove Deployment pay-shop-feature',
  ]);
});

test('a plan of a deletion lists all removed objects, and that the environment is gone in the end', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  const made = plan(cluster, [{ kind: DynamicEnv, delete: REF }], { environments: [REF] });
  expect(linesWithoutDigests(made)).toEqual([
    'change VirtualService cart',
    `${routed('cart')}: end-user=alice → cart/shop-feature → `,
    'remove DestinationRule cart-shop-feature-cart',
    'remove Deployment cart-shop-feature',
    'remove DynamicEnv feature',
  ]);
  expect(made.environments).toEqual([{ environment: 'shop/feature', state: 'gone' }]);
});

test('a plan includes the orphans of a removed environment if asked', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  await cluster.remove(cluster.list(DynamicEnv)[0]!);
  const made = plan(cluster, [], { environments: [], orphansIn: ['shop'] });
  expect(linesWithoutDigests(made)).toEqual([
    'change VirtualService cart',
    `${routed('cart')}: end-user=alice → cart/shop-feature → `,
    'remove DestinationRule cart-shop-feature-cart',
    'remove Deployment cart-shop-feature',
  ]);
  expect(made.orphans).toEqual(
    [
      'VirtualService shop/cart',
      'DestinationRule shop/cart-shop-feature-cart',
      'Deployment shop/cart-shop-feature',
    ].map((object) => ({ environment: 'shop/feature', object })),
  );
  const settings = { ...defaultSettings, removeOrphans: false };
  const left = plan(cluster, [], { environments: [], orphansIn: ['shop'], settings });
  expect([left.changes, left.orphans]).toEqual([[], made.orphans]);
  expect(plan(cluster, [], { environments: [], orphansIn: ['other'] })).toMatchObject({ changes: [], orphans: [] });
});

test('a plan removes orphans that belong to nobody once another environment of their version is deleted', async () => {
  const cluster = await settled(environment('shop', 'feature-a', [cart]), environment('shop-feature', 'a', []));
  const [removed, other] = ['shop', 'shop-feature'].map((namespace) =>
    cluster.list(DynamicEnv).find(({ metadata }) => metadata.namespace === namespace)!,
  );
  await cluster.remove(removed!);
  const orphansIn = ['shop'];
  expect(plan(cluster, [], { environments: [], orphansIn }).changes).toEqual([]);
  const made = plan(cluster, [{ kind: DynamicEnv, delete: other!.metadata }], { orphansIn });
  expect(linesOf(made).filter((line) => /^(remove|change)/.test(line))).toEqual([
    'change VirtualService cart',
    'remove DynamicEnv a',
    'remove DestinationRule cart-shop-feature-a-cart',
    'remove Deployment cart-shop-feature-a',
  ]);
});

test('a plan leaves out changes of unrelated environments', async () => {
  const cluster = await settled(environment('shop', 'feature', [cart]));
  await cluster.put(environment('shop', 'other', [pay]));
  expect(plan(cluster).changes).toEqual([]);
  expect(linesOf(plan(cluster, [{ kind: DynamicEnv, delete: REF }])).join('\n')).not.toContain('pay');
});
