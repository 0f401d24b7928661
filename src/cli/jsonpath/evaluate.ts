// Evaluates a template of `-o jsonpath=…` as kubectl does: results of a path are separated by spaces, objects and lists
// are printed as JSON, and a missing field prints nothing.
import { JsonPathError } from './parse.ts';
import type { Filter, Node, Path, Slice, Template } from './parse.ts';

export function evaluateTemplate(template: Template, value: unknown): string {
  return template
    .map((part) => {
      if (part.is === 'text') return part.text;
      if (part.is === 'action') return find(part.nodes, [value]).map(textOf).join(' ');
      return find(part.over, [value])
        .map((each) => evaluateTemplate(part.body, each))
        .join('');
    })
    .join('');
}

function find(path: Path, values: readonly unknown[]): readonly unknown[] {
  return path.reduce<readonly unknown[]>((found, node) => step(node, found), values);
}

function step(node: Node, values: readonly unknown[]): readonly unknown[] {
  switch (node.is) {
    case 'literal':
      return typeof node.value === 'string' ? [node.value] : values.map(() => node.value);
    case 'field':
      return values.flatMap((value) =>
        isMap(value) && Object.hasOwn(value, node.name) && value[node.name] !== undefined ? [value[node.name]] : [],
      );
    case 'wildcard':
      return values.flatMap((value) => (Array.isArray(value) || isMap(value) ? Object.values(value) : []));
    case 'descend':
      return values.flatMap(withDescendants);
    case 'slice':
      return values.flatMap((value) => sliceOf(node, value));
    case 'union':
      return node.of.flatMap((path) => find(path, values));
    case 'filter':
      return values.flatMap((value) => filtered(node, value));
  }
}

/** The value and all non-empty values below it, outermost first. */
function withDescendants(value: unknown): readonly unknown[] {
  const below = Array.isArray(value) || isMap(value) ? Object.values(value) : [];
  if (below.length > 0) return [value, ...below.flatMap(withDescendants)];
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function sliceOf({ from: first = 0, to: last, isIndex, step: width = 1 }: Slice, value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new JsonPathError(`${textOf(value)} is not a list: it has no index`);
  const { length } = value;
  const from = first < 0 ? first + length : first;
  const end = isIndex ? first + 1 : (last ?? length);
  const to = end < 0 || (isIndex && end === 0) ? end + length : end;
  if (from === to) return [];
  const outside = from < 0 || from >= length ? from : to < 0 || to > length ? to - 1 : undefined;
  if (outside !== undefined) throw new JsonPathError(`there is no index ${outside} in a list of ${length}`);
  if (from > to) throw new JsonPathError(`a slice begins at ${from} and ends before that, at ${to}`);
  if (width <= 0) throw new JsonPathError(`the step of a slice must be at least 1, found ${width}`);
  return value.slice(from, to).filter((_each: unknown, i: number) => i % width === 0) as readonly unknown[];
}

function filtered({ left, compare }: Filter, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new JsonPathError(`${textOf(value)} is not a list: it can't be filtered`);
  return value.filter((element: unknown) => {
    const lefts = find(left, [element]);
    if (compare === undefined || lefts.length === 0) return compare === undefined && lefts.length > 0;
    const rights = find(compare.right, [element]);
    if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('a filter compares one value at a time');
    return rights.length === 1 && holds(lefts[0], compare.operator, rights[0]);
  }) as readonly unknown[];
}

function holds(left: unknown, operator: string, right: unknown): boolean {
  const [a, b] = [left, right].map((each) => (typeof each === 'bigint' ? Number(each) : each)) as [string, string];
  if (typeof a !== typeof b || !['string', 'number', 'boolean'].includes(typeof a)) {
    throw new JsonPathError(`${textOf(left)} and ${textOf(right)} can't be compared: they are of different types`);
  }
  switch (operator) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

/** A value as kubectl prints it: strings without quotes. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : compactJson(value);
}

/** JSON as Go encodes it: keys sorted, and HTML characters escaped. */
function compactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`;
  if (isMap(value)) {
    const entries = Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `{${entries.map(([key, each]) => `${compactJson(key)}:${compactJson(each)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`,
  );
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
