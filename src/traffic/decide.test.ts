// Decisions by example. TLS, non-HTTP ports and external hosts are tested only here: a mesh on loopback has none.
import { describe, expect, test } from 'vitest';
import { createRouter, worldOf } from './index.ts';
import type { Decision, MeshSettings, Request } from './index.ts';
import { reviewsDeployment, reviewsService, reviewsSubsets } from './testing/reviews.ts';
import { parseObjects } from '../../test/support/parse-objects.ts';

const SHOP = [
  reviewsService([
    { name: 'http', port: 9080 },
    { name: 'tcp-admin', port: 9090 },
  ]),
  reviewsDeployment('reviews-v1', 'v1'),
  reviewsDeployment('reviews-v2', 'v2'),
  reviewsSubsets('reviews', 'v1', 'v2', 'v3'),
  ...parseObjects(`
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: reviews, namespace: shop, creationTimestamp: '2026-01-01T00:00:00Z' }
spec:
  hosts: [reviews]
  http:
    - name: canary
      match: [{ headers: { x-env: { exact: pr-7 } }, uri: { prefix: /api } }]
      route: [{ destination: { host: reviews, subset: v2 } }]
      rewrite: { uri: /v2 }
      timeout: 3s
      retries: { attempts: 1, retryOn: 5xx, perTryTimeout: 1s }
      mirror: { host: reviews, subset: v3 }
      mirrorPercentage: { value: 10 }
    - name: split
      match: [{ method: { exact: POST } }]
      route:
        - { destination: { host: reviews, subset: v1 }, weight: 75 }
        - { destination: { host: reviews, subset: v2 }, weight: 25 }
        - { destination: { host: reviews, subset: v3 }, weight: 0 }
    - { name: gone, match: [{ uri: { exact: /gone } }], route: [{ destination: { host: reviews, subset: v9 } }] }
    - { name: empty, match: [{ uri: { exact: /empty } }], route: [{ destination: { host: reviews, subset: v3 } }] }
    - { name: lost, match: [{ uri: { exact: /lost } }], route: [{ destination: { host: nowhere } }] }
    - { name: faulty, match: [{ uri: { exact: /faulty } }], fault: { abort: { httpStatus: 418, percentage: { value: 50 } } }, directResponse: { status: 200 } }
    - { name: refused, match: [{ uri: { regex: '(' } }], directResponse: { status: 200 } }
    - { name: rest, match: [{ sourceNamespace: shop }], route: [{ destination: { host: reviews, subset: v1 } }] }
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: later, namespace: shop, creationTimestamp: '2026-01-02T00:00:00Z' }
spec: { hosts: [reviews], http: [{ directResponse: { status: 204 } }] }
`),
];

const EDGE = `
apiVersion: networking.istio.io/v1beta1
kind: Gateway
metadata: { name: edge, namespace: istio-system }
spec:
  selector: { istio: edge }
  servers:
    - { port: { number: 80, name: http, protocol: HTTP }, hosts: ['*.example.com'], tls: { httpsRedirect: true } }
    - { port: { number: 443, name: a, protocol: HTTPS }, hosts: ['a.example.com'], tls: { mode: SIMPLE } }
    - { port: { number: 443, name: b, protocol: HTTPS }, hosts: ['*.example.com'], tls: { mode: SIMPLE } }
    - { port: { number: 15443, name: tls, protocol: TLS }, hosts: ['*'], tls: { mode: PASSTHROUGH } }
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: all, namespace: shop }
spec: { hosts: ['*.example.com'], gateways: [istio-system/edge], http: [{ directResponse: { status: 201 } }] }
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: b, namespace: shop }
spec: { hosts: ['b.example.com'], gateways: [istio-system/edge], http: [{ match: [{ scheme: { exact: https } }], directResponse: { status: 202 } }] }
---
apiVersion: networking.istio.io/v1beta1
kind: ServiceEntry
metadata: { name: out, namespace: shop }
spec: { hosts: [api.example.org, '*.example.net'], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }
`;

function ask(request: Partial<Request>, settings: Partial<MeshSettings> = {}): Decision {
  const router = createRouter(worldOf([...SHOP, ...parseObjects(EDGE)], settings));
  return router.decide({
    host: 'reviews',
    port: 9080,
    path: '/',
    source: { namespace: 'shop', labels: { app: 'web' } },
    ...request,
  });
}

const considered = (decision: Decision): readonly (readonly [string, string])[] =>
  decision.considered.map(({ rule, mismatch }) => [rule.name, mismatch?.on ?? 'fits']);

