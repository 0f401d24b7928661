// Cached files, created once and shared by all runs of all checkouts. A file that was not used for some days is removed
// when the next one is created.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';

const UNUSED_MS = 3 * 24 * 60 * 60 * 1000;

/** Returns the file; creates it atomically if it does not exist. */
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
