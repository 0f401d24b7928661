// Properties for any routes and any matches: requests without the key of the environment are routed as before, requests
// with it reach the clone wherever they reached the default version, and removing the environment restores the routes.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { matchesConditions, hasRoutes, routeOf } from '../testing/naive-routes.ts';
import type { Request } from '../testing/naive-routes.ts';
import { withRoutes } from './insert-routes.ts';
import type { RouteWish } from './insert-routes.ts';
import { isRouteOf, isRouteOfSubset } from './inserted-routes.ts';
import type { HttpMatch, HttpRoute, RouteDestination, VirtualService } from './objects.ts';
import { takerOf } from './shadow.ts';

const HOST = 'cart.shop.svc.cluster.local';

// Few values, so that conditions overlap often.
const value = fc.constantFrom('a', 'ab', 'abc', 'b');
const label = fc.record({ app: fc.constantFrom('web', 'test'), tier: fc.constantFrom('x', 'y') }, { requiredKeys: [] });
const condition = fc.oneof(
  fc.record({ exact: value }),
  fc.record({ prefix: value }),
  fc.record({ regex: fc.constantFrom('a.*', '.*b', 'ab?c?', '.*', '*') }),
);
const headers = (names: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...names), fc.oneof(condition, fc.constantFrom({}, { exact: '' })), { maxKeys: 2 });
const EDGE = 'edge/public';
const entry: fc.Arbitrary<HttpMatch> = fc.record(
  {
    headers: headers(['user']),
    withoutHeaders: headers(['user']),
    sourceLabels: label,
    sourceNamespace: fc.constantFrom('shop', 'edge'),
    gateways: fc.constantFrom(['mesh'], [EDGE], ['mesh', EDGE]),
    uri: fc.constantFrom({ prefix: '/' }, { prefix: '/a' }, { exact: '/b' }),
    method: fc.constant({ exact: 'GET' }),
  },
  { requiredKeys: [] },
);
const destination = fc.record(
  {
    destination: fc.constantFrom(
      { host: 'cart', subset: 'shared' },
      { host: HOST, subset: 'shared', port: { number: 80 } },
      { host: 'cart', subset: 'canary' },
      { host: 'other', subset: 'shared' },
      { host: 'cart' },
    ),
    weight: fc.integer({ min: 0, max: 100 }),
  },
  { requiredKeys: ['destination'] },
);
const route: fc.Arbitrary<HttpRoute> = fc.oneof(
  fc.record(
    {
      name: fc.constantFrom('main', 'dynamic-environment-not-ours', ''),
      match: fc.array(entry, { maxLength: 2 }),
      route: fc.array(destination, { minLength: 1, maxLength: 3 }),
      timeout: fc.constant('3s'),
    },
    { requiredKeys: ['route'] },
  ),
  fc.record({ match: fc.array(entry, { maxLength: 1 }), redirect: fc.constant({ uri: '/' }) }),
);
const routes = fc.array(route, { maxLength: 4 });
const istioMatches: fc.Arbitrary<IstioMatch[]> = fc.array(
  fc.record(
    { headers: fc.dictionary(fc.constantFrom('user', 'User'), condition, { maxKeys: 1 }), sourceLabels: label },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 3 },
);
const asked = (user: fc.Arbitrary<string | string[]>): fc.Arbitrary<Request> =>
  fc
    .tuple(
      fc.oneof(
        fc.record({ gateway: fc.constant('mesh'), namespace: fc.constantFrom('shop', 'depot'), labels: label }),
        fc.constant({ gateway: EDGE, namespace: 'edge', labels: { istio: 'public' } }),
      ),
      fc.record({
        headers: fc.record({ user }, { requiredKeys: [] }),
        path: fc.constantFrom('/', '/a', '/ab', '/b'),
        method: fc.constantFrom('GET', 'POST'),
      }),
    )
    .map(([from, what]) => ({ ...from, ...what }));
const request = asked(fc.oneof(value, fc.constant('')));
/** Also requests with a repeated header: proxies match each value. */
const anyRequest = asked(fc.oneof(value, fc.array(value, { minLength: 2, maxLength: 2 })));

type Environment = Pick<RouteWish, 'owner' | 'matches'>;

