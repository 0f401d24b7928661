// Validation that several kinds share.
import { isDeepStrictEqual } from 'node:util';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../schema/field-error.ts';
import { isObject, numberAt, objects, stringMap, strings, text } from '../read.ts';
import { labelValueProblems, type NameCheck, portNameProblems, qualifiedNameProblems } from './names.ts';

/** Sorts the keys of a map, as the API server does in its messages. */
export function sorted<T>(map: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function nameErrors(check: NameCheck, value: string, path: string): FieldError[] {
  return check(value).map((problem) => invalid(path, value, problem));
}

/** The value must be one of the supported ones, and not empty. */
export function choice(value: string, supported: readonly string[], path: string): FieldError[] {
  if (value === '') return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** The field must be absent, zero or more. */
export function nonNegative(object: unknown, field: string, path: string): FieldError[] {
  const value = numberAt(object, field);
  return value !== undefined && value < 0
    ? [invalid(`${path}.${field}`, value, 'must be greater than or equal to 0')]
    : [];
}

export function immutable(next: unknown, old: unknown, path: string): FieldError[] {
  return isDeepStrictEqual(next, old) ? [] : [invalid(path, next ?? null, 'field is immutable')];
}

/** Validates labels, and maps with the syntax of labels. */
export function labelErrors(labels: unknown, path: string): FieldError[] {
  return Object.entries(stringMap(labels)).flatMap(([key, value]) => [
    ...nameErrors(qualifiedNameProblems, key, path),
    ...nameErrors(labelValueProblems, value, path),
  ]);
}

export function selectorErrors(selector: unknown, path: string): FieldError[] {
  if (!isObject(selector)) return [];
  const errors = labelErrors(selector['matchLabels'], `${path}.matchLabels`);
  for (const [index, expression] of objects(selector, 'matchExpressions').entries()) {
    const itemPath = `${path}.matchExpressions[${index}]`;
    const operator = text(expression, 'operator');
    const values = strings(expression, 'values');
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.push(required(`${itemPath}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push({ type: 'Forbidden', field: `${itemPath}.values`, detail: why });
      }
    } else {
      errors.push(invalid(`${itemPath}.operator`, operator, 'not a valid selector operator'));
    }
    errors.push(...nameErrors(qualifiedNameProblems, text(expression, 'key'), `${itemPath}.key`));
    for (const [item, value] of values.entries())
      errors.push(...nameErrors(labelValueProblems, value, `${itemPath}.values[${item}]`));
  }
  return errors;
}

/** Does a label selector select an object with these labels? */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  for (const [key, value] of Object.entries(stringMap(selector, 'matchLabels')))
    if (labels[key] !== value) return false;
  return objects(selector, 'matchExpressions').every((expression) => {
    const value = labels[text(expression, 'key')];
    const values = strings(expression, 'values');
    switch (text(expression, 'operator')) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}

/** Is the selector absent or without any requirement? */
export function isEmptySelector(selector: unknown): boolean {
  return (
    Object.keys(stringMap(selector, 'matchLabels')).length === 0 && objects(selector, 'matchExpressions').length === 0
  );
}

const portRange = 'must be between 1 and 65535, inclusive';

export function portErrors(value: number, path: string): FieldError[] {
  return Number.isInteger(value) && value >= 1 && value <= 65535 ? [] : [invalid(path, value, portRange)];
}

/** A port by number or by name. */
export function portOrNameErrors(value: unknown, path: string): FieldError[] {
  if (typeof value === 'string') return nameErrors(portNameProblems, value, path);
  return portErrors(typeof value === 'number' ? value : Number(value), path);
}

const percentText =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** The value must be a number or a percentage, zero or more. */
export function intOrPercentErrors(value: unknown, path: string): FieldError[] {
  if (typeof value === 'string') return /^\d+%$/.test(value) ? [] : [invalid(path, value, percentText)];
  const number = Number(value);
  return number < 0 ? [invalid(path, number, 'must be greater than or equal to 0')] : [];
}

/** A percentage must not exceed 100%. */
export function percentLimitErrors(value: unknown, path: string): FieldError[] {
  const tooMuch = typeof value === 'string' && /^\d+%$/.test(value) && Number.parseInt(value, 10) > 100;
  return tooMuch ? [invalid(path, value, 'must not be greater than 100%')] : [];
}

/** Reports values that occur more than once. */
export class DuplicateCheck {
  readonly #seen = new Set<string>();
  check(value: string, path: string): FieldError[] {
    if (this.#seen.has(value)) return [duplicate(path, value)];
    this.#seen.add(value);
    return [];
  }
}
