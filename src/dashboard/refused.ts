// A request that is not carried out, and what to do about it.
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
