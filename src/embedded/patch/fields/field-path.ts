// Elements of field paths, in the format of `managedFields`: `f:name`, `k:{"name":"a"}`, `v:"x"`, `i:0`.
// Equal elements are equal strings, so they can be used as map keys.
import { isObject, sameScalar, type JsonObject } from '../json.ts';

/** The element of a field of an object. */
export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** The element of a list item with these key fields. */
export function keyElement(keys: JsonObject): string {
  const names = Object.keys(keys).sort(compareStrings);
  return `k:{${names.map((name) => `${scalarText(name)}:${scalarText(keys[name])}`).join(',')}}`;
}

/** The element of a scalar in a set. */
export function valueElement(value: unknown): string {
  return `v:${scalarText(value)}`;
}

/** Parses a stored element into its canonical form; undefined for an unknown kind, which a reader must skip. */
export function parseElement(stored: string): string | undefined {
  const content = stored.slice(2);
  switch (stored.slice(0, 2)) {
    case 'f:':
      return stored;
    case 'v:':
      return valueElement(JSON.parse(content, keepBigIntegers));
    case 'k:': {
      const keys: unknown = JSON.parse(content, keepBigIntegers);
      if (!isObject(keys)) throw new SyntaxError(`"${stored}" must hold an object`);
      return keyElement(keys);
    }
    case 'i:':
      if (!/^-?\d+$/.test(content)) throw new SyntaxError(`"${stored}" must hold a number`);
      return stored;
    default:
      if (stored.length < 2 || stored[1] !== ':') throw new SyntaxError(`"${stored}" has no kind, such as "f:"`);
      return undefined;
  }
}

/** The name in a field element; undefined for the other kinds. */
export function fieldName(element: string): string | undefined {
  return element.startsWith('f:') ? element.slice(2) : undefined;
}

export function isKeyElement(element: string): boolean {
  return element.startsWith('k:');
}

/** Formats a path: `.spec.containers[name="a"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('');
}

/** Formats one element. */
export function elementText(element: string): string {
  const content = element.slice(2);
  if (element.startsWith('f:')) return `.${content}`;
  if (element.startsWith('v:')) return `[=${scalarText(parseScalar(content))}]`;
  if (element.startsWith('i:')) return `[${content}]`;
  const keys = JSON.parse(content, keepBigIntegers) as JsonObject;
  return `[${Object.entries(keys)
    .map(([name, value]) => `${name}=${scalarText(value)}`)
    .join(',')}]`;
}

const KIND_ORDER = ['f', 'k', 'v', 'i'];

/** Sorts elements as `managedFields` stores them: fields, then keys, then values, then indices. */
export function sortedElements(elements: Iterable<string>): string[] {
  const all = [...elements];
  // Most sets contain only fields.
  if (all.every((element) => element.startsWith('f:'))) return all.sort(compareStrings);
  const byKind = Map.groupBy(all, (element) => element[0]!);
  return KIND_ORDER.flatMap((kind) => sortedKind(kind, byKind.get(kind) ?? []));
}

/** Parses each element once instead of at every comparison. */
function sortedKind(kind: string, elements: readonly string[]): readonly string[] {
  if (kind === 'f' || elements.length < 2) return elements.toSorted(compareStrings);
  const read = elements.map((element) => ({
    element,
    content: kind === 'k' ? parseKeys(element) : [['', parseScalar(element.slice(2))] as const],
  }));
  return read.sort((left, right) => compareKeys(left.content, right.content)).map(({ element }) => element);
}

function parseKeys(element: string): [string, unknown][] {
  return Object.entries(JSON.parse(element.slice(2), keepBigIntegers) as JsonObject);
}

type Keys = readonly (readonly [string, unknown])[];

function compareKeys(left: Keys, right: Keys): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [leftName, leftValue] = left[index]!;
    const [rightName, rightValue] = right[index]!;
    const order = compareStrings(leftName, rightName) || compareScalars(leftValue, rightValue);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

const TYPE_ORDER = ['number', 'string', 'boolean', 'object'];

function compareScalars(left: unknown, right: unknown): number {
  const typeOf = (value: unknown): string => (typeof value === 'bigint' ? 'number' : typeof value);
  const types = TYPE_ORDER.indexOf(typeOf(left)) - TYPE_ORDER.indexOf(typeOf(right));
  if (types !== 0) return types;
  if (typeof left === 'string' && typeof right === 'string') return compareStrings(left, right);
  if (sameScalar(left, right)) return 0;
  return (left as number) < (right as number) ? -1 : 1;
}

/** Compares by code units, like Go; `localeCompare` does not. */
export function compareStrings(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function parseScalar(text: string): unknown {
  return JSON.parse(text, keepBigIntegers);
}

/** A scalar as JSON, escaped like Go's encoder, so that the stored text equals that of kube-apiserver. */
export function scalarText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function keepBigIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
