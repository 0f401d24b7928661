import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/objects.ts';
import { kubectlApply } from './kubectl-apply.ts';

const object = (spec: object, last?: string): KubeObject & { readonly spec: object } => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: {
    name: 'one',
    ...(last !== undefined && { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': last } }),
  },
  spec,
});

test('kubectlApply removes fields that are no longer in the file, and keeps those of others', () => {
  const last = JSON.stringify({ spec: { size: 'small', config: { a: 1, b: 2 }, list: [1, 2] } });
  const before = object({ size: 'small', config: { a: 1, b: 2, mine: 3 }, list: [1, 2], other: true }, last);
  expect(kubectlApply(object({ config: { b: 4 }, list: [2] }), before)).toMatchObject({
    patch: { type: 'merge', body: { spec: { size: null, config: { a: null, b: 4 }, list: [2] } } },
    fieldManager: 'kubectl-client-side-apply',
  });
});

test('kubectlApply keeps annotations of others, also if the file has none', () => {
  const last = JSON.stringify({ metadata: { annotations: { mine: '1' } }, spec: {} });
  expect(kubectlApply(object({}), object({}, last)).patch.body).toMatchObject({
    metadata: { annotations: { mine: null } },
  });
});

test.each([
  ['the object does not exist', undefined],
  ['kubectl did not create it', object({})],
  ['the annotation is not JSON', object({}, '{')],
  ['the annotation is not an object', object({}, '[]')],
])('kubectlApply uses server-side apply if %s', (_what, before) => {
  const desired = object({ size: 'large' });
  expect(kubectlApply(desired, before)).toEqual({
    patch: { type: 'apply', body: desired, force: true },
    fieldManager: 'kubectl',
  });
});
