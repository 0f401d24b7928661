// The differences between two worlds, as sentences for people.
import { baggageRegex } from '../baggage.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/index.ts';
import { createRouter, trafficDiff, worldOf } from '../index.ts';
import type { HeaderMatch, HttpRoute, VirtualService } from '../istio/objects.ts';
import { cell, question, requestOf, secondHosts, sidecarHosts } from '../testing/random-world.ts';
import { reviewsDeployment, reviewsService, reviewsSubsets } from '../testing/reviews.ts';
import { surroundings } from '../testing/surroundings.ts';
import { changeText } from './texts.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

const SERVICE = [reviewsService(), reviewsDeployment('reviews', 'shared')];
const RULE = [reviewsSubsets('reviews', 'shared')];
const CLONE = [reviewsDeployment('reviews-shop-pr-7', 'shop-pr-7')];
const CLONE_RULE = [reviewsSubsets('reviews-shop-pr-7', 'shop-pr-7')];
const to = (subset: string, host = 'reviews') => ({ destination: { host, subset } });
const base: HttpRoute = { route: [to('shared')] };
const key = { headers: { 'x-env': { exact: 'pr-7' } } };
const own: HttpRoute = { match: [key], route: [to('shop-pr-7')] };

function routes(http: readonly HttpRoute[], spec: object = {}): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'reviews', namespace: 'shop' },
    spec: { hosts: ['reviews'], ...spec, http },
  };
}

const BEFORE = [...SERVICE, ...RULE];
const AFTER = [...BEFORE, ...CLONE, ...CLONE_RULE];

function textsOf(before: readonly KubeObject[], after: readonly KubeObject[], steps?: number): readonly string[] {
  const changes = {
    virtualServices: [{ name: 'reviews', namespace: 'shop' }],
    hosts: ['reviews.shop.svc.cluster.local'],
  };
  const { changes: found } = trafficDiff(worldOf(before), worldOf(after), changes, steps);
  return found.map(({ text }) => text);
}

