// Which code the command runs: a bundle only as long as it is what a build of the sources would make.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-bin-'));
  write('package.json', '{"type":"module"}');
  write('dist/cli.js', "export const main = () => console.log('bundle');");
  mkdirSync(path.join(dir, 'bin'));
  copyFileSync(path.resolve(import.meta.dirname, '../bin/offshoot.js'), path.join(dir, 'bin/offshoot.js'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  writeFileSync(path.join(dir, file), text);
}

function checkout(): void {
  write('src/cli/main.ts', "export const main = (): void => console.log('sources');");
  write('src/cli/other.ts', 'export const other = 1;');
  const states = ['src/cli/main.ts', 'src/cli/other.ts'].map((file) => {
    const { size, mtimeMs } = statSync(path.join(dir, file));
    return [file, `${size} ${mtimeMs}`];
  });
  write('dist/sources.json', JSON.stringify(Object.fromEntries(states)));
}

function run(): string {
  const env = { ...process.env, XDG_CACHE_HOME: path.join(dir, 'cache') };
  return execFileSync(process.execPath, [path.join(dir, 'bin/offshoot.js')], { encoding: 'utf8', env }).trim();
}

test('a published package has only the bundle', () => {
  expect(run()).toBe('bundle');
});

test('in a checkout, the bundle is used until a source changes', () => {
  checkout();
  expect(run()).toBe('bundle');
  // The same size, and a time before the one that was noted: as after unpacking an older copy.
  utimesSync(path.join(dir, 'src/cli/other.ts'), 1000, 1000);
  expect(run()).toBe('sources');
});

test('a source that is gone, or a bundle that nobody knows the sources of, is never used', () => {
  checkout();
  rmSync(path.join(dir, 'src/cli/other.ts'));
  expect(run()).toBe('sources');
  rmSync(path.join(dir, 'dist'), { recursive: true });
  expect(run()).toBe('sources');
});
