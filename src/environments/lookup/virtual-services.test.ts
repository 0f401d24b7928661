// Which changes of a VirtualService trigger a new plan of an environment that has routes there.
import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { Reads } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import { baggageRegex } from '../../traffic/baggage.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import type { HttpMatch, HttpRoute } from '../../traffic/istio/objects.ts';
import { defaultSettings, planEnvironment, routeWishes } from '../index.ts';
import { WATCH_ANNOTATION } from '../identity/ownership.ts';

const wishes = routeWishes(defaultSettings);

function environmentOf(name: string): DynamicEnv {
  const env = environment('shop', name, [{ name: 'cart', namespace: 'shop' }]);
  return { ...env, spec: { ...env.spec, istioMatches: [{ headers: { user: { exact: name } } }] } };
}

/** A route as another environment inserts it. */
function routeOf(name: string, match?: HttpMatch): HttpRoute {
  return {
    name: `dynamic-environment-shop-${name}-cart-0123456789`,
    ...(match && { match: [match] }),
    route: [{ destination: { host: 'cart', subset: `shop-${name}` } }],
  };
}

let version = 1_000;
let cluster: MemoryCluster;
beforeEach(async () => {
  cluster = await MemoryCluster.of([...Object.values(workload('shop', 'cart')), ...['a', 'b'].map(environmentOf)]);
  await cluster.settle();
});

/** The environments that are planned again after this change of the VirtualService. */
function wokenBy(change: (service: VirtualService) => VirtualService): readonly string[] {
  const woken: string[] = [];
  const { tables, now } = cluster;
  const reads = new Reads({ tables, now: () => now, wake: (reader) => woken.push(reader) });
  for (const env of cluster.list(DynamicEnv)) {
    reads.track(env.metadata.name, (view) => {
      planEnvironment(view, env, defaultSettings);
      return view.read.get(view.model(wishes), keyOf(env.metadata));
    });
  }
  const [service] = cluster.list(VirtualService);
  const { metadata, ...rest } = change(service!);
  tables.of(VirtualService).observe({ ...rest, metadata: { ...metadata, resourceVersion: String(++version) } });
  reads.deliver();
  reads.close();
  return woken.sort();
}

const withRoutes = (edit: (http: readonly HttpRoute[]) => readonly HttpRoute[]) => (service: VirtualService) => ({
  ...service,
  spec: { ...service.spec, http: edit(service.spec?.http ?? []) },
});

describe('an environment is planned again when', () => {
  test('routes of another one are added that may take its requests', () => {
    expect(wokenBy(withRoutes((http) => [routeOf('c', { headers: { user: { exact: 'c' } } }), ...http]))).toEqual([]);
    expect(wokenBy(withRoutes((http) => [routeOf('c', { headers: { user: { exact: 'a' } } }), ...http]))).toEqual([
      'a',
    ]);
    expect(wokenBy(withRoutes((http) => [routeOf('c', { headers: { user: { regex: '.*' } } }), ...http]))).toEqual([
      'a',
      'b',
    ]);
    expect(wokenBy(withRoutes((http) => [routeOf('c'), ...http]))).toEqual(['a', 'b']);
  });

  test('routes with the same key are added', async () => {
    const keyed = ['a', 'b'].map((name) => {
      const { metadata, ...env } = environment('shop', name, [{ name: 'cart', namespace: 'shop' }]);
      return { ...env, metadata, spec: { key: name, subsets: env.spec.subsets } };
    });
    cluster = await MemoryCluster.of([...Object.values(workload('shop', 'cart')), ...keyed]);
    await cluster.settle();
    const added = (headers: HttpMatch['headers'] & {}): readonly string[] =>
      wokenBy(withRoutes((http) => [routeOf('c', { headers }), ...http]));
    expect(added({ 'x-env': { exact: 'c' } })).toEqual([]);
    expect(added({ baggage: { regex: baggageRegex('c') } })).toEqual([]);
    expect(added({ user: { exact: 'a' } })).toEqual([]);
    expect(added({ 'X-Env': { exact: 'a' } })).toEqual(['a']);
    expect(added({ baggage: { regex: baggageRegex('b') } })).toEqual(['b']);
    expect(added({ baggage: { regex: '.*env=.*' } })).toEqual(['a', 'b']);
  });

  test('its own routes change', () => {
    const isOfA = ({ name = '' }: HttpRoute): boolean => name.includes('-shop-a-');
    expect(wokenBy(withRoutes((http) => http.filter((route) => !isOfA(route))))).toEqual(['a']);
  });

  test('a base route changes', () => {
    expect(wokenBy(withRoutes((http) => http.map((route) => ({ ...route, timeout: '1s' }))))).toEqual(['a', 'b']);
    expect(wokenBy((service) => ({ ...service, spec: { ...service.spec, hosts: ['cart', 'other'] } }))).toEqual([
      'a',
      'b',
    ]);
  });

  test('its name is removed from the annotation, not when another one is added', () => {
    const named = (names: string) => (service: VirtualService) => ({
      ...service,
      metadata: { ...service.metadata, annotations: { [WATCH_ANNOTATION]: names } },
    });
    expect(wokenBy(named('shop/a,shop/b,shop/c'))).toEqual([]);
    expect(wokenBy(named('shop/b'))).toEqual(['a']);
  });
});
