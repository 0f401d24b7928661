// What a rule for environments returns if it refuses one.
import type { Status } from '../../kube/errors.ts';
import type { FieldPath } from './placed-items.ts';

/**
 * A refusal has the status for the API server, and the path of the refused field. Where the message is contract and
 * names no field that exists, `plain` says the same for people.
 */
export interface Refusal {
  readonly status: Status;
  readonly at: FieldPath;
  readonly plain?: readonly { readonly at: FieldPath; readonly message: string }[];
}

/** Refuses a field. */
export function denied(at: FieldPath, message: string): Refusal {
  return { status: { code: 403, reason: 'Forbidden', message }, at };
}

/** Refuses the value of a field, in the words of the API server. */
export function invalid(at: FieldPath, path: string, value: string, detail: string): Refusal {
  return denied(at, `${path}: Invalid value: ${value}: ${detail}`);
}
