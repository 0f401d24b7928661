import { expect, test } from 'vitest';
import { withAnnotations } from './annotations.ts';
import type { KubeObject } from './objects.ts';

function annotated(annotations?: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...(annotations && { annotations }) } };
}

test.each([
  ['sets one and keeps those of others', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
  ['changes one', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
  ['removes one', { a: '1', b: '2' }, { a: undefined }, { b: '2' }],
  ['removes one that is null, as a merge patch does', { a: '1', b: '2' }, { a: null }, { b: '2' }],
  ['removes the last one', { a: '1' }, { a: undefined }, {}],
  ['sets the first one', undefined, { a: '1' }, { a: '1' }],
  ['creates no empty map where there was none', undefined, { a: undefined }, undefined],
])('withAnnotations %s', (_title, before, changes, after) => {
  expect(withAnnotations(annotated(before), changes)).toEqual(annotated(after));
});

test('withAnnotations sets them in a template without metadata', () => {
  const template: { readonly metadata?: object; readonly spec: string } = { spec: 'pod' };
  expect(withAnnotations(template, { a: '1' })).toEqual({ spec: 'pod', metadata: { annotations: { a: '1' } } });
});
