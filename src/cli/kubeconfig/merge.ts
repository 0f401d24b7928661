// `offshoot up --merge-kubeconfig`: the cluster as a context of the kubeconfig that kubectl reads, for as long as it runs.
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

/** How long to wait for a kubectl that writes the same file. */
const LOCKED_MS = 3000;

export interface Merged {
  readonly file: string;
  /** Takes the context out again. */
  readonly undo: () => Promise<void>;
}

/** Puts a context into a kubeconfig and makes it the current one. */
export async function mergeKubeconfig(own: OwnContext, file: string): Promise<Merged> {
  await edit(file, (text) => withContext(text, own, isAlive));
  return { file, undo: () => edit(file, (text = '') => withoutContext(text, own.name, own.pid)) };
}

/** The file that kubectl would write: the first that is there, or else the last. */
export function kubeconfigToWrite(env: NodeJS.ProcessEnv): string {
  const candidates = kubeconfigCandidates({ env }).map((file) => path.resolve(file));
  return candidates.find((file) => existsSync(file)) ?? candidates.at(-1)!;
}

/** Changes a file as a whole, while nobody else does: undefined leaves it as it is, and an empty text removes it. */
async function edit(file: string, change: (text: string | undefined) => string | undefined): Promise<void> {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o750 });
    // A link stays one.
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

/** The file of this name is how kubectl locks too. */
async function locked(lock: string, run: () => void): Promise<void> {
  const deadline = systemClock.monotonic() + LOCKED_MS;
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

/** Whoever reads the file, and whenever this ends, sees the old text or the new one. */
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
