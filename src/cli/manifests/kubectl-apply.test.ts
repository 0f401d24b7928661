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

test('what the last file had and this one has not is removed, and what others wrote stays', () => {
  const last = JSON.stringify({ spec: { size: 'small', config: { a: 1, b: 2 }, list: [1, 2] } });
  const before = object({ size: 'small', config: { a: 1, b: 2, mine: 3 }, list: [1, 2], other: true }, last);
  expect(kubectlApply(object({ config: { b: 4 }, list: [2] }), before)).toMatchObject({
    patch: { type: 'merge', body: { spec: { size: null, config: { a: null, b: 4 }, list: [2] } } },
    fieldManager: 'kubectl-client-side-apply',
  });
});

test('annotations of others stay, also when the file has none', () => {
  const last = JSON.stringify({ metadata: { annotations: { mine: '1' } }, spec: {} });
  expect(kubectlApply(object({}), object({}, last)).patch.body).toMatchObject({
    metadata: { annotations: { mine: null } },
  });
});

test.each([
  ['there is nothing yet', undefined],
  ['somebody else made it', object({})],
  ['the annotation is none', object({}, '{')],
  ['the annotation is no object', object({}, '[]')],
])('the file is applied by the server where %s', (_what, before) => {
  const wanted = object({ size: 'large' });
  expect(kubectlApply(wanted, before)).toEqual({
    patch: { type: 'apply', body: wanted, force: true },
    fieldManager: 'kubectl',
  });
});
