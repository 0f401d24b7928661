import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { apiVersionOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { worldKinds } from './world-objects.ts';
import { worldProblem } from './world-shape.ts';

function problemOf(kind: string, fields: string): unknown {
  const known = worldKinds.find((each) => each.kind === kind);
  const apiVersion = known === undefined ? 'v1' : apiVersionOf(known);
  return worldProblem({ apiVersion, kind, metadata: { name: 'a' }, ...(parse(fields) as object) });
}

test.each([
  ['VirtualService', 'spec: { hosts: reviews }', 'spec.hosts must be a list, found "reviews"', ['spec', 'hosts']],
  ['VirtualService', 'spec: [http]', 'spec must be an object, found ["http"]', ['spec']],
  [
    'VirtualService',
    'spec: { http: [{}, { match: [{ headers: { x-env: pr-7 } }] }] }',
    'spec.http[1].match[0].headers.x-env must be an object, found "pr-7"',
    ['spec', 'http', 1, 'match', 0, 'headers', 'x-env'],
  ],
  [
    'VirtualService',
    'spec: { http: [{ route: [{ weight: "50" }] }] }',
    'spec.http[0].route[0].weight must be a number, found "50"',
    ['spec', 'http', 0, 'route', 0, 'weight'],
  ],
  [
    'VirtualService',
    'spec: { tls: [{ route: [{ destination: cart }] }] }',
    'spec.tls[0].route[0].destination must be an object, found "cart"',
    ['spec', 'tls', 0, 'route', 0, 'destination'],
  ],
  ['VirtualService', 'spec: { tcp: {} }', 'spec.tcp must be a list, found {}', ['spec', 'tcp']],
  ['DestinationRule', 'spec: { subsets: {} }', 'spec.subsets must be a list, found {}', ['spec', 'subsets']],
  ['Service', 'spec: { selector: { v: 1 } }', 'spec.selector.v must be a string, found 1', ['spec', 'selector', 'v']],
  ['Pod', 'metadata: { labels: [] }', 'metadata.labels must be an object, found []', ['metadata', 'labels']],
])('worldProblem names a field of the wrong type: %s %s', (kind, fields, message, at) => {
  expect(problemOf(kind, fields)).toEqual({ at, message });
});

test.each([
  ['VirtualService', 'spec: { hosts: [a], http: [{ match: [{ headers: { x: {} } }], corsPolicy: 7 }] }'],
  ['Sidecar', 'spec:'],
  ['Whatever', 'spec: 7'],
])('worldProblem accepts any value in fields that are not read: %s %s', (kind, fields) => {
  expect(problemOf(kind, fields)).toBeUndefined();
});

test('worldProblem ignores a kind with the same name in another group', () => {
  const apiVersion = 'gateway.networking.k8s.io/v1';
  expect(
    worldProblem({ apiVersion, kind: 'Gateway', metadata: { name: 'a' }, spec: { servers: 7 } } as KubeObject),
  ).toBe(undefined);
});
