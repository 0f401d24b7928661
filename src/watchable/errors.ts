// The errors of this room that a caller may want to recognise.

/** Thrown by every call that would change a closed map; during shutdown it is expected, not a fault. */
export class ClosedError extends Error {
  readonly code = 'WATCHABLE_CLOSED';

  constructor(map: string, operation: string) {
    super(`${map} is closed, so ${operation} was refused: stop publishing before its owner closes it`);
    this.name = 'ClosedError';
  }
}
