import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isBundleCurrent, stampBundle } from './source-states.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'offshoot-sources-'));
  for (const dir of ['src', 'dist']) mkdirSync(path.join(root, dir));
  for (const file of ['package.json', 'src/a.ts', 'src/page.css', 'src/a.test.ts']) write(file, 'one', 1);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string, second: number): void {
  writeFileSync(path.join(root, file), text);
  utimesSync(path.join(root, file), second, second);
}

test('a bundle is current until one of its sources is changed, added or removed', () => {
  expect(isBundleCurrent(root)).toBe(false);
  stampBundle(root, Date.now());
  expect(isBundleCurrent(root)).toBe(true);
  write('src/a.test.ts', 'a test is no source', 2);
  expect(isBundleCurrent(root)).toBe(true);

  write('src/page.css', 'two', 2);
  expect(isBundleCurrent(root)).toBe(false);
  write('src/page.css', 'one', 1);
  write('src/b.ts', 'one', 1);
  expect(isBundleCurrent(root)).toBe(false);
  rmSync(path.join(root, 'src/b.ts'));
  expect(isBundleCurrent(root)).toBe(true);
  rmSync(path.join(root, 'src/a.ts'));
  expect(isBundleCurrent(root)).toBe(false);
});

test('a bundle is not current if a source was written while it was built', () => {
  stampBundle(root, 500);
  expect(isBundleCurrent(root)).toBe(false);
});
