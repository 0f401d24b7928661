import { expect, test } from 'vitest';
import type { Paint } from './colour.ts';
import { age, TablePrinter } from './table.ts';
import type { Column } from './table.ts';

interface Row {
  readonly name: string;
  readonly status: string;
}
const columns: readonly Column<Row>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'STATUS', cell: ({ status }) => status, state: true },
  { heading: 'AGE', cell: () => '5s' },
];

test('TablePrinter fits columns to their widest cell, and does not pad the last one', () => {
  expect(
    new TablePrinter(columns).lines([
      { name: 'a', status: 'processing' },
      { name: 'long-name', status: 'ready' },
    ]),
  ).toEqual(['NAME        STATUS       AGE', 'a           processing   5s', 'long-name   ready        5s']);
});

test('TablePrinter prints later rows with the same widths and without headings', () => {
  const table = new TablePrinter(columns);
  table.lines([{ name: 'first', status: 'ready' }]);
  expect(
    table.lines([
      { name: 'b', status: 'ready' },
      { name: 'much-longer', status: 'ready' },
    ]),
  ).toEqual(['b       ready    5s', 'much-longer   ready    5s']);
});

test('TablePrinter marks empty cells, replaces line breaks, and counts wide characters double', () => {
  expect(
    new TablePrinter(columns).lines([
      { name: '', status: 'a\nb' },
      { name: '環境', status: 'x' },
    ]),
  ).toEqual(['NAME     STATUS   AGE', '<none>   a b      5s', '環境     x        5s']);
});

test('TablePrinter colours the word and not the padding', () => {
  const paint: Paint = (tone, text) => `<${tone}:${text}>`;
  const [, line] = new TablePrinter(columns, { paint }).lines([{ name: 'a', status: 'ready' }]);
  expect(line).toBe('a      <good:ready>    5s');
});

test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [125, '2m5s'],
  [3_599, '59m'],
  [3 * 3_600 + 60, '3h1m'],
  [9 * 3_600, '9h'],
  [3 * 86_400, '3d'],
  [3 * 86_400 + 3_600, '3d1h'],
  [400 * 86_400, '400d'],
  [800 * 86_400, '2y70d'],
])('age of %i seconds is %s', (seconds, expected) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(age(new Date(now - seconds * 1000).toISOString(), now)).toBe(expected);
});

test('age handles a missing time and clock skew', () => {
  expect(age(undefined, 0)).toBe('<unknown>');
  expect(age('2026-01-01T00:00:10Z', Date.parse('2026-01-01T00:00:00Z'))).toBe('0s');
});

test('TablePrinter without headings fits columns to the cells', () => {
  expect(new TablePrinter(columns, { headings: false }).lines([{ name: 'a', status: 'ready' }])).toEqual([
    'a   ready   5s',
  ]);
});
