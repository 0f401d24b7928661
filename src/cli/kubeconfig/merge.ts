// `offshoot up --merge-kubeconfig`: adds the cluster to the kubeconfig of kubectl for as long as it runs.
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { delay, systemClock } from '../../kube/clock.ts';
import { kubeconfigCandidates } from '../../kube/client/config/kubeconfig.ts';
import { failure } from '../exit.ts';
import { withContext, withoutContext } from './edit.ts';
import type { OwnContext } from './edit.ts';

/** How long to wait for the lock of another program, such as kubectl. */
const LOCK_TIMEOUT_MS = 3000;

export interface Merged {
  readonly file: string;
  /** Removes the context. */
  readonly undo: () => Promise<void>;
}

/** Adds a context to a kubeconfig and makes it current. */
export async function mergeKubeconfig(own: OwnContext, file: string): Promise<Merged> {
  await edit(file, (text) => withContext(text, own, isAlive));
  return { file, undo: () => edit(file, (text = '') => withoutContext(text, own.name, own.pid)) };
}

/** The file that kubectl would write: the first existing one, else the last. */
export function kubeconfigToWrite(env: NodeJS.ProcessEnv): string {
  const candidates = kubeconfigCandidates({ env }).map((file) => path.resolve(file));
  return candidates.find((file) => existsSync(file)) ?? candidates.at(-1)!;
}

/** Changes a file under a lock: undefined leaves it unchanged, and an empty text removes it. */
async function edit(file: string, change: (text: string | undefined) => string | undefined): Promise<void> {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o750 });
    // Keep a symbolic link.
    const real = existsSync(file) ? realpathSync(file) : file;
    await locked(`${file}.lock`, () => {
      const before = existsSync(real) ? readFileSync(real, 'utf8') : undefined;
      const after = change(before);
      if (after === '') rmSync(real, { force: true });
      else if (after !== undefined && after !== before) replace(real, after);
    });
  } catch (error) {
    throw failure('InvalidKubeconfig', `kubeconfig ${file}: ${(error as Error).message}`);
  }
}

/** Runs a function with the lock file that kubectl uses too. */
async function locked(lock: string, run: () => void): Promise<void> {
  const deadline = systemClock.monotonic() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx', 0o600));
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (systemClock.monotonic() > deadline) {
        throw new Error(`another program is writing it; if not, remove ${lock}`, { cause: error });
      }
      await delay(systemClock, 50);
    }
  }
  try {
    run();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Replaces a file atomically. */
function replace(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(temporary, 'wx', (before?.mode ?? 0o600) & 0o777);
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    if (before !== undefined && process.getuid?.() === 0) chownSync(temporary, before.uid, before.gid);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
