import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isOfWorld } from '../../traffic/index.ts';
import { manifestsOf } from './world.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-world-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function fileWith(text: string): string {
  const file = path.join(dir, 'world.yaml');
  writeFileSync(file, text);
  return file;
}

test('manifests are read as by an API server, and kinds of other groups are left out', () => {
  const file = fileWith(`
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: a, namespace: null }
spec: { hosts: [a], gateways: null, http: [] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: b }
spec: { listeners: [] }
---
{ apiVersion: serving.knative.dev/v1, kind: Service, metadata: { name: c } }
`);
  expect(manifestsOf(file, 'team').filter(isOfWorld)).toEqual([
    {
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'a', namespace: 'team' },
      spec: { hosts: ['a'], http: [] },
    },
  ]);
});

const ENVIRONMENT = `apiVersion: riskified.com/v1alpha1
kind: DynamicEnv
metadata: {name: a}
`;

test('required status fields are defaulted in hand-written manifests', () => {
  const file = fileWith(`${ENVIRONMENT}spec: {key: a, subsets: []}\nstatus: {state: ready}\n`);
  expect(manifestsOf(file, 'team')).toMatchObject([{ status: { state: 'ready', subsetsStatus: {}, totalReady: 0 } }]);
});

test.each([
  [
    `${ENVIRONMENT}spec: {key: a, subsets: []}\nstatus:\n  subsetsStatus:\n    shop/cart: {}\n`,
    /^--world .*world\.yaml:7:\d+: status\.subsetsStatus\.shop\/cart\.deployment: Required value$/,
  ],
  [
    `${ENVIRONMENT}spec:\n  subsets: cart\n`,
    /^--world .*world\.yaml:5:\d+: spec\.subsets: must be a list, and is "cart"/,
  ],
  [
    'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: {}\n',
    /^--world .*world\.yaml:5:\d+: spec\.containers must be a list, found \{\}$/,
  ],
  [
    'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  hosts: reviews\n',
    /^--world .*world\.yaml:5:\d+: spec\.hosts must be a list, found "reviews"$/,
  ],
  ['kind: Service\nmetadata: {name: a}\n', /^--world .*world\.yaml:1:1: apiVersion is missing$/],
  ['a: [', /^--world .*world\.yaml:/],
  ['', /^--world .*world\.yaml: it contains no objects$/],
])('manifestsOf names the position of an error: %j', (text, message) => {
  expect(() => manifestsOf(fileWith(text), 'team')).toThrow(message);
});
