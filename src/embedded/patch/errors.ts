// Errors of the patch engine; the REST layer turns them into a Status.

/** An item of `status.details.causes`. */
interface PatchCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

const REASONS = {
  400: 'BadRequest',
  409: 'Conflict',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  500: '',
} as const;

/** A patch is refused. */
export class PatchError extends Error {
  readonly code: keyof typeof REASONS;
  readonly reason: string;
  readonly causes: readonly PatchCause[];

  constructor(code: keyof typeof REASONS, message: string, causes: readonly PatchCause[] = []) {
    super(message);
    this.name = 'PatchError';
    this.code = code;
    this.reason = REASONS[code];
    this.causes = causes;
  }
}

/** A server-side apply would overwrite fields of another manager. */
export class ApplyConflict extends PatchError {
  constructor(message: string, causes: readonly PatchCause[]) {
    super(409, message, causes);
    this.name = 'ApplyConflict';
  }
}
