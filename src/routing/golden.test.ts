// Translates every `testdata/NAME.in.yaml` in both modes, through the command line, and compares the output with
// `NAME.out.yaml`. `UPDATE_GOLDEN=1 npx vitest run src/routing/golden` rewrites the outputs: review the diff.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { translationOf } from '../cli/routing/translate.ts';
import { CODES } from './index.ts';
import type { BackendName } from './index.ts';

const DIR = path.join(import.meta.dirname, 'testdata');

/** The output of the command in each mode; only once if it is the same. */
function printedBy(name: string): unknown {
  const file = path.join(DIR, `${name}.in.yaml`);
  const head = (field: string): string | undefined =>
    new RegExp(`^# ${field}: (.*)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1];
  const world = head('world');
  const flags = head('flags')?.split(' ') ?? [];
  const to = (flags[flags.indexOf('--to') + 1] ?? '').startsWith('appmesh') ? flags.at(-1)! : 'appmesh-api';
  const filename = [...(world === undefined ? [] : [path.join(DIR, 'worlds', `${world}.yaml`)]), file];
  const [compat, strict] = (['compat', 'strict'] as const).map((mode) => {
    const allowAll = !flags.includes('--no-allow-all');
    const { text, notes, error } = translationOf({ filename, to: to as BackendName, mode, allowAll, output: 'yaml' });
    const printed = parse(text.replaceAll(`${DIR}/`, '')) as unknown;
    return { exit: error === undefined ? 0 : 1, ...(notes.length > 0 && { notes }), printed };
  });
  return JSON.stringify(compat) === JSON.stringify(strict) ? { both: compat } : { compat, strict };
}

const names = readdirSync(DIR)
  .filter((name) => name.endsWith('.in.yaml'))
  .map((name) => name.replace('.in.yaml', ''));

test.each(names)('the translation of %s matches its golden output', (name) => {
  const output = path.join(DIR, `${name}.out.yaml`);
  const text = stringify(printedBy(name), { lineWidth: 0, aliasDuplicateObjects: false });
  if (process.env['UPDATE_GOLDEN']) writeFileSync(output, text);
  expect(existsSync(output), `${name}.out.yaml is missing: write it with UPDATE_GOLDEN=1, and read it`).toBe(true);
  expect(text).toBe(readFileSync(output, 'utf8'));
});

test('every golden output has an input', () => {
  const outputs = readdirSync(DIR).filter((name) => name.endsWith('.out.yaml'));
  expect(outputs.filter((name) => !names.includes(name.replace('.out.yaml', '')))).toEqual([]);
});

/** Codes of problems when a mesh is written, and one that needs a thousand routes. */
const ELSEWHERE = [
  'DELETION_BLOCKED',
  'RESOURCE_FOREIGN',
  'WRITE_REFUSED',
  'BACKEND_MISSING',
  'INPUT_MISSING',
  'ROUTER_TOO_MANY_ROUTES',
];

test('every code of a translation occurs in a golden output', () => {
  const outputs = names.map((name) => readFileSync(path.join(DIR, `${name}.out.yaml`), 'utf8')).join('');
  const found = new Set(outputs.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g));
  expect(Object.keys(CODES).filter((code) => !found.has(code))).toEqual(ELSEWHERE.toSorted(byPosition));
});

const byPosition = (a: string, b: string): number => Object.keys(CODES).indexOf(a) - Object.keys(CODES).indexOf(b);
