// Files of the cache that are made once and used by many runs, from any checkout. One that no run has used for some days
// is of an old version: it is removed when the next file is made.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';

const UNUSED_MS = 3 * 24 * 60 * 60 * 1000;

/** The file, made if it is not there. It appears whole or not at all. */
export function cachedFile(file: string, make: (target: string) => void, now = Date.now()): string {
  const folder = path.dirname(file);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(file)) {
    removeUnused(folder, now);
    const unfinished = `${file}.${process.pid}`;
    make(unfinished);
    renameSync(unfinished, file);
  }
  utimesSync(file, now / 1000, now / 1000);
  return file;
}

function removeUnused(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const used = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - used > UNUSED_MS) rmSync(file, { recursive: true, force: true });
  }
}
