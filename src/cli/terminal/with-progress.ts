// Shows progress while waiting, until it is done, the timeout or Ctrl-C.
import { CommandFailed, EXIT, interruptible } from '../exit.ts';
import { progressOn } from './progress.ts';
import type { Progress } from './progress.ts';

/** Runs a function while showing progress; undefined after the timeout. On Ctrl-C, `whatContinues` is printed. */
export async function withProgress<R>(
  timeoutMs: number,
  run: (signal: AbortSignal, progress: Progress) => Promise<R>,
  whatContinues?: string,
): Promise<R | undefined> {
  const progress = progressOn(process.stderr);
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await interruptible((signal) => run(AbortSignal.any([signal, timeout]), progress));
  } catch (error) {
    if (error === timeout.reason) return undefined;
    if (whatContinues !== undefined && error instanceof CommandFailed && error.exitCode === EXIT.interrupted) {
      console.error(`Interrupted: ${whatContinues}`);
    }
    throw error;
  } finally {
    progress.end();
  }
}

/** A timeout in messages: `0.5s`. */
export function durationText(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
