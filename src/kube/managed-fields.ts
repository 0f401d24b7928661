// managedFields are often half of an object, and of the foreign part nobody here reads a word. So tables drop it, and
// lists and watches that feed tables do not even parse it: that halves the cost of an event.
import { parseJson } from './json.ts';
import type { KubeObject } from './objects.ts';

/** The object with only those managedFields that a field manager of ours left. */
export function withoutForeignManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata;
  if (!managedFields) return object;
  const ours = managedFields.filter((entry) => entry.manager?.startsWith('offshoot'));
  return { ...object, metadata: ours.length > 0 ? { ...metadata, managedFields: ours } : metadata };
}

const KEY = Buffer.from('"managedFields":[');
const OURS = Buffer.from('"manager":"offshoot');
const [QUOTE, BACKSLASH, OPEN, CLOSE] = Buffer.from('"\\[]') as unknown as readonly [number, number, number, number];
/** Stands for a list that was left out. No server writes a number there. */
const LEFT_OUT = '0';

/** An object of which metadata may still be changed, as it comes from the parser. */
interface Parsed {
  metadata?: { readonly managedFields?: unknown };
}

/**
 * Reads a message without the managedFields of its objects, except where one of ours is among them. The lists are cut
 * out of the text, and every cut must turn up again in the metadata of one of the objects: if one does not, it was the
 * list of something else, and everything is read.
 */
export function parseWithoutForeign(source: Buffer, objectsOf: (message: unknown) => readonly Parsed[]): unknown {
  const { text, count } = cut(source);
  if (count === 0) return parseJson(source);
  const message = parseJson(text);
  const objects = objectsOf(message).filter((object) => object?.metadata?.managedFields === Number(LEFT_OUT));
  if (objects.length !== count) return parseJson(source);
  for (const object of objects) {
    const { managedFields: _leftOut, ...metadata } = object.metadata!;
    object.metadata = metadata;
  }
  return message;
}

/** The place of the bracket that closes the list; the end of the source when there is none. */
function endOfList(source: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  for (; at < source.length; at++) {
    const code = source[at];
    if (code === QUOTE) {
      for (at++; at < source.length && source[at] !== QUOTE; at++) if (source[at] === BACKSLASH) at++;
    } else if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) break;
  }
  return at;
}

function cut(source: Buffer): { readonly text: string; readonly count: number } {
  const parts: string[] = [];
  let count = 0;
  let from = 0;
  for (let at = source.indexOf(KEY); at >= 0; at = source.indexOf(KEY, from)) {
    const start = at + KEY.length - 1;
    const end = endOfList(source, start);
    const isOurs = source.subarray(start, end).includes(OURS);
    parts.push(source.toString('utf8', from, isOurs ? end + 1 : start));
    if (!isOurs) {
      parts.push(LEFT_OUT);
      count++;
    }
    from = end + 1;
  }
  parts.push(source.toString('utf8', from));
  return { text: parts.join(''), count };
}
