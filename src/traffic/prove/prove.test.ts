// Proofs by example: isolated environments, ways in which isolation fails, and cases that stay undecided.
import { describe, expect, test } from 'vitest';
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { KubeObject } from '../../kube/index.ts';
import { prove, worldOf } from '../index.ts';
import type { Proof } from '../index.ts';
import { withRoutes } from '../istio/insert-routes.ts';
import type { HttpRoute, VirtualService } from '../istio/objects.ts';
import { reviewsDeployment, reviewsService, reviewsSubsets } from '../testing/reviews.ts';
import { parseObjects } from '../../../test/support/parse-objects.ts';

const BASE = [
  reviewsService(),
  reviewsDeployment('reviews', 'shared'),
  reviewsDeployment('canary', 'canary'),
  reviewsSubsets('reviews', 'shared', 'canary'),
];
const CLONE = [reviewsDeployment('reviews-team-e', 'team-e'), reviewsSubsets('reviews-team-e', 'team-e')];
const HOST = 'reviews.shop.svc.cluster.local';
const KEY: readonly IstioMatch[] = [{ headers: { 'x-env': { exact: 'pr-7' } } }];
const shared = { destination: { host: 'reviews', subset: 'shared' } };
const canary = { destination: { host: 'reviews', subset: 'canary' } };
const all: readonly HttpRoute[] = [{ name: 'main', route: [shared] }];

function service(http: readonly HttpRoute[], spec: object = {}): VirtualService {
  return {
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'VirtualService',
    metadata: { name: 'reviews', namespace: 'shop' },
    spec: { hosts: ['reviews'], ...spec, http },
  };
}

/** The routes with those of an environment inserted. */
function inserted(http: readonly HttpRoute[], matches: readonly IstioMatch[] = KEY, version = 'team-e') {
  const insertion = {
    workload: { name: 'reviews', namespace: 'shop' },
    clone: `reviews-${version}`,
    hosts: [HOST],
    defaultVersion: 'shared',
    clusterDomain: 'cluster.local',
  };
  const wish = { owner: { version, taken: [] }, matches, insertions: [insertion], untouched: [] };
  return withRoutes(service(http), [wish]).http;
}

interface Given {
  readonly before?: readonly HttpRoute[];
  readonly after?: readonly HttpRoute[];
  readonly matches?: readonly IstioMatch[];
  readonly spec?: object;
  readonly others?: readonly KubeObject[];
  readonly steps?: number;
}

function proofOf({
  before = all,
  matches = KEY,
  after = inserted(before, matches),
  spec,
  others = [],
  steps,
}: Given): Proof {
  const world = [...BASE, ...others];
  return prove(
    worldOf([...world, service(before, spec)]),
    worldOf([...world, ...CLONE, service(after, spec)]),
    {
      version: 'team-e',
      matches,
      hosts: [HOST],
      workloads: [{ hosts: [HOST], defaultVersion: 'shared' }],
      virtualServices: [{ name: 'reviews', namespace: 'shop' }],
    },
    steps === undefined ? {} : { steps },
  );
}

describe('prove finds an environment isolated', () => {
  test('if its routes come before the base routes', () => {
    expect(proofOf({})).toMatchObject({ verdict: 'True', reason: 'Isolated' });
  });

  test('next to another environment, also for requests with both keys', () => {
    const other = inserted(all, [{ headers: { 'x-env': { prefix: 'pr-' } } }], 'team-other');
    expect(proofOf({ before: other })).toMatchObject({ verdict: 'True' });
    const first = [...inserted(all).slice(0, 1), ...other];
    expect(proofOf({ before: other, after: first })).toMatchObject({
      verdict: 'True',
      notes: expect.arrayContaining([expect.stringContaining('belongs to another environment')]) as unknown,
    });
  });

  test('if it matches by a regular expression on a header that base routes match too', () => {
    const before: HttpRoute[] = [
      { name: 'beta', match: [{ headers: { 'x-env': { regex: 'b.*' } } }], route: [canary] },
      { name: 'some', match: [{ headers: { 'x-env': { regex: '.*[0-9]' } } }], route: [shared] },
      ...all,
    ];
    expect(proofOf({ before, matches: [{ headers: { 'x-env': { regex: 'pr-[0-9]+' } } }] })).toMatchObject({
      verdict: 'True',
    });
  });

  test('and notes its intended effects', () => {
    const split = [
      {
        name: 'split',
        route: [
          { ...shared, weight: 75 },
          { ...canary, weight: 25 },
        ],
      },
    ];
    const { verdict, notes } = proofOf({ before: split });
    expect({ verdict, notes }).toEqual({
      verdict: 'True',
      notes: [
        `Service ${HOST} selects shop/Deployment/reviews-team-e: callers without a sidecar, and those on ports that are not HTTP, reach it by load balancing`,
        `route "split" of VirtualService shop/reviews: requests with the key never reach ${HOST} subset canary (25 %)`,
        'answers to requests with the key carry x-dynamic-env: reviews-team-e',
      ],
    });
  });
});

