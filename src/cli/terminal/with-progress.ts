// Waits with progress shown, until something is done, the time is up, or Ctrl-C.
import { CommandFailed, EXIT, interruptible } from '../exit.ts';
import { progressOn } from './progress.ts';
import type { Progress } from './progress.ts';

/** Runs something with progress shown; undefined when the time is up. Ctrl-C ends only the waiting: `goesOn` says what does not end. */
export async function withProgress<R>(
  timeoutMs: number,
  run: (signal: AbortSignal, progress: Progress) => Promise<R>,
  goesOn?: string,
): Promise<R | undefined> {
  const progress = progressOn(process.stderr);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await interruptible((signal) => run(AbortSignal.any([signal, timeout]), progress));
  } catch (error) {
    if (error === timeout.reason) return undefined;
    if (goesOn !== undefined && error instanceof CommandFailed && error.exitCode === EXIT.interrupted) {
      console.error(`Interrupted: ${goesOn}`);
    }
    throw error;
  } finally {
    progress.end();
  }
}

/** A time as it is told when it is up. */
export function durationText(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
