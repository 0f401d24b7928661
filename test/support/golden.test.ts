import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { goldenOf } from './golden.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-golden-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a missing golden file is an error, and is not written', () => {
  const file = path.join(dir, 'missing.out.yaml');
  expect(() => goldenOf('a: 1\n', file, false)).toThrow(`${file} is missing: write it with UPDATE_GOLDEN=1`);
  expect(existsSync(file)).toBe(false);
});

test('a golden file is written only on update', () => {
  const file = path.join(dir, 'known.out.yaml');
  writeFileSync(file, 'a: 1\n');
  expect([goldenOf('a: 2\n', file, false), readFileSync(file, 'utf8')]).toEqual(['a: 1\n', 'a: 1\n']);
  expect([goldenOf('a: 2\n', file, true), readFileSync(file, 'utf8')]).toEqual(['a: 2\n', 'a: 2\n']);
});