describe('trafficDiff', () => {
  test('describes a route for a header that is added, and one that is removed', () => {
    const [without, withIt] = [
      [...BEFORE, routes([base])],
      [...AFTER, routes([own, base])],
    ];
    expect(textsOf(without, withIt)).toEqual([
      'Requests to reviews.shop:9080 with x-env: pr-7 go to reviews version shop-pr-7 instead of version shared.',
    ]);
    expect(textsOf(withIt, without)).toEqual([
      'Requests to reviews.shop:9080 with x-env: pr-7 go to reviews version shared instead of version shop-pr-7.',
    ]);
    expect(textsOf(withIt, withIt)).toEqual([]);
  });

  test('names the conditions of both the old and the new route', () => {
    const api = { uri: { prefix: '/api' } };
    const before = [{ match: [api], route: [to('shared')] }, { route: [to('shared', 'pages')] }];
    const after = [{ match: [{ ...api, ...key }], route: [to('shop-pr-7')] }, ...before];
    expect(textsOf([...BEFORE, routes(before)], [...AFTER, routes(after)])).toEqual([
      'Requests to reviews.shop:9080 with a path that starts with /api and x-env: pr-7 go to reviews version shop-pr-7 instead of version shared.',
    ]);
  });

  test('excepts the requests that earlier routes take', () => {
    const first = (match: HttpRoute['match']): HttpRoute => ({
      name: 'dynamic-environment-shop-a-reviews-0123456789',
      match: match!,
      route: [to('shop-a')],
    });
    const wide = { match: [{ headers: { 'x-env': { prefix: 'pr-' } } }], route: [to('shop-pr-7')] };
    const change = (earlier: HttpRoute): readonly string[] =>
      textsOf([...BEFORE, routes([earlier, base])], [...AFTER, routes([earlier, wide, base])]);
    const goes = 'go to reviews version shop-pr-7 instead of version shared.';
    const requests = 'Requests to reviews.shop:9080 with x-env that starts with pr-';
    expect(change(first([key]))).toEqual([`${requests}, except those with x-env: pr-7, ${goes}`]);
    const four = ['a', 'b', 'c', 'd'].map((each) => ({ headers: { 'x-env': { exact: `pr-${each}` } } }));
    expect(change(first(four))).toEqual([
      `${requests}, except those with x-env: pr-a or with x-env: pr-b or with x-env: pr-c or 1 more, ${goes}`,
    ]);
    // With two keys the first environment wins; that is not repeated in each sentence.
    expect(change(first([{ headers: { user: { exact: 'al' } } }]))).toEqual([`${requests} ${goes}`]);
    expect(change({ match: [{ uri: { prefix: '/api' } }], route: [to('shared', 'pages')] })).toEqual([
      `${requests}, except those with a path that starts with /api, ${goes}`,
    ]);
  });

  test('describes a key in the baggage', () => {
    const match = { headers: { baggage: { regex: baggageRegex('pr-7') } } };
    const after = [{ match: [match], route: [to('shop-pr-7')] }, base];
    expect(textsOf([...BEFORE, routes([base])], [...AFTER, routes(after)])).toEqual([
      'Requests to reviews.shop:9080 with baggage that holds env=pr-7 go to reviews version shop-pr-7 instead of version shared.',
    ]);
  });

  test('describes callers with labels, and conditions of every form', () => {
    const match = {
      sourceLabels: { team: 'blue' },
      headers: { a: { prefix: 'b' }, c: { regex: 'd+' }, e: {} },
      withoutHeaders: { f: { exact: 'g' }, h: {} },
      queryParams: { i: { exact: 'j' } },
      method: { exact: 'GET' },
      uri: { exact: '/k' },
      ignoreUriCase: true,
    };
    const after = [{ match: [match], route: [to('shop-pr-7')] }, base];
    expect(textsOf([...BEFORE, routes([base])], [...AFTER, routes(after)])).toEqual([
      'Requests to reviews.shop:9080 from pods with team=blue with the path /k in any case, a that starts with b, c that matches d+, the header e, no f: g, no header h, the method GET and the query parameter i j go to reviews version shop-pr-7 instead of version shared.',
    ]);
  });

  test('reports 503 for a version without a subset or without ready pods', () => {
    const before = [...BEFORE, routes([base])];
    expect(textsOf(before, [...BEFORE, ...CLONE, routes([own, base])])).toEqual([
      'Requests to reviews.shop:9080 with x-env: pr-7 go to reviews version shop-pr-7 (503: no DestinationRule has it) instead of version shared.',
    ]);
    expect(textsOf(before, [...BEFORE, ...CLONE_RULE, routes([own, base])])).toEqual([
      'Requests to reviews.shop:9080 with x-env: pr-7 go to reviews version shop-pr-7 (503: no pod of it is ready) instead of version shared.',
    ]);
  });

  test('reports a clone that is reached by load balancing', () => {
    expect(textsOf(SERVICE, [...SERVICE, ...CLONE])).toEqual([
      'Requests to reviews.shop:9080 go to reviews: shop/Deployment/reviews, shop/Deployment/reviews-shop-pr-7, instead of shop/Deployment/reviews.',
    ]);
  });

  test('describes weights, redirects, direct responses and other services', () => {
    const split = [
      {
        route: [
          { ...to('shared'), weight: 90 },
          { ...to('shared', 'pages'), weight: 10 },
        ],
      },
    ];
    expect(textsOf([...BEFORE, routes([base])], [...BEFORE, routes(split)])).toEqual([
      'Requests to reviews.shop:9080 go to reviews version shared (90 %) and pages.shop version shared (10 %, 503: there is no such host) instead of reviews version shared.',
    ]);
    const moved = [{ redirect: { uri: '/new', redirectCode: 302 } }];
    expect(textsOf([...BEFORE, routes([base])], [...BEFORE, routes(moved)])).toEqual([
      'Requests to reviews.shop:9080 are redirected with 302 to http://reviews.shop.svc.cluster.local:9080/new; now they go to reviews version shared.',
    ]);
    expect(textsOf([...BEFORE, routes([base])], [...BEFORE, routes([{ ...base, match: [key] }])])).toEqual([
      'Requests to reviews.shop:9080, except those with x-env: pr-7, are answered with 404, as no route takes them; now they go to reviews version shared.',
    ]);
  });

  test('reports a changed timeout and number of retries for the same destination', () => {
    const slow = [{ ...base, timeout: '3s', retries: { attempts: 7 } }];
    expect(textsOf([...BEFORE, routes([base])], [...BEFORE, routes(slow)])).toEqual([
      'Requests to reviews.shop:9080 go to reviews version shared as before, with another timeout and number of retries.',
    ]);
  });

  test('names the namespace if only its callers are affected', () => {
    const after = routes([own, base], { exportTo: ['.'] });
    expect(textsOf([...BEFORE, routes([base], { exportTo: ['.'] })], [...AFTER, after])).toContain(
      'Requests to reviews.shop:9080 from namespace shop with x-env: pr-7 go to reviews version shop-pr-7 instead of version shared.',
    );
  });

  test('names the gateway', () => {
    const gateway = parseObjects(`
apiVersion: networking.istio.io/v1beta1
kind: Gateway
metadata: { name: edge, namespace: shop }
spec: { selector: { istio: edge }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ['*'] }] }
`);
    const spec = { hosts: ['shop.example.com'], gateways: ['edge'] };
    expect(
      textsOf([...BEFORE, ...gateway, routes([base], spec)], [...AFTER, ...gateway, routes([own, base], spec)]).slice(
        -1,
      ),
    ).toEqual([
      'Requests to shop.example.com:80 at gateway shop/edge with x-env: pr-7 go to reviews.shop version shop-pr-7 instead of version shared.',
    ]);
  });

  test('says that it is partial when it runs out of steps', () => {
    const [before, after] = [worldOf([...BEFORE, routes([base])]), worldOf([...AFTER, routes([own, base])])];
    const changes = { virtualServices: [{ name: 'reviews', namespace: 'shop' }], hosts: [] };
    expect(trafficDiff(before, after, changes, 1)).toEqual({ changes: [], isPartial: true });
    expect(trafficDiff(before, after, changes)).toMatchObject({ isPartial: false });
  });
});

