// The errors of this module that a caller may want to handle.

/** Thrown by every call that would change a closed map; during shutdown it is expected, not a fault. */
export class ClosedError extends Error {
  readonly code = 'WATCHABLE_CLOSED';

  constructor(map: string, operation: string) {
    super(`${map} is closed, so ${operation} was refused: stop publishing before its owner closes it`);
    this.name = 'ClosedError';
  }
}

/** Thrown by a read of a derived value that depends on itself. */
export class CycleError extends Error {
  readonly code = 'WATCHABLE_CYCLE';
  /** The chain of reads, from one value back to itself. */
  readonly path: readonly string[];

  constructor(path: readonly string[]) {
    super(`a derived value depends on itself: ${path.join(' → ')}; one of these must not read the next`);
    this.name = 'CycleError';
    this.path = path;
  }
}
