// Stops a computation that takes too long, also one that never comes back by itself. Used for rules with loops.
import { createContext, Script } from 'node:vm';

const script = new Script('run()');
let context: { run?: () => void } | undefined;

/** Runs a function; throws an interruption when it takes longer than so many milliseconds. */
export function interruptible<T>(ms: number, run: () => T): T {
  let result: { readonly value: T } | undefined;
  context ??= createContext({}) as { run?: () => void };
  context.run = () => (result = { value: run() });
  script.runInContext(context, { timeout: Math.max(Math.ceil(ms), 1) });
  return result!.value;
}

export function isInterruption(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

/** How long this thread has worked, in milliseconds of the processor. */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