function environment(name: string, matches: readonly IstioMatch[], namespace = 'team'): Environment {
  return { owner: { version: `${namespace}-${name}`, taken: [] }, matches };
}

function virtualService(http: readonly HttpRoute[]): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { gateways: ['mesh', EDGE], http },
  };
}

const cart = { name: 'cart', namespace: 'shop' };

/** The routes with those of an environment inserted or removed. */
function planned(http: readonly HttpRoute[], env: Environment, workload = cart, wanted = true): readonly HttpRoute[] {
  return withRoutes(virtualService(http), [wish(env, wanted, workload)]).http;
}

function wish(env: Environment, wanted = true, workload = cart): RouteWish {
  const insertion = { workload, hosts: [HOST], defaultVersion: 'shared', clusterDomain: 'cluster.local' };
  const clone = `${workload.name}-${env.owner.version}`;
  return { ...env, insertions: wanted ? [{ ...insertion, clone }] : [], untouched: [] };
}

const isDefault = ({ destination }: RouteDestination): boolean =>
  (destination?.host === 'cart' || destination?.host === HOST) && destination.subset === 'shared';

const cloneOf = ({ destination }: RouteDestination): RouteDestination => ({
  destination: { ...destination, subset: 'team-e' },
});

/** What a route does with a request, without the weights of its destinations. */
function landing(taken: HttpRoute | undefined): unknown {
  const { name: _name, match: _match, route: destinations, ...rest } = taken ?? {};
  return { ...rest, to: destinations?.map((each) => each.destination) };
}

describe('the routes of an environment', () => {
  test('are removed without a trace when the environment is deleted', () => {
    fc.assert(
      fc.property(routes, istioMatches, (http, matches) => {
        const env = environment('e', matches);
        expect(planned(planned(http, env), env, cart, false)).toEqual(http);
      }),
    );
  });

  test('do not affect requests without its key', () => {
    fc.assert(
      fc.property(routes, istioMatches, anyRequest, (http, matches, sent) => {
        fc.pre(!matches.some((match) => isAsking(match) && matchesConditions(match, sent)));
        const after = planned(http, environment('e', matches));
        expect(routeOf(after, sent)).toEqual(routeOf(http, sent));
        expect(hasRoutes(after, sent)).toBe(hasRoutes(http, sent));
      }),
      { numRuns: 1_000 },
    );
  });

  test('send a request with its key to the clone wherever it reached the default version', () => {
    fc.assert(
      fc.property(routes, istioMatches, request, (http, matches, sent) => {
        fc.pre(matches.some((match) => isAsking(match) && matchesConditions(match, sent)));
        const before = routeOf(http, sent);
        const clones = before?.route?.filter(isDefault).map(cloneOf) ?? [];
        const after = routeOf(planned(http, environment('e', matches)), sent);
        expect(landing(after)).toEqual(landing(before && clones.length > 0 ? { ...before, route: clones } : before));
      }),
      { numRuns: 500 },
    );
  });

  test('get no request if takerOf is certain that an earlier route takes them all', () => {
    let shadowed = 0;
    fc.assert(
      fc.property(routes, istioMatches, istioMatches, request, (http, some, others, sent) => {
        const all = planned(planned(http, environment('first', some)), environment('e', others));
        for (const [i, route] of all.entries()) {
          if (!takerOf(all.slice(0, i), route.match ?? [{}])?.isCertain) continue;
          shadowed++;
          expect(routeOf(all, sent)).not.toBe(route);
        }
      }),
      { numRuns: 1_000 },
    );
    expect(shadowed).toBeGreaterThan(100);
  });

  test('are in the order of the wishes, whatever routes exist already', () => {
    fc.assert(
      fc.property(routes, istioMatches, istioMatches, istioMatches, fc.boolean(), (http, one, others, more, isGone) => {
        const [first, second, third] = [environment('a', one), environment('b', others), environment('c', more)];
        const all = [wish(first), wish(second), wish(third, !isGone)];
        const inOrder = planned(planned(planned(http, first), second), third, cart, !isGone);
        for (const before of [http, planned(planned(http, second), third), planned(planned(http, third), first)]) {
          expect(withRoutes(virtualService(before), all).http).toEqual(inOrder);
          // Planning only some of the environments does not move the routes of the others.
          const some = withRoutes(virtualService(before), all.slice(1)).http;
          expect(withRoutes(virtualService(some), all).http).toEqual(inOrder);
        }
        expect(withRoutes(virtualService(inOrder), all.slice(0, 1)).http).toEqual(inOrder);
      }),
    );
  });

  test('have weights that add up to 100, or no weight for a single destination', () => {
    fc.assert(
      fc.property(routes, istioMatches, (http, matches) => {
        const env = environment('e', matches);
        for (const inserted of planned(http, env)) {
          if (!isRouteOf(env.owner, virtualService(http), inserted)) continue;
          const weights = inserted.route!.map(({ weight }) => weight);
          const sum = weights.reduce<number>((total, weight) => total + (weight ?? 100), 0);
          expect(sum).toBe(100);
        }
      }),
    );
  });

  test('do not change when planned again, and those of two environments keep their order', () => {
    const change = fc.record({ at: fc.nat(3), timeout: fc.constantFrom('1s', '2s') });
    fc.assert(
      fc.property(routes, istioMatches, istioMatches, change, (http, some, others, { at, timeout }) => {
        const [first, second] = [environment('first', some), environment('second', others)];
        const both = planned(planned(http, first), second);
        expect(planned(planned(both, second), first)).toEqual(both);
        expect(planned(both, first, cart, false)).toEqual(planned(http, second));
        expect(planned(both, second, cart, false)).toEqual(planned(http, first));
        // When a base route changes, its copies follow in the same order, whichever environment is planned first.
        const edit = (list: readonly HttpRoute[]): HttpRoute[] => {
          const base = list.filter((each) => !each.name?.startsWith('dynamic-environment-team-'));
          return list.map((each) => (each === base[at] ? { ...each, timeout } : each));
        };
        const fresh = planned(planned(edit(http), first), second);
        expect(planned(planned(edit(both), second), first)).toEqual(fresh);
        expect(planned(planned(edit(both), first), second)).toEqual(fresh);
      }),
    );
  });
});

