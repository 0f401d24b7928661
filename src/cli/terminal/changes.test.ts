import { expect, test } from 'vitest';
import type { FieldChange } from '../../controller/index.ts';
import { changeLines, countLine } from './changes.ts';

/** The lines for a change of one field. */
function linesOf(field: FieldChange): string[] {
  const change = {
    do: 'change',
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'a',
    fields: [field],
    by: ['you'],
  } as const;
  return changeLines([change], (_tone, text) => text).slice(1);
}

const LONG = 'every workload of the environment is ready, and so is all else that it asks for in this namespace';

test('changeLines shows the part in which two long texts differ', () => {
  const [line] = linesOf({ path: 'message', before: `${LONG}: one of two`, after: `${LONG}: two of two, and more` });
  expect(line).toBe(
    '    message: …s for in this namespace: one of two → …s for in this namespace: two of two, and more',
  );
  const [early] = linesOf({ path: 'message', before: `Not ${LONG}, and more`, after: `${LONG}, and more` });
  expect(early).toMatch(/^ {4}message: Not every .*… → every .*…$/);
});

test('changeLines shows the fields in which long lists differ', () => {
  const containers = (image: string): object[] => [{ name: 'app', image, args: [LONG] }];
  expect(linesOf({ path: 'containers', before: containers('a:1'), after: containers('a:2') })).toEqual([
    '    containers:',
    '      ~ [0].image: "a:1" → "a:2"',
  ]);
});

test('changeLines shows short values in full, and truncates long ones that are added or removed', () => {
  expect(linesOf({ path: 'a', before: ['x'], after: ['y'] })).toEqual(['    a: ["x"] → ["y"]']);
  expect(linesOf({ path: 'a', before: 'x', after: '' })).toEqual(['    a: x → ""']);
  expect(linesOf({ path: 'a', after: `${LONG}, and more` })).toEqual([`    a: ${LONG.padEnd(99, ', and')}…`]);
  expect(linesOf({ path: 'a', before: 'two\nlines' })).toEqual([String.raw`    a: "two\nlines" → (removed)`]);
});

test('changeLines prefers the readable text of a value', () => {
  const text = { after: 'x-env=pr-7 → reviews/pr-7' };
  expect(linesOf({ path: 'spec.http[a]', after: { match: [] }, text })).toEqual([
    '    spec.http[a]: x-env=pr-7 → reviews/pr-7',
  ]);
});

test('changeLines shows status-only changes last in one line each, and countLine counts them separately', () => {
  const about = { do: 'change', apiVersion: 'v1', kind: 'ConfigMap', by: ['you'] } as const;
  const changes = [
    { ...about, name: 'other', fields: [{ path: 'status.conditions[a].message', before: 'x' }] },
    { ...about, name: 'own', fields: [{ path: 'data.a', after: 'x' }] },
  ];
  expect(changeLines(changes, (_tone, text) => text)).toEqual([
    '~ ConfigMap own',
    '    data.a: x',
    '~ ConfigMap other: its status',
  ]);
  expect(countLine(changes)).toBe('0 to create, 1 to change, 0 to remove. 1 status follows.');
});
