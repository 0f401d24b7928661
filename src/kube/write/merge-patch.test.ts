import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonEqual } from '../../watchable/index.ts';
import { applyMergePatch } from '../../embedded/patch/index.ts';
import { createMergePatch } from './merge-patch.ts';

const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.integer(),
    fc.string({ maxLength: 3 }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { maxKeys: 4 }),
})).object;

test('the patch between two documents turns one into the other', () => {
  fc.assert(
    fc.property(document, document, (from, to) => {
      const patch = createMergePatch(from, to, jsonEqual);
      expect(patch === undefined ? from : applyMergePatch(from, patch)).toEqual(to);
    }),
  );
});

test('there is no patch between equal documents', () => {
  fc.assert(
    fc.property(document, (from) => {
      expect(createMergePatch(from, structuredClone(from), jsonEqual)).toBeUndefined();
    }),
  );
});

test('the patch has only what differs: a removed field is null, a list is replaced whole', () => {
  const from = { spec: { replicas: 1, paused: true, args: ['a', 'b'] }, kept: { deep: { x: 1 } } };
  const to = { spec: { replicas: 2, args: ['a'] }, kept: { deep: { x: 1 } } };
  expect(createMergePatch(from, to, jsonEqual)).toEqual({ spec: { replicas: 2, paused: null, args: ['a'] } });
});
