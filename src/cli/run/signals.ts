// Waiting for the end: Ctrl-C, a polite kill, or nobody left who reads what we say. A second one ends the process at once.
import { whenReaderLeaves } from '../exit.ts';

/** Resolves with the first SIGINT or SIGTERM, or when a pipe that we write to is closed. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    const first = (): void => {
      for (const signal of signals) process.off(signal, first);
      resolve();
    };
    for (const signal of signals) process.on(signal, first);
    // Never taken back: what is said on the way out is not read either.
    whenReaderLeaves(first);
  });
}
