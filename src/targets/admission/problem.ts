// What admission finds wrong with an object, and the words that its rules share.
import { jsonEqual } from '../../watchable/index.ts';

/** A field of an object, by the keys and positions that lead to it. */
export type FieldPath = readonly (string | number)[];

export interface Problem {
  readonly at: FieldPath;
  /** For a person: the field, what was found there, and what to do. */
  readonly message: string;
  /** Told to whoever writes the object, but no reason to refuse it. */
  readonly isWarning?: true;
}

/** A value that can't be what it is. */
export function invalid(at: FieldPath, found: unknown, must: string): Problem {
  return refused(at, found === undefined ? 'Required value' : `Invalid value: ${JSON.stringify(found)}: ${must}`);
}

export function refused(at: FieldPath, message: string): Problem {
  return { at, message: `${pathOf(at)}: ${message}` };
}

export function warning(at: FieldPath, message: string): Problem {
  return { ...refused(at, message), isWarning: true };
}

/** A field as people write it. */
export function pathOf(at: FieldPath): string {
  // Keys of annotations have dots of their own.
  return at
    .map((part) => (String(part).includes('.') ? `[${part}]` : `.${part}`))
    .join('')
    .slice(1);
}

/** A warning for a name that no object can have; nothing is wrong with an empty one. */
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
 * The problems that a write brings: not those of values that were there before. So nobody who writes something else,
 * controllers above all, is held up by what an object was allowed to be once.
 */
export function broughtBy(problems: readonly Problem[], object: unknown, old: unknown): readonly Problem[] {
  if (old === undefined) return problems;
  return problems.filter(({ at }) => !jsonEqual(valueAt(object, at), valueAt(old, at)));
}

function valueAt(object: unknown, at: FieldPath): unknown {
  return at.reduce((value, key) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key], object);
}
