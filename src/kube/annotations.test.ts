import { expect, test } from 'vitest';
import { withAnnotations } from './annotations.ts';
import type { KubeObject } from './objects.ts';

function annotated(annotations?: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...(annotations && { annotations }) } };
}

test.each([
  ['sets one beside those of others', { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
  ['changes one', { a: '1', b: '2' }, { a: '3' }, { a: '3', b: '2' }],
  ['takes one away', { a: '1', b: '2' }, { a: undefined }, { b: '2' }],
  ['takes the last one away', { a: '1' }, { a: undefined }, {}],
  ['sets the first one', undefined, { a: '1' }, { a: '1' }],
  ['makes no empty map where there was none', undefined, { a: undefined }, undefined],
])('%s', (_title, before, changes, after) => {
  expect(withAnnotations(annotated(before), changes)).toEqual(annotated(after));
});
