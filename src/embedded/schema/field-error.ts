// Validation errors of one field, with the messages of the Kubernetes API server.
import { stringifyJson } from '../../kube/json.ts';

export type FieldErrorType =
  | 'Required'
  | 'Invalid'
  | 'NotSupported'
  | 'Forbidden'
  | 'Duplicate'
  | 'TooLong'
  | 'TooMany'
  | 'TooFew'
  | 'TypeInvalid'
  | 'NotFound'
  | 'Internal';

export interface FieldError {
  readonly type: FieldErrorType;
  /** The path of the field: `spec.containers[0].image`. */
  readonly field: string;
  /** Omitted from the message when undefined. */
  readonly value?: unknown;
  readonly detail: string;
}

const words: Readonly<Record<FieldErrorType, string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TooFew: 'Too few',
  TypeInvalid: 'Invalid value',
  NotFound: 'Not found',
  Internal: 'Internal error',
};
const withoutValue: ReadonlySet<FieldErrorType> = new Set(['Required', 'Forbidden', 'TooLong', 'Internal']);

export function required(field: string, detail = ''): FieldError {
  return { type: 'Required', field, detail };
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'Invalid', field, value, detail };
}

export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { type: 'TypeInvalid', field, value, detail };
}

export function forbidden(field: string, detail: string): FieldError {
  return { type: 'Forbidden', field, detail };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { type: 'Duplicate', field, value, detail: '' };
}

export function notFound(field: string, value: unknown): FieldError {
  return { type: 'NotFound', field, value, detail: '' };
}

export function notSupported(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const names = supported.map((item) => JSON.stringify(typeof item === 'string' ? item : stringifyJson(item)));
  return {
    type: 'NotSupported',
    field,
    value,
    detail: names.length === 0 ? '' : `supported values: ${names.join(', ')}`,
  };
}

export function tooLong(field: string, maximum: number): FieldError {
  return { type: 'TooLong', field, detail: `may not be more than ${maximum} ${maximum === 1 ? 'byte' : 'bytes'}` };
}

export function tooMany(field: string, actual: number, maximum: number): FieldError {
  const detail = `must have at most ${maximum} ${maximum === 1 ? 'item' : 'items'}`;
  return { type: 'TooMany', field, value: actual, detail };
}

/** The error without its path: `Invalid value: -1: must be greater than or equal to 0`. */
export function errorBody(error: FieldError): string {
  const showsValue = error.value !== undefined && !withoutValue.has(error.type);
  const head = showsValue ? `${words[error.type]}: ${shown(error.value)}` : words[error.type];
  return error.detail === '' ? head : `${head}: ${error.detail}`;
}

/** Go escapes HTML characters in JSON of objects and lists. */
function shown(value: unknown): string {
  const json = stringifyJson(value);
  if (typeof value !== 'object') return json;
  return json.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e').replaceAll('&', '\\u0026');
}

/** The complete message: `spec.replicas: Invalid value: -1: must be greater than or equal to 0`. */
function errorText(error: FieldError): string {
  return `${error.field}: ${errorBody(error)}`;
}

/** The reason of the error in the causes of a Status. */
export function causeReason(error: FieldError): string {
  return error.type === 'Internal' ? 'InternalError' : `FieldValue${error.type}`;
}

/** The messages of several errors in one line, without duplicates. */
export function errorsText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map(errorText))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
