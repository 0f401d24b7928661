// The troubleshooting page has all reasons of all conditions. The types of conditions allow only reasons of the
// catalogues; these tests check that the catalogues have no unused reasons, and have all reasons in golden files.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CODES } from '../../src/routing/index.ts';
import { KUBERNETES_REASONS } from '../../src/environments/reasons.ts';
import { reasonTables, SECTIONS } from './reasons.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const CATALOGUES = /\/(reasons|codes)\.ts$|src\/mesh\/conditions\.ts$/;
/** Files with reasons that do not belong to conditions: findings, admission responses and test helpers. */
const OTHERS = /\/(doctor|admission|webhook|testing|forecast|plan|metrics)\/|\/validate\.ts$/;
/** Further sources of a room: environments report the results of proofs. */
const ALSO: Readonly<Record<string, string>> = { environments: 'src/traffic/prove/*.ts' };

function sourceOf(room: string): string {
  const files = globSync([`src/${room}/**/*.ts`, ...(ALSO[room] === undefined ? [] : [ALSO[room]])], { cwd: ROOT });
  return files
    .filter((file) => !file.endsWith('.test.ts') && !CATALOGUES.test(file) && !OTHERS.test(file))
    .map((file) => readFileSync(path.join(ROOT, file), 'utf8'))
    .join('\n');
}

const rooms = [...new Set(SECTIONS.map(({ room }) => room))];

describe.each(rooms)('the reasons of %s', (room) => {
  const sections = SECTIONS.filter((section) => section.room === room);
  const reasons = sections.flatMap(({ catalogue }) => Object.values(catalogue).flatMap((each) => Object.keys(each)));

  test('are all used by its controllers', () => {
    const source = sourceOf(room);
    expect(reasons.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
  });

  test('include all reasons that its source sets in conditions', () => {
    const given = [...sourceOf(room).matchAll(/reason: '([A-Z][A-Za-z]+)'/g)].filter(({ index, input }) => {
      const before = input.slice(Math.max(0, index - 80), index);
      return !/type: '(Normal|Warning)',\s*$/.test(before);
    });
    expect([...new Set(given.map(([, reason]) => reason!))].filter((reason) => !reasons.includes(reason))).toEqual([]);
  });

  test('have a meaning and advice in full sentences', () => {
    const entries = sections.flatMap(({ catalogue }) =>
      Object.values(catalogue).flatMap((each) => Object.values(each)),
    );
    for (const { meaning, advice } of entries) expect(`${meaning} ${advice}`.trimEnd()).toMatch(/^[A-Z`].*\.$/s);
  });
});

test('every condition in a golden file has a row', () => {
  const rows = reasonTables();
  const hasRow = (type: string, reason: string): boolean =>
    reason in CODES || rows.split('\n').some((row) => row.includes(`\`${type}\``) && row.includes(`| \`${reason}\` |`));
  const lines = globSync('src/**/testdata/**/*.out.yaml', { cwd: ROOT }).flatMap((file) => [
    ...readFileSync(path.join(ROOT, file), 'utf8').matchAll(
      /^ *- ['"]?(\w+)=(?:True|False|Unknown)(?: since \S+)? (\w+)/gm,
    ),
  ]);
  const seen = new Set(lines.map(([, type, reason]) => `${type} ${reason}`));
  expect(seen.size).toBeGreaterThan(30);
  const LIKE_READY = new Set(['Reconciling', 'Stalled']);
  const missing = [...seen].filter((each) => {
    // Past errors of an Environment stay in its conditions with the suffix Resolved.
    const [type, reason] = each.replace(/Resolved$/, '').split(' ') as [string, string];
    return (
      !hasRow(LIKE_READY.has(type) ? 'Ready' : type, reason) && !hasRow(type, reason) && !(reason in KUBERNETES_REASONS)
    );
  });
  expect(missing).toEqual([]);
});
