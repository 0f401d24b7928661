// An error for a rejected request: its HTTP status, and a hint on what to do.
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}
