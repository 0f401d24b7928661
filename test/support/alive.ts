// Finds the processes of a folder (test/cluster/processes.ts), for tests that nothing is left behind.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The process IDs in a folder's pid files. */
export function pidsIn(dir: string): number[] {
  const files = readdirSync(dir).filter((name) => name.endsWith('.pid'));
  return files.map((name) => Number(readFileSync(path.join(dir, name), 'utf8')));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
