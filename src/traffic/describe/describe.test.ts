import { describe, expect, test } from 'vitest';
import {
  callersIn,
  consideredData,
  consideredLines,
  createRouter,
  decisionData,
  decisionLines,
  differences,
  whyNot,
  worldOf,
} from '../index.ts';
import type { Decision, Expectation, Request } from '../index.ts';
import { reviewsDeployment, reviewsService, reviewsSubsets } from '../testing/reviews.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

const ROUTES = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: shop, creationTimestamp: '2026-01-01T00:00:00Z' }
spec:
  hosts: [reviews]
  http:
    - name: gone
      match: [{ uri: { exact: /gone } }]
      route: [{ destination: { host: reviews, subset: missing } }]
    - name: dynamic-environment-shop-pr-7-reviews-0123456789
      match: [{ headers: { x-env: { exact: pr-7 } }, uri: { prefix: /api } }]
      route: [{ destination: { host: reviews, subset: shop-pr-7 } }]
    - match: [{ method: { exact: POST } }]
      route:
        - { destination: { host: reviews, subset: shared }, weight: 75 }
        - { destination: { host: reviews, subset: shop-pr-7 }, weight: 25 }
    - { name: moved, match: [{ queryParams: { to: { regex: '[a-z]+' } } }], redirect: { uri: /new } }
    - { name: web, match: [{ sourceLabels: { app: web }, sourceNamespace: shop }], directResponse: { status: 204 } }
    - { name: plain, match: [{ withoutHeaders: { x-skip: {} } }], route: [{ destination: { host: reviews, subset: shared } }] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: late, namespace: shop, creationTimestamp: '2026-01-02T00:00:00Z' }
spec:
  hosts: [reviews]
  http:
    - name: dynamic-environment-shop-pr-8-reviews-0123456789
      route: [{ destination: { host: reviews, subset: shop-pr-8 } }]
