// Finds the kubectl versions on this machine, and runs one against an embedded cluster of its own. For kubectl.test.ts.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import { kubernetes } from '../programs/kubernetes.ts';
import { findPrograms } from '../programs/programs.ts';

export interface Kubectl {
  readonly path: string;
  /** Such as `1.33`. */
  readonly version: string;
}

/** The oldest version to test: kubectl works with servers that are only a few versions newer. */
const oldestMinor = 29;

/**
 * One kubectl of every minor version, oldest first: those in KUBECTL_PATHS, those on the PATH (some packages install
 * several, such as `kubectl.1.33`), and the one that was built with the real API server.
 */
export function installedKubectls(env: NodeJS.ProcessEnv = process.env): Kubectl[] {
  const built = findPrograms(kubernetes, ['kubectl'], env);
  const paths = [
    ...(env['KUBECTL_PATHS'] ?? '').split(delimiter).filter((path) => path !== ''),
    ...(env['PATH'] ?? '').split(delimiter).flatMap(kubectlsIn),
    ...('dir' in built ? [join(built.dir, 'kubectl')] : []),
  ];
  const byMinor = new Map<number, string>();
  for (const path of new Set(paths)) {
    const minor = minorOf(path);
    if (minor !== undefined && minor >= oldestMinor && !byMinor.has(minor)) byMinor.set(minor, path);
  }
  return [...byMinor].sort(([a], [b]) => a - b).map(([minor, path]) => ({ path, version: `1.${minor}` }));
}

/** Versioned ones first: a plain kubectl beside them may be a wrapper that selects one of them. */
function kubectlsIn(directory: string): string[] {
  try {
    const file = realpathSync(join(directory, 'kubectl'));
    const home = dirname(file);
    const versioned = readdirSync(home).filter((name) => /^kubectl\.1\.\d+$/.test(name));
    return [...versioned.map((name) => join(home, name)), file];
  } catch {
    return [];
  }
}

function minorOf(path: string): number | undefined {
  try {
    const text = execFileSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8', stdio: 'pipe' });
    const { clientVersion } = JSON.parse(text) as { clientVersion: { minor: string } };
    return Number.parseInt(clientVersion.minor, 10);
  } catch {
    return undefined;
  }
}

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export interface Session {
  /** Runs kubectl and returns its exit code and output. */
  readonly run: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Outcome>;
  /** The output of a command that must succeed. */
  readonly kube: (...args: string[]) => Promise<string>;
  /** The error text of a command that must fail. */
  readonly refused: (...args: string[]) => Promise<string>;
  /** Starts a command that runs until it is stopped. */
  readonly follow: (...args: string[]) => Following;
  /** Writes a file and returns its path. */
  readonly file: (name: string, content: string) => string;
  readonly close: () => Promise<void>;
}

interface Following {
  /** Resolves with the output once it contains the text. */
  shows(text: string): Promise<string>;
  stop(): void;
}

/** Starts an embedded cluster in memory, and a kubectl with an empty cache. */
export async function openSession(kubectl: Kubectl): Promise<Session> {
  const home = mkdtempSync(join(tmpdir(), 'embedded-kubectl-'));
  const embedded = await startEmbedded();
  const file = (name: string, content: string): string => {
    const path = join(home, name);
    writeFileSync(path, content, { mode: 0o700 });
    return path;
  };
  const globalFlags = ['--kubeconfig', file('config', embedded.kubeconfig()), '--cache-dir', join(home, 'cache')];
  const run: Session['run'] = (args, env = {}) =>
    new Promise((resolve) => {
      const options = { env: { ...process.env, ...env }, timeout: 40_000 };
      execFile(kubectl.path, [...globalFlags, ...args], options, (failure, out, error) => {
        resolve({ code: failure === null ? 0 : Number(failure.code ?? 1), out, error });
      });
    });
  return {
    run,
    kube: async (...args) => {
      const { code, out, error } = await run(args);
      expect({ args, code, error }).toEqual({ args, code: 0, error: expect.not.stringContaining('rror') });
      return out;
    },
    refused: async (...args) => {
      const { code, error } = await run(args);
      expect({ args, failed: code !== 0 }).toEqual({ args, failed: true });
      return error;
    },
    follow: (...args) => follow(kubectl.path, [...globalFlags, ...args]),
    file,
    close: async () => {
      await embedded.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function follow(path: string, args: readonly string[]): Following {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  let changed = Promise.withResolvers<void>();
  const notify = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    notify();
  });
  let ended = false;
  child.on('close', () => {
    ended = true;
    notify();
  });
  return {
    shows: async (text) => {
      while (!output.includes(text)) {
        if (ended) throw new Error(`${args.slice(4).join(' ')} ended without showing ${text}:\n${output}`);
        await changed.promise;
      }
      return output;
    },
    stop: () => void child.kill(),
  };
}
