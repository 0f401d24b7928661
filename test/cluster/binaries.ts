// Where the programs of a real Kubernetes control plane are on this machine. `real.ts` runs them;
// `scripts/real-cluster.ts fetch` gets them once.
import { accessSync, constants, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { buildBinaries } from './build.ts';

/** The minor version that the tests are written for, and the patch releases to try, best first. */
const wantedMinor = '1.36';
const wantedPatches = [4, 3, 2, 1, 0];

/** The programs of a control plane, and kubectl. */
export const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;
export type Program = (typeof programs)[number];

export type Found = { readonly dir: string } | { readonly missing: string };

/** The first folder that holds all of `needed`: KUBEBUILDER_ASSETS, then this project's cache. Never builds anything. */
export function findBinaries(needed: readonly Program[] = programs, env: NodeJS.ProcessEnv = process.env): Found {
  const assets = env['KUBEBUILDER_ASSETS'] || undefined;
  const lacking = assets === undefined ? [] : absent(assets, needed);
  if (assets !== undefined && lacking.length === 0) return { dir: assets };
  const cached = cachedVersions(env).find((dir) => absent(dir, needed).length === 0);
  if (cached !== undefined) return { dir: cached };
  const start = assets === undefined ? 'no Kubernetes binaries' : `KUBEBUILDER_ASSETS has no ${lacking.join(', ')}`;
  return {
    missing:
      `${start}: run \`node scripts/real-cluster.ts fetch\` (needs Go), ` +
      'or put the programs into one folder (`setup-envtest use`) and set KUBEBUILDER_ASSETS to it',
  };
}

/** Finds the binaries, or builds them from the public Go modules into the cache. One process builds, others wait for it. */
export async function fetchBinaries(
  log: (line: string) => void,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const found = findBinaries(programs, env);
  if ('dir' in found) return found.dir;
  const root = cacheRoot(env);
  mkdirSync(root, { recursive: true });
  using _lock = await lock(path.join(root, 'build.lock'), log);
  const builtMeanwhile = findBinaries(programs, env);
  if ('dir' in builtMeanwhile) return builtMeanwhile.dir;
  return await buildBinaries({ root, versions: wantedPatches.map((patch) => `${wantedMinor}.${patch}`), log });
}

function cacheRoot(env: NodeJS.ProcessEnv): string {
  return path.join(env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'offshoot', 'kubernetes');
}

/** The cache's folders of the wanted minor version, newest patch first. */
function cachedVersions(env: NodeJS.ProcessEnv): string[] {
  const root = cacheRoot(env);
  try {
    return readdirSync(root)
      .filter((name) => name.startsWith(`${wantedMinor}.`) && /^[\d.]+$/.test(name))
      .sort((a, b) => Number(b.split('.')[2]) - Number(a.split('.')[2]))
      .map((name) => path.join(root, name));
  } catch {
    return [];
  }
}

function absent(dir: string, needed: readonly Program[]): Program[] {
  return needed.filter((program) => {
    try {
      accessSync(path.join(dir, program), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

/** Holds an SQLite lock on a file: the operating system gives it back even when its holder is killed. */
async function lock(file: string, log: (line: string) => void): Promise<Disposable> {
  const database = new DatabaseSync(file, { timeout: 0 });
  let waiting = false;
  for (;;) {
    try {
      database.exec('BEGIN EXCLUSIVE');
      return { [Symbol.dispose]: () => database.close() };
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== 5) throw error; // 5: SQLITE_BUSY
      if (!waiting) log('another process is building the binaries; waiting for it');
      waiting = true;
      await delay(500);
    }
  }
}
