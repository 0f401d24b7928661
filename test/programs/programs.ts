// Finds third-party programs that tests run: in a folder that the user names, or in this project's cache, which has a
// folder per set and version. `fetchPrograms` builds missing ones, once. The sets are in this folder.
import { accessSync, constants, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { lock } from './lock.ts';

export type Log = (line: string) => void;

/** Programs that are built together and found together. */
export interface ProgramSet<Name extends string = string> {
  /** The folder in the cache. */
  readonly name: string;
  /** What they are called in a message: "no Kubernetes binaries". */
  readonly title: string;
  /** Best first: the module proxy in use may lack a release. */
  readonly versions: readonly string[];
  readonly programs: readonly Name[];
  /** The environment variable that names a folder with the programs. */
  readonly variable: string;
  /** What to do when they are missing. */
  readonly advice: string;
  /** Puts the programs into `bin`, which exists and is empty. `work` is for everything else. */
  build(options: { work: string; bin: string; version: string; log: Log }): Promise<void>;
}

export type Found = { readonly dir: string } | { readonly missing: string };

/** The first folder that holds all of `needed`: the one in the environment, then the cache. Never builds anything. */
export function findPrograms<Name extends string>(
  set: ProgramSet<Name>,
  needed: readonly Name[] = set.programs,
  env: NodeJS.ProcessEnv = process.env,
): Found {
  const given = env[set.variable] || undefined;
  const lacking = given === undefined ? [] : absent(given, needed);
  if (given !== undefined && lacking.length === 0) return { dir: given };
  const cached = cachedVersions(set, env).find((dir) => absent(dir, needed).length === 0);
  if (cached !== undefined) return { dir: cached };
  const start = given === undefined ? `no ${set.title}` : `${set.variable} has no ${lacking.join(', ')}`;
  return { missing: `${start}: ${set.advice}` };
}

/** The folder of a set; throws if it is missing. */
export function programsOf(set: ProgramSet): string {
  const found = findPrograms(set);
  if ('missing' in found) throw new Error(found.missing);
  return found.dir;
}

/** Finds the programs, or builds them into the cache. One process builds, others wait for it. */
export async function fetchPrograms(set: ProgramSet, log: Log, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const found = findPrograms(set, set.programs, env);
  if ('dir' in found) return found.dir;
  const root = cacheFolder(set.name, env);
  mkdirSync(root, { recursive: true });
  using _lock = await lock(path.join(root, 'build.lock'), () =>
    log(`another process is building ${set.title}; waiting for it`),
  );
  const builtMeanwhile = findPrograms(set, set.programs, env);
  if ('dir' in builtMeanwhile) return builtMeanwhile.dir;
  const started = Date.now();
  const dir = await build(set, root, log);
  log(`${set.title}: built in ${Math.round((Date.now() - started) / 1000)} s`);
  return dir;
}

/** Builds into a temporary folder and renames it, so that the cache never has half a version. */
async function build(set: ProgramSet, root: string, log: Log): Promise<string> {
  const failures: string[] = [];
  for (const version of set.versions) {
    const work = mkdtempSync(path.join(root, '.build-'));
    const bin = path.join(work, 'bin');
    mkdirSync(bin);
    try {
      log(`building ${set.title} ${version} (minutes, once)`);
      await set.build({ work, bin, version, log });
      const target = path.join(root, version);
      rmSync(target, { recursive: true, force: true });
      renameSync(bin, target);
      return target;
    } catch (error) {
      if (!(error instanceof VersionUnavailable)) throw error;
      failures.push(`${version}: ${error.message}`);
      log(`${set.title} ${version} cannot be downloaded, trying another`);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  throw new Error(`no version of ${set.title} can be downloaded:\n${failures.join('\n')}`);
}

/** Thrown by a build whose version cannot be downloaded; the next one is tried. */
export class VersionUnavailable extends Error {}

/** A folder in the project's cache. */
export function cacheFolder(name: string, env: NodeJS.ProcessEnv = process.env): string {
  return path.join(env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'offshoot', name);
}

/** The cached folders of the set's versions, best first. */
function cachedVersions(set: ProgramSet, env: NodeJS.ProcessEnv): string[] {
  const root = cacheFolder(set.name, env);
  try {
    const cached = new Set(readdirSync(root));
    return set.versions.filter((version) => cached.has(version)).map((version) => path.join(root, version));
  } catch {
    return [];
  }
}

function absent(dir: string, needed: readonly string[]): string[] {
  return needed.filter((program) => {
    try {
      accessSync(path.join(dir, program), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}
