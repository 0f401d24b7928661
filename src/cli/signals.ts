// Waiting for the end: Ctrl-C, or a polite kill. A second one ends the process at once.

/** Resolves with the first SIGINT or SIGTERM. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
