// Waits for SIGINT, SIGTERM or a closed output pipe. A second signal ends the process at once.
import { onBrokenPipe } from '../exit.ts';

/** Resolves with the first SIGINT or SIGTERM, or when a pipe that we write to is closed. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    const first = (): void => {
      for (const signal of signals) process.off(signal, first);
      resolve();
    };
    for (const signal of signals) process.on(signal, first);
    // Stays registered: output during shutdown is not read either.
    onBrokenPipe(first);
  });
}
