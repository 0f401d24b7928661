// The errors of this room that a caller may want to recognise.

/** Thrown by every call that would change a closed map; during shutdown it is expected, not a fault. */
export class ClosedError extends Error {
  readonly code = 'WATCHABLE_CLOSED';

  constructor(map: string, operation: string) {
    super(`${map} is closed, so ${operation} was refused: stop publishing before its owner closes it`);
    this.name = 'ClosedError';
  }
}

/** Thrown to whoever reads a derived value that is computed from itself. */
export class CycleError extends Error {
  readonly code = 'WATCHABLE_CYCLE';
  /** What reads what, from one value back to it. */
  readonly way: readonly string[];

  constructor(way: readonly string[]) {
    super(`a derived value depends on itself: ${way.join(' → ')}; one of these must not read the next`);
    this.name = 'CycleError';
    this.way = way;
  }
}
