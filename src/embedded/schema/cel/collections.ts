// The CEL functions of Kubernetes for lists, sets, regular expressions and strings.
import type { Environment } from '@marcbachmann/cel-js';
import { isDeepStrictEqual } from 'node:util';
import { re2 } from '../regex.ts';

type Comparable = bigint | number | string | boolean | Date;

function compare(a: Comparable, b: Comparable): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function extreme(list: readonly Comparable[], name: string, sign: number): Comparable {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error(`${name} called on empty list`);
  return rest.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best), first);
}

function sum(list: readonly unknown[]): unknown {
  if (list.length > 0 && typeof list[0] === 'number')
    return (list as number[]).reduce((total, item) => total + item, 0);
  return (list as bigint[]).reduce((total, item) => total + item, 0n);
}

function includes(list: readonly unknown[], value: unknown): boolean {
  return list.some((item) => isDeepStrictEqual(item, value));
}

function registerLists(environment: Environment): void {
  environment
    .registerFunction('list.isSorted(): bool', (list: Comparable[]) =>
      list.every((item, index) => index === 0 || compare(list[index - 1]!, item) <= 0),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: Comparable[]) => extreme(list, 'min', -1))
    .registerFunction('list.max(): dyn', (list: Comparable[]) => extreme(list, 'max', 1))
    .registerFunction('list.indexOf(dyn): int', (list: unknown[], value: unknown) =>
      BigInt(list.findIndex((item) => isDeepStrictEqual(item, value))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: unknown[], value: unknown) =>
      BigInt(list.findLastIndex((item) => isDeepStrictEqual(item, value))),
    )
    .registerFunction('list.distinct(): list', (list: unknown[]) =>
      list.filter((item, index) => list.findIndex((other) => isDeepStrictEqual(other, item)) === index),
    )
    .registerFunction('list.reverse(): list', (list: unknown[]) => list.toReversed())
    .registerFunction('list.slice(int, int): list', (list: unknown[], start: bigint, end: bigint) =>
      list.slice(Number(start), Number(end)),
    );
}

/** The type of `sets` in `sets.contains(a, b)`. */
class SetsNamespace {
  readonly name = 'sets';
}

function registerSets(environment: Environment): void {
  const contains = (list: unknown[], part: unknown[]): boolean => part.every((item) => includes(list, item));
  environment
    .registerType('SetsNamespace', { ctor: SetsNamespace, fields: {} })
    .registerConstant('sets', 'SetsNamespace', new SetsNamespace())
    .registerFunction('SetsNamespace.contains(list, list): bool', (_: unknown, list: unknown[], part: unknown[]) =>
      contains(list, part),
    )
    .registerFunction(
      'SetsNamespace.equivalent(list, list): bool',
      (_: unknown, a: unknown[], b: unknown[]) => contains(a, b) && contains(b, a),
    )
    .registerFunction('SetsNamespace.intersects(list, list): bool', (_: unknown, a: unknown[], b: unknown[]) =>
      a.some((item) => includes(b, item)),
    );
}

function findAll(text: string, pattern: string, limit: number): string[] {
  const expression = re2(pattern);
  const matches = text.matchAll(new RegExp(expression.source, `${expression.flags}g`));
  const found: string[] = [];
  for (const [match] of matches) {
    if (limit >= 0 && found.length >= limit) break;
    found.push(match);
  }
  return found;
}

function replace(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to);
  const parts = text.split(from);
  const count = Math.min(Number(limit), parts.length - 1);
  return (
    parts.slice(0, count + 1).join(to) +
    parts
      .slice(count + 1)
      .map((part) => from + part)
      .join('')
  );
}

/** `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X`, `%o` and `%%`, with an optional precision for `%f` and `%e`. */
function format(template: string, values: readonly unknown[]): string {
  let next = 0;
  return template.replaceAll(/%(?:\.(\d+))?([sdfebxXo%])/g, (_match, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%';
    if (next >= values.length) throw new Error(`index ${next} out of range`);
    return formatOne(values[next++], verb, precision === undefined ? 6 : Number(precision));
  });
}

function formatOne(value: unknown, verb: string, precision: number): string {
  if (verb === 's') return display(value);
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw new Error(`%${verb} cannot format ${display(value)}`);
  if (verb === 'f') return Number(value).toFixed(precision);
  if (verb === 'e')
    return Number(value)
      .toExponential(precision)
      .replace(/e([+-])(\d)$/, 'e$10$2');
  if (verb === 'd') return `${value}`;
  const radix = verb === 'b' ? 2 : verb === 'o' ? 8 : 16;
  const text = value.toString(radix);
  return verb === 'X' ? text.toUpperCase() : text;
}

function display(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(display).join(', ')}]`;
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z');
  if (
    typeof value === 'object' &&
    value !== null &&
    (Object.getPrototypeOf(value) === null || value.constructor === Object)
  ) {
    const entries = Object.entries(value).sort(([a], [b]) => compare(a, b));
    return `{${entries.map(([key, item]) => `${key}: ${display(item)}`).join(', ')}}`;
  }
  return value === null ? 'null' : (value as { toString(): string }).toString();
}

function registerStrings(environment: Environment): void {
  environment
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => re2(pattern).exec(text)?.[0] ?? '',
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
      findAll(text, pattern, -1),
    )
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, limit: bigint) =>
      findAll(text, pattern, Number(limit)),
    )
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => {
      const characters = Array.from(text);
      if (index < 0n || index > BigInt(characters.length)) throw new Error(`index out of range: ${index}`);
      return characters[Number(index)] ?? '';
    })
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      replace(text, from, to, -1n),
    )
    .registerFunction('string.replace(string, string, int): string', replace)
    .registerFunction('string.reverse(): string', (text: string) => Array.from(text).toReversed().join(''))
    .registerFunction('string.format(list): string', format);
}

export function registerCollections(environment: Environment): void {
  registerLists(environment);
  registerSets(environment);
  registerStrings(environment);
}