test('routes that are left unchanged go if proxies refuse them, unless it is for a header of their base route', () => {
  const base = (regex: string): HttpRoute => ({
    match: [{ headers: { lang: { regex } } }],
    route: [{ destination: { host: 'cart', subset: 'shared' } }],
  });
  const env = environment('e', [{ headers: { user: { exact: 'a' } } }]);
  const kept = (http: readonly HttpRoute[]) =>
    withRoutes(virtualService(http), [{ ...wish(env, false), untouched: [cart] }]).http;
  for (const regex of ['.*', '\\pL{100}']) {
    const http = planned([base(regex)], env);
    expect(http).toHaveLength(2);
    expect(kept(http)).toEqual(http);
  }
  const [inserted] = planned([base('(')], env);
  expect(kept([inserted!, base('.*')])).toEqual([base('.*')]);
});

test('isRouteOf and isRouteOfSubset recognize a route for its own environment and subset only', () => {
  const name = fc.constantFrom('a', 'b', 'a-b', 'b-a', 'a-b-a', 'b-a-b');
  const who = fc.record({ namespace: name, name, subset: name });
  fc.assert(
    fc.property(who, who, (one, other) => {
      const env = environment(one.name, [{ headers: { user: { exact: 'a' } } }], one.namespace);
      const another = environment(other.name, [], other.namespace);
      const base = [{ route: [{ destination: { host: 'cart', subset: 'shared' } }] }];
      const [inserted] = planned(base, env, { name: one.subset, namespace: 'shop' });
      const service = virtualService(base);
      const isOf = (of: Environment, subset: string, namespace = 'shop'): boolean =>
        isRouteOfSubset(of.owner, { name: subset, namespace }, service, inserted!);
      expect(isOf(env, one.subset)).toBe(true);
      expect(isOf(env, one.subset, 'depot')).toBe(false);
      expect(isOf(env, other.subset)).toBe(one.subset === other.subset);
      const sameVersion = `${one.namespace}-${one.name}` === `${other.namespace}-${other.name}`;
      expect(isRouteOf(another.owner, service, inserted!)).toBe(sameVersion);
    }),
  );
});

function isAsking({ headers: wanted = {}, sourceLabels = {} }: IstioMatch): boolean {
  return Object.keys(wanted).length + Object.keys(sourceLabels).length > 0;
}