describe('prove finds an environment not isolated', () => {
  const own = inserted(all).slice(0, 1);

  test('if its route was appended instead of inserted, so no request reaches it', () => {
    const proof = proofOf({ after: [...all, ...own] });
    expect(proof).toMatchObject({ verdict: 'False', reason: 'CloneNotReached' });
    expect(proof.counterexample?.request).toMatchObject({ headers: { 'x-env': 'pr-7' } });
  });

  test('if its key replaced the condition of a base route on the same header', () => {
    const before: HttpRoute[] = [
      { name: 'beta', match: [{ headers: { 'x-env': { prefix: 'beta-' } } }], route: [shared], timeout: '3s' },
      { name: 'main', route: [canary] },
    ];
    const replaced = { ...before[0]!, ...own[0], timeout: '3s' };
    const proof = proofOf({ before, after: [replaced, ...before] });
    expect(proof).toMatchObject({ verdict: 'False', reason: 'OwnRequestsDiffer' });
    expect(proof.counterexample?.request).toMatchObject({ headers: { 'x-env': 'pr-7' } });
  });

  test('if it removed the routes of another environment with the same name prefix', () => {
    const before = inserted(all, [{ headers: { 'x-env': { exact: 'pr-70' } } }], 'team-e-2');
    const proof = proofOf({ before, after: inserted(all) });
    expect(proof).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
    expect(proof.counterexample).toMatchObject({
      request: { headers: { 'x-env': 'pr-70' } },
      before: { destinations: [{ subset: 'team-e-2' }] },
      after: { destinations: [{ subset: 'shared' }] },
    });
  });

  test('if its route matches more requests than its key', () => {
    const wider = [{ ...own[0]!, match: [{ headers: { 'x-env': { prefix: 'pr-7' } } }] }, ...all];
    const proof = proofOf({ after: wider });
    expect(proof).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
    const { request } = proof.counterexample!;
    expect(request.headers?.['x-env']).toMatch(/^pr-7./);
    expect(request).toMatchObject({ host: `${HOST}:9080`, port: 9080 });
  });

  test('if its route has another action than the base route', () => {
    const after = [{ ...own[0]!, rewrite: { uri: '/v2' } }, ...all];
    expect(proofOf({ after })).toMatchObject({ verdict: 'False', reason: 'OwnRequestsDiffer' });
  });

  test('if a base route has a destination without a subset', () => {
    const before: HttpRoute[] = [
      { name: 'plain', match: [{ uri: { prefix: '/plain' } }], route: [{ destination: { host: 'reviews' } }] },
      ...all,
    ];
    expect(proofOf({ before }).counterexample).toMatchObject({
      request: { path: '/plain' },
      before: { destinations: [{ workloads: ['shop/Deployment/canary', 'shop/Deployment/reviews'] }] },
      after: { destinations: [{ workloads: expect.arrayContaining(['shop/Deployment/reviews-team-e']) as unknown }] },
    });
  });

  test('if callers do not see the VirtualService, or use another host at a gateway', () => {
    const hidden = proofOf({ spec: { exportTo: ['.'] } });
    expect(hidden).toMatchObject({ verdict: 'False', reason: 'OtherRequestsMoved' });
    expect(hidden.counterexample?.request.source).not.toMatchObject({ namespace: 'shop' });
    const others = parseObjects(`
apiVersion: networking.istio.io/v1beta1
kind: Gateway
metadata: { name: edge, namespace: istio-system }
spec: { selector: { istio: edge }, servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ['*.example.com'] }] }
---
apiVersion: networking.istio.io/v1beta1
kind: VirtualService
metadata: { name: www, namespace: edge }
spec:
  hosts: [www.example.com]
  gateways: [istio-system/edge]
  http: [{ name: www, route: [{ destination: { host: ${HOST}, port: { number: 9080 } } }] }]
`);
    expect(proofOf({ others }).counterexample?.request).toMatchObject({
      host: 'www.example.com',
      source: { gateway: 'istio-system/edge' },
    });
  });
});

describe('prove does not decide', () => {
  test('about conditions that it cannot analyze', () => {
    const whole = { ':path': { regex: '/[a-z]+[?].*' } };
    const before = [{ name: 'whole', match: [{ headers: whole }], route: [canary] }, ...all];
    const after = [before[1]!, before[0]!];
    expect(proofOf({ before, after })).toMatchObject({
      verdict: 'Unknown',
      reason: 'Undecided',
      message: expect.stringContaining('route "whole" of VirtualService shop/reviews') as unknown,
    });
  });

  test('about routes that proxies refuse', () => {
    const after = [{ ...inserted(all)[0]!, match: [{ headers: { 'x-env': { regex: '(' } } }] }, ...all];
    expect(proofOf({ after })).toMatchObject({ verdict: 'Unknown', reason: 'RefusedByProxy' });
  });

  test('when it reaches the step limit', () => {
    expect(proofOf({ steps: 5 })).toMatchObject({ verdict: 'Unknown', reason: 'TooComplex' });
  });
});
