import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cachedFile } from './cached-file.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = Date.parse('2026-01-10T00:00:00Z');

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-cache-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const use = (name: string, at: number): string =>
  cachedFile(path.join(dir, 'images', name), (target) => writeFileSync(target, `${name} of ${at}`), at);

test('a file is created once, and never left half written', () => {
  const file = use('node-1', NOW);
  use('node-1', NOW + DAY);
  expect(readFileSync(file, 'utf8')).toBe(`node-1 of ${NOW}`);
  expect(() =>
    cachedFile(
      path.join(dir, 'images', 'broken'),
      () => {
        throw new Error('no room');
      },
      NOW,
    ),
  ).toThrow('no room');
  expect(readdirSync(path.join(dir, 'images'))).toEqual(['node-1']);
});

test('files that were not used for days are removed when a new one is created', () => {
  use('node-old', NOW);
  use('node-other-checkout', NOW);
  use('node-other-checkout', NOW + 3 * DAY);
  use('node-new', NOW + 4 * DAY);
  expect(readdirSync(path.join(dir, 'images')).toSorted()).toEqual(['node-new', 'node-other-checkout']);
});
