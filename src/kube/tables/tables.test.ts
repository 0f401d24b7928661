import { expect, test } from 'vitest';
import { defineKind } from '../objects.ts';
import { reading, Tables } from './tables.ts';

const Thing = defineKind('test.dev/v1', 'Thing', 'things');

test.each([
  [true, true, true],
  [true, false, false],
  [false, true, false],
])('a table is optional if it is to all who read it: %s, %s', (first, second, both) => {
  const tables = new Tables([reading(Thing, { optional: first }), reading(Thing, second ? { optional: true } : {})]);
  expect(tables.of(Thing).optional).toBe(both);
});

test('readers of one kind share its table with all their indexes, and must agree on the rest', () => {
  const byName = ({ metadata }: { metadata: { name: string } }): string[] => [metadata.name];
  const tables = new Tables([reading(Thing, { indexes: { a: byName } }), reading(Thing, { indexes: { b: byName } })]);
  const metadata = { name: 'x', namespace: 'n', uid: 'u', resourceVersion: '1' };
  tables.of(Thing).observe({ apiVersion: 'test.dev/v1', kind: 'Thing', metadata });
  expect(['a', 'b'].map((index) => tables.of(Thing).index(index, 'x').length)).toEqual([1, 1]);
  expect(() => new Tables([reading(Thing), reading(Thing, { namespace: 'n' })])).toThrow(
    'Thing is declared twice, with different versions, namespaces or selectors',
  );
});
