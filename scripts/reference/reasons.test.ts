// The page on troubleshooting has every reason of every condition. The types of conditions allow only those of the
// catalogues; here it is seen that these have none too many, and that what the controllers wrote into golden files is
// there.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { CODES } from '../../src/routing/index.ts';
import { KUBERNETES_REASONS } from '../../src/environments/reasons.ts';
import { reasonTables, SECTIONS } from './reasons.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const CATALOGUES = /\/(reasons|codes)\.ts$|src\/mesh\/conditions\.ts$/;
/** What has reasons that are not of conditions: findings, refusals of admission, and worlds of tests. */
const OTHERS = /\/(doctor|admission|webhook|testing|forecast|plan|metrics)\/|\/validate\.ts$/;
/** Proofs are made there, and told by environments. */
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

  test('are all given by its controllers', () => {
    const source = sourceOf(room);
    expect(reasons.filter((reason) => !source.includes(`'${reason}'`))).toEqual([]);
  });

  test('are all that its source gives to a condition', () => {
    const given = [...sourceOf(room).matchAll(/reason: '([A-Z][A-Za-z]+)'/g)].filter(({ index, input }) => {
      const before = input.slice(Math.max(0, index - 80), index);
      return !/type: '(Normal|Warning)',\s*$/.test(before);
    });
    expect([...new Set(given.map(([, reason]) => reason!))].filter((reason) => !reasons.includes(reason))).toEqual([]);
  });

  test('say what to do, or that all is well', () => {
    const entries = sections.flatMap(({ catalogue }) =>
      Object.values(catalogue).flatMap((each) => Object.values(each)),
    );
    for (const { meaning, advice } of entries) expect(`${meaning} ${advice}`.trimEnd()).toMatch(/^[A-Z`].*\.$/s);
  });
});

test('every condition in a golden file has its row', () => {
  const rows = reasonTables();
  const told = (type: string, reason: string): boolean =>
    reason in CODES || rows.split('\n').some((row) => row.includes(`\`${type}\``) && row.includes(`| \`${reason}\` |`));
  const lines = globSync('src/**/testdata/**/*.out.yaml', { cwd: ROOT }).flatMap((file) => [
    ...readFileSync(path.join(ROOT, file), 'utf8').matchAll(
      /^ *- ['"]?(\w+)=(?:True|False|Unknown)(?: since \S+)? (\w+)/gm,
    ),
  ]);
  const seen = new Set(lines.map(([, type, reason]) => `${type} ${reason}`));
  expect(seen.size).toBeGreaterThan(30);
  const LIKE_READY = new Set(['Reconciling', 'Stalled']);
  const untold = [...seen].filter((each) => {
    // What was wrong with an Environment stays told as something that is over.
    const [type, reason] = each.replace(/Resolved$/, '').split(' ') as [string, string];
    return (
      !told(LIKE_READY.has(type) ? 'Ready' : type, reason) && !told(type, reason) && !(reason in KUBERNETES_REASONS)
    );
  });
  expect(untold).toEqual([]);
});