`;
const workloads = [
  reviewsService([
    { name: 'http', port: 80 },
    { name: 'tcp-admin', port: 9090 },
  ]),
  reviewsDeployment('reviews', 'shared'),
  reviewsDeployment('reviews-shop-pr-7', 'shop-pr-7'),
  reviewsSubsets('reviews', 'shared', 'shop-pr-7'),
];
const objects = [...workloads, ...parseObjects(ROUTES)];
const router = createRouter(worldOf(objects));

function asked(request: Partial<Request> = {}): Request {
  return { host: 'reviews.shop', port: 80, path: '/', source: { namespace: 'shop' }, ...request };
}
const decide = (request: Partial<Request> = {}): Decision => router.decide(asked(request));

describe('decisionData', () => {
  test('names the route, its destinations and the workloads that answer there', () => {
    expect(decisionData(decide({ path: '/api', headers: { 'x-env': 'pr-7' } }))).toMatchObject({
      kind: 'route',
      virtualService: 'shop/reviews',
      route: 'dynamic-environment-shop-pr-7-reviews-0123456789',
      superseded: ['shop/late'],
      destinations: [
        {
          host: 'reviews.shop.svc.cluster.local',
          subset: 'shop-pr-7',
          port: 80,
          weight: 100,
          workloads: ['shop/Deployment/reviews-shop-pr-7'],
        },
      ],
    });
  });

  test.each<[string, Partial<Request>, object]>([
    ['a route without a name by its index', { method: 'POST' }, { kind: 'route', route: 'http[2]' }],
    ['a destination without endpoints by its status', { path: '/gone' }, { kind: 'route', status: 503 }],
    ['a redirect', { path: '/?to=x' }, { kind: 'redirect', status: 301, location: 'http://reviews.shop/new?to=x' }],
    [
      'an answer of the proxy',
      { source: { namespace: 'shop', labels: { app: 'web' } } },
      { kind: 'response', status: 204, reason: 'DirectResponse' },
    ],
    ['no route', { headers: { 'x-skip': '1' } }, { kind: 'response', status: 404, reason: 'NoRoute' }],
    ['an unknown host', { host: 'nowhere' }, { kind: 'passthrough', reason: 'UnknownHost', destinations: [] }],
  ])('reports %s', (_what, request, data) => {
    expect(decisionData(decide(request))).toMatchObject(data);
  });

  test('consideredData lists every rule that was evaluated, with why it did not match', () => {
    const { considered } = decide({ path: '/api?to=7', headers: { 'x-env': ['a', 'b'], 'x-skip': '' } });
    expect(consideredData(considered)).toMatchObject([
      { virtualService: 'shop/reviews', route: 'gone', matched: false, reason: 'path is "/api", not "/gone"' },
      {
        matched: false,
        reason: 'header x-env is "a" and "b", not "pr-7"',
        mismatch: { on: 'header', wanted: { name: 'x-env', value: { exact: 'pr-7' } }, found: ['a', 'b'] },
      },
      { route: 'http[2]', reason: 'method is "GET", not "POST"' },
      { route: 'moved', reason: 'query parameter to is "7" and does not match regex "[a-z]+"' },
      { route: 'web', reason: 'it is for callers in namespace shop with the label app=web' },
      { route: 'plain', reason: 'header x-skip is "" and must not be there' },
    ]);
    expect(consideredData(decide({ path: '/api' }).considered)).toMatchObject([
      { route: 'gone' },
      { reason: 'header x-env is missing and must be "pr-7"' },
      {},
      { reason: 'query parameter to is missing and must match regex "[a-z]+"' },
      {},
      { route: 'plain', matched: true },
    ]);
  });
});

describe('decisionLines', () => {
  test.each<[Partial<Request>, string[]]>([
    [
      {},
      [
        '→ reviews.shop.svc.cluster.local:80, subset shared: shop/Deployment/reviews',
        'by route "plain" of VirtualService shop/reviews',
      ],
    ],
    [
      { method: 'POST' },
      [
        '→ 75% reviews.shop.svc.cluster.local:80, subset shared: shop/Deployment/reviews',
        '→ 25% reviews.shop.svc.cluster.local:80, subset shop-pr-7: shop/Deployment/reviews-shop-pr-7',
        'by route http[2] of VirtualService shop/reviews',
      ],
    ],
    [
      { path: '/gone' },
      [
        'is answered with 503: no destination can answer',
        '→ reviews.shop.svc.cluster.local:80, subset missing: 503, as no DestinationRule has this subset',
        'by route "gone" of VirtualService shop/reviews',
      ],
    ],
    [{ headers: { 'x-skip': '1' } }, ['is answered with 404, as no route of the VirtualService takes the request']],
    [{ port: 9090 }, ['passes through: the port is not HTTP, so no route applies']],
    [{ host: 'nowhere' }, ['passes through to where it is addressed: the mesh knows no such host on this port']],
  ])('describes the decision about %j', (request, lines) => {
    expect(decisionLines(decide(request))).toEqual(lines);
  });

  test('consideredLines lists the rules, and the VirtualServices that are ignored', () => {
    expect(consideredLines(decide({ path: '/api', headers: { 'x-env': 'pr-7' } }))).toEqual([
      '✗ route "gone" of VirtualService shop/reviews: path is "/api", not "/gone"',
      '✓ route "dynamic-environment-shop-pr-7-reviews-0123456789" of VirtualService shop/reviews: takes the request',
      '- VirtualService shop/late is ignored: another one comes first for this host',
    ]);
  });
});

describe('whyNot', () => {
  const why = (version: string, request: Partial<Request>, by = router): unknown => {
    const { source, host, port } = asked(request);
    return whyNot(version, asked(request), by.decide(asked(request)), by.rulesFor(source, host, port), objects);
  };
  const own = { virtualService: 'shop/reviews', route: 'dynamic-environment-shop-pr-7-reviews-0123456789' };

  test('says so if the environment gets the request', () => {
    expect(why('shop-pr-7', { path: '/api', headers: { 'x-env': 'pr-7' } })).toEqual({ gets: true, rules: [] });
  });
  test('gives the condition that failed if its route does not match', () => {
    const reason = 'path is "/" and does not start with "/api"';
    expect(why('shop-pr-7', { headers: { 'x-env': 'pr-7' } })).toEqual({ gets: false, rules: [{ ...own, reason }] });
  });
  test('names the earlier route that takes the request', () => {
    const reason = 'route "gone" of VirtualService shop/reviews takes the request before';
    const both = createRouter(worldOf([...workloads, ...parseObjects(ROUTES.replace('prefix: /api', 'prefix: /g'))]));
    const request = { path: '/gone', headers: { 'x-env': 'pr-7' } };
    expect(why('shop-pr-7', request, both)).toEqual({ gets: false, rules: [{ ...own, reason }] });
    const unmatched = 'header x-env is missing and must be "pr-7"';
    expect(why('shop-pr-7', { path: '/gone' }, both)).toEqual({ gets: false, rules: [{ ...own, reason: unmatched }] });
  });
  test('says that the VirtualService of its route is ignored', () => {
    expect(why('shop-pr-8', {})).toMatchObject({
      rules: [{ reason: 'its VirtualService is ignored: another one comes first for this host' }],
    });
  });
  test('names the VirtualServices of its routes if none is for the host', () => {
    expect(why('shop-pr-7', { host: 'nowhere' })).toEqual({
      gets: false,
      rules: [],
      reason:
        'it has no route for this host and port that applies to the caller; its routes are in VirtualService shop/reviews',
    });
  });
  test('says that it has no route at all', () => {
    expect(why('shop-pr-9', {})).toMatchObject({ reason: 'it has no route in any VirtualService' });
  });
});

test.each<[Expectation, Partial<Request>, string[]]>([
  [{ workload: 'shop/reviews', subset: 'shared', status: null }, {}, []],
  [{ workload: 'shop/Deployment/reviews' }, {}, []],
  [
    { workload: 'shop/reviews' },
    { method: 'POST' },
    ['workload: expected shop/reviews, found shop/Deployment/reviews, shop/Deployment/reviews-shop-pr-7'],
  ],
  [{ subset: 'shop-pr-7' }, {}, ['subset: expected shop-pr-7, found shared']],
  [{ status: 503 }, { path: '/gone' }, []],
  [{ status: 204 }, {}, ['status: expected 204, found none of the proxy (the workload answers)']],
  [
    { status: 200 },
    { host: 'nowhere' },
    ['status: expected 200, found none: the proxy passes the request on without an answer of its own'],
  ],
  [
    { workload: 'shop/reviews', status: 503 },
    { headers: { 'x-skip': '1' } },
    [
      'workload: expected shop/reviews, found none: it is answered with 404, as no route of the VirtualService takes the request',
      'status: expected 503, found 404',
    ],
  ],
])('differences between the expectation %j and the decision about %j', (expectation, request, found) => {
  expect(differences(expectation, decide(request))).toEqual(found);
});

test('callersIn finds workloads, with the labels of their pods', () => {
  const callers = callersIn(objects);
  const reviews = { namespace: 'shop', labels: { app: 'reviews', version: 'shared' } };
  expect([callers.get('shop/reviews'), callers.get('shop/Deployment/reviews')]).toEqual([reviews, reviews]);
  expect(callers.get('shop/late')).toBeUndefined();
});