describe('trafficDiff with many environments that have a key each', () => {
  const keysOf = (count: number): readonly string[] => Array.from({ length: count }, (_none, i) => `pr-${i}`);
  const keyMatches = (each: string): readonly Record<string, HeaderMatch>[] => [
    { 'x-env': { exact: each } },
    { baggage: { regex: baggageRegex(each) } },
  ];
  /** The routes that environments with these keys insert. */
  const inserted = (keys: readonly string[]): readonly HttpRoute[] =>
    keys.flatMap((each) =>
      keyMatches(each).map((headers, i) => ({
        name: `dynamic-environment-shop-${each}-reviews-${i}123456789`,
        match: [{ headers }],
        route: [to(`shop-${each}`)],
      })),
    );
  const worldWith = (keys: readonly string[]): readonly KubeObject[] => [...BEFORE, routes([...inserted(keys), base])];
  const at = 'Requests to reviews.shop:9080 with';
  const lost = ' (503: no DestinationRule has it)';

  test('does not report that a request with two keys goes to the first environment', () => {
    const [all, others] = [keysOf(3), keysOf(3).slice(1)].map(worldWith);
    expect(textsOf(all!, others!)).toEqual(
      ['x-env: pr-0', 'baggage that holds env=pr-0'].map(
        (which) => `${at} ${which} go to reviews version shared instead of version shop-pr-0${lost}.`,
      ),
    );
    expect(textsOf(others!, all!)).toEqual(
      ['x-env: pr-0', 'baggage that holds env=pr-0'].map(
        (which) => `${at} ${which} go to reviews version shop-pr-0${lost} instead of version shared.`,
      ),
    );
  });

  test('reports requests that another environment takes by the same header', () => {
    const wide = { ...inserted(['wide'])[0]!, match: [{ headers: { 'x-env': { prefix: 'pr-' } } }] };
    const all = [...BEFORE, routes([...inserted(['pr-0', 'pr-1']), wide, base])];
    const without = [...BEFORE, routes([...inserted(['pr-1']), wide, base])];
    expect(textsOf(all, without)).toEqual([
      `${at} x-env: pr-0 and x-env that starts with pr- go to reviews version shop-wide${lost} instead of version shop-pr-0${lost}.`,
      `${at} baggage that holds env=pr-0 go to reviews version shared instead of version shop-pr-0${lost}.`,
    ]);
  });

  // Counts steps, not milliseconds: at quadratic cost, ten times as many environments would take 100 times as many.
  test.each([10, 100, 300])('takes a linear number of steps to add %i environments and remove a tenth', (count) => {
    const diff = (before: readonly string[], after: readonly string[], steps: number) => {
      const [one, other] = [before, after].map((keys) => worldOf(worldWith(keys)));
      return trafficDiff(one!, other!, { virtualServices: [{ name: 'reviews', namespace: 'shop' }], hosts: [] }, steps);
    };
    const keys = keysOf(count);
    const come = diff([], keys, 20 * count);
    expect([come.changes.length, come.isPartial]).toEqual([2 * count, false]);
    const goes = diff(keys, keys.slice(count / 10), 2 * count + 20);
    expect([goes.changes.length, goes.isPartial]).toEqual([count / 5, false]);
  });
});

test('trafficDiff between random worlds reports every difference, and reports nothing that is the same', () => {
  let differing = 0;
  fc.assert(
    fc.property(
      cell(0),
      cell(0),
      sidecarHosts(0),
      fc.array(question(0), { minLength: 30, maxLength: 30 }),
      (one, other, sidecar, questions) => {
        const around = surroundings(sidecar, secondHosts(0));
        const [before, after] = [
          [...one, ...around],
          [...other, ...around],
        ].map((each) => worldOf(each));
        const all = [...one, ...other];
        const { changes, isPartial } = trafficDiff(before!, after!, {
          virtualServices: all.filter(({ kind }) => kind === 'VirtualService').map(({ metadata }) => metadata),
          hosts: [...before!.allServices(), ...after!.allServices()].map(({ host }) => host),
        });
        const [was, is] = [createRouter(before!), createRouter(after!)];
        const host = 'a.test';
        const isSame = ({ example: { request } }: (typeof changes)[number]): boolean =>
          changeText(was.decide(request), is.decide(request), host, before!.settings) === undefined;
        expect(changes.filter(isSame)).toEqual([]);
        const isRepeated = ({ headers }: (typeof questions)[number]): boolean =>
          Object.values(headers ?? {}).some((value) => typeof value !== 'string');
        const moved = questions
          .filter((each) => !isRepeated(each))
          .map(requestOf)
          .filter((each) => changeText(was.decide(each), is.decide(each), host, before!.settings) !== undefined);
        if (moved.length === 0 || isPartial) return;
        differing++;
        const ports = new Set(changes.map(({ example }) => example.request.port));
        expect(moved.filter(({ port }) => !ports.has(port))).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
  expect(differing).toBeGreaterThan(50);
});
