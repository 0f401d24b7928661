import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { objectsOfManifests } from './world.ts';

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

test('manifests are read as an API server takes them, and kinds that only share a name are left out', () => {
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
  expect(objectsOfManifests(file, 'team')).toEqual([
    {
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'a', namespace: 'team' },
      spec: { hosts: ['a'], http: [] },
    },
  ]);
});

test.each([
  [
    'apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: a}\nspec:\n  hosts: reviews\n',
    /^--world .*world\.yaml:5:\d+: spec\.hosts must be a list, found "reviews"$/,
  ],
  ['kind: Service\nmetadata: {name: a}\n', /^--world .*world\.yaml:1:1: apiVersion is missing$/],
  ['a: [', /^--world .*world\.yaml:/],
  ['', /^--world .*world\.yaml: there is no object in it$/],
])('what can not be read is named with its place: %j', (text, message) => {
  expect(() => objectsOfManifests(fileWith(text), 'team')).toThrow(message);
});
