// Waiting for the end: Ctrl-C, or a polite kill. A second one ends the process at once.

/** Resolves with the first SIGINT or SIGTERM. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    const first = (): void => {
      for (const signal of signals) process.off(signal, first);
      resolve();
    };
    for (const signal of signals) process.on(signal, first);
  });
}
