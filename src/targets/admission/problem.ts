// A problem that admission finds in an object, and what the rules share.
import { jsonEqual } from '../../watchable/index.ts';

/** The path to a field of an object: keys and list positions. */
export type FieldPath = readonly (string | number)[];

export interface Problem {
  readonly at: FieldPath;
  /** For a person: the field, what was found there, and what to do. */
  readonly message: string;
  /** Returned as a warning; the object is admitted. */
  readonly isWarning?: true;
}

/** An invalid or missing value. */
export function invalid(at: FieldPath, found: unknown, must: string): Problem {
  return refused(at, found === undefined ? 'Required value' : `Invalid value: ${JSON.stringify(found)}: ${must}`);
}

export function refused(at: FieldPath, message: string): Problem {
  return { at, message: `${pathOf(at)}: ${message}` };
}

export function warning(at: FieldPath, message: string): Problem {
  return { ...refused(at, message), isWarning: true };
}

/** A field path as text. */
export function pathOf(at: FieldPath): string {
  // Annotation keys contain dots.
  return at
    .map((part) => (String(part).includes('.') ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
}

/** A warning for a name that no object can have; an empty name is fine. */
export function nameWarnings(at: FieldPath, name: string | undefined, of: string): Problem[] {
  if (name === undefined || name === '' || isDnsSubdomain(name)) return [];
  return [
    warning(at, `${JSON.stringify(name)} is not a valid name for a ${of}: use lowercase letters, digits, "-" and "."`),
  ];
}

export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);
}

export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);
}

/**
 * The problems that a write introduces, not those of values that were there before: they must not block a client that
 * writes something else, above all a controller.
 */
export function introducedBy(problems: readonly Problem[], object: unknown, old: unknown): readonly Problem[] {
  if (old === undefined) return problems;
  return problems.filter(({ at }) => !jsonEqual(valueAt(object, at), valueAt(old, at)));
}

function valueAt(object: unknown, at: FieldPath): unknown {
  return at.reduce((value, key) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key], object);
}
