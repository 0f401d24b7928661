import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { environmentsIn } from './check.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-files-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function write(text: string): string {
  const file = path.join(dir, 'env.yaml');
  writeFileSync(file, text);
  return file;
}

function manifest(metadata: string, spec: string): string {
  return `apiVersion: riskified.com/v1alpha1\nkind: DynamicEnv\nmetadata: ${metadata}\nspec: ${spec}\n`;
}

const VALID = '{istioMatches: [{headers: {a: {exact: b}}}], subsets: []}';

test('environmentsIn keeps the namespace of a manifest, or sets the current one', () => {
  const file = write(`${manifest('{name: one, namespace: web}', VALID)}---\n${manifest('{name: two}', VALID)}`);
  expect(environmentsIn([file], {}, 'shop').map(({ metadata }) => metadata)).toEqual([
    { name: 'one', namespace: 'web' },
    { name: 'two', namespace: 'shop' },
  ]);
});

test.each([
  [
    manifest('{name: a}', '{istioMatches: [], subsets: []}'),
    ':4:8: spec: Invalid value: []: empty IstioMatch is invalid',
  ],
  [
    manifest('{name: a}', '{istioMatches: [{headers: {a: {exact: 5}}}], subsets: []}'),
    ':4:38: spec.istioMatches[0].headers.a.exact: ',
  ],
  [manifest('{name: a}', '{istioMatches: [{headers: {a: {exact: b}}}]}'), ':4:1: spec.subsets: Required value'],
  [manifest('{name: a}', VALID.replace('{i', '{subset: [], i')), ':4:8: unknown field "spec.subset"'],
  [
    manifest('{name: a, namespace: web}', VALID),
    ':3:21: metadata.namespace is "web" and --namespace is "shop"; leave one out',
  ],
  [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\n',
    ':2:1: v1 ConfigMap is not an environment; use kubectl apply for it',
  ],
  ['# nothing\n', ': it contains no objects'],
])('environmentsIn rejects %j', (text, message) => {
  const file = write(text);
  expect(() => environmentsIn([file], { namespace: 'shop' }, 'shop')).toThrow(`-f ${file}${message}`);
});

test('environmentsIn reports all problems at once', () => {
  const file = write(manifest('{name: a}', '{istioMatches: [{headers: {a: {exact: 5}}}]}'));
  expect(() => environmentsIn([file], {}, 'shop')).toThrow(
    /^-f:\n {2}.*headers\.a\.exact.*\n {2}.*spec\.subsets: Required value$/,
  );
});
