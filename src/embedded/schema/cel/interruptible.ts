// Interrupts a synchronous computation that takes too long. Used for rules with loops and for patterns.
import { createContext, Script } from 'node:vm';

const script = new Script('run()');
let context: { run?: () => void } | undefined;

/** Runs a function; throws an interruption when it takes longer than `ms` milliseconds. */
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

/** The CPU time of this thread in milliseconds. */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