describe('a request in the mesh', () => {
  test('goes to the workloads of the first route that matches, with its rewrite, timeout, retries and mirror', () => {
    const decision = ask({ path: '/api/1?q=1', headers: { 'x-env': 'pr-7' } });
    expect(decision).toMatchObject({
      kind: 'route',
      rule: { virtualService: 'shop/reviews', name: 'canary', index: 0 },
      destinations: [
        {
          host: 'reviews.shop.svc.cluster.local',
          subset: 'v2',
          port: 9080,
          weight: 100,
          outcome: 'Reached',
          workloads: ['shop/Deployment/reviews-v2'],
        },
      ],
      path: '/v2/1?q=1',
      timeout: '3s',
      retries: { attempts: 1, on: '5xx', perTryTimeout: '1s' },
      mirrors: [{ subset: 'v3', percentage: 10, outcome: 'NoEndpoints' }],
    });
    expect(decision).not.toHaveProperty('status');
    expect(decision.superseded).toEqual(['shop/later']);
    expect(considered(decision)).toEqual([['canary', 'fits']]);
  });

  test('is split by weight, and destinations with weight zero get nothing', () => {
    const decision = ask({ method: 'POST' });
    const shares = decision.kind === 'route' && decision.destinations.map(({ subset, weight }) => [subset, weight]);
    expect(shares).toEqual([
      ['v1', 75],
      ['v2', 25],
    ]);
  });

  test.each([
    ['/gone', 'MissingSubset'],
    ['/empty', 'NoEndpoints'],
    ['/lost', 'UnknownHost'],
  ])('gets 503 if no workload can answer: %s (%s)', (path, outcome) => {
    expect(ask({ path })).toMatchObject({ kind: 'route', status: 503, destinations: [{ outcome }] });
  });

  test('reports a fault that affects some requests', () => {
    expect(ask({ path: '/faulty' })).toMatchObject({
      kind: 'response',
      status: 200,
      fault: { abort: { status: 418, percentage: 50 } },
    });
  });

  test('lists each rule that does not match, and the condition that failed', () => {
    const decision = ask({ headers: { 'x-env': 'pr-8' }, path: '/api' });
    expect(considered(decision)).toEqual([
      ['canary', 'header'],
      ['split', 'header'],
      ['gone', 'path'],
      ['empty', 'path'],
      ['lost', 'path'],
      ['faulty', 'path'],
      ['refused', 'refused'],
      ['rest', 'fits'],
    ]);
    expect(decision.considered[0]?.mismatch).toEqual({
      on: 'header',
      wanted: { name: 'x-env', value: { exact: 'pr-7' }, negated: false },
      found: ['pr-8'],
    });
  });

  test('gets 404 if the caller has routes for the host but none matches', () => {
    const source = { namespace: 'other' };
    const decision = ask({ host: 'reviews.shop', source });
    expect(decision).toMatchObject({ kind: 'response', reason: 'NoRoute', status: 404 });
    expect(considered(decision).at(-1)).toEqual(['rest', 'source']);
  });

  test('is passed through if the port is not HTTP or the host is unknown', () => {
    expect(ask({ port: 9090 })).toMatchObject({ kind: 'passthrough', reason: 'NotHttp' });
    expect(ask({ host: 'reviews', source: { namespace: 'other' } })).toMatchObject({
      kind: 'passthrough',
      reason: 'UnknownHost',
    });
    expect(ask({ host: 'unknown' }, { outboundTrafficPolicy: 'REGISTRY_ONLY' })).toMatchObject({
      kind: 'response',
      reason: 'BlackHole',
      status: 502,
    });
  });

  test.each(['api.example.org', 'deep.down.example.net'])('goes outside to %s', (host) => {
    expect(ask({ host, port: 80 })).toMatchObject({ kind: 'route', destinations: [{ outcome: 'External' }] });
  });

  test('can be routed to a host of its own namespace that is exported to nobody', () => {
    const hidden = `
apiVersion: networking.istio.io/v1beta1
kind: ServiceEntry
metadata: { name: hidden, namespace: shop }
spec: { hosts: [hidden.test], ports: [{ number: 9080, name: http, protocol: HTTP }], resolution: DNS, exportTo: ['~'] }
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: first, namespace: shop, creationTimestamp: '2025-01-01T00:00:00Z' }
spec: { hosts: [reviews], http: [{ route: [{ destination: { host: hidden.test } }] }] }
`;
    const router = createRouter(worldOf([...SHOP, ...parseObjects(hidden)]));
    const request = { host: 'reviews.shop', port: 9080, path: '/' };
    const outcomes = ['shop', 'other'].map((namespace) => {
      const decision = router.decide({ ...request, source: { namespace } });
      return decision.kind === 'route' && decision.destinations[0]!.outcome;
    });
    expect(outcomes).toEqual(['External', 'UnknownHost']);
  });

  test('finds services under another cluster domain', () => {
    expect(ask({ host: 'reviews.shop.svc.corp.local' }, { clusterDomain: 'corp.local' })).toMatchObject({
      destinations: [{ host: 'reviews.shop.svc.corp.local', subset: 'v1' }],
    });
  });
});

describe('a request at a gateway', () => {
  const source = { gateway: 'istio-system/edge' };

  test('is redirected to HTTPS if the server has httpsRedirect', () => {
    const decision = ask({ source, host: 'b.example.com:80', port: 80, path: '/x?y=1' });
    expect(decision).toMatchObject({ kind: 'redirect', status: 301, location: 'https://b.example.com/x?y=1' });
    expect(ask({ source, host: 'c.example.com', port: 80 })).toMatchObject({ kind: 'redirect', status: 301 });
  });

  test('goes to the TLS server for its host name, and to the VirtualService with the most specific host', () => {
    const https = { source, port: 443, scheme: 'https' };
    expect(ask({ ...https, host: 'b.example.com' })).toMatchObject({ status: 202 });
    expect(ask({ ...https, host: 'a.example.com' })).toMatchObject({ status: 201 });
    expect(ask({ ...https, host: 'b.example.com', scheme: 'http' })).toMatchObject({ reason: 'NoRoute', status: 404 });
    expect(ask({ ...https, host: 'example.org' })).toMatchObject({ reason: 'NoListener', status: 0 });
    expect(ask({ ...https, host: 'a.example.com', port: 15_443 })).toMatchObject({ reason: 'NoListener' });
  });
});
