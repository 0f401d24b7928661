// managedFields are often half of an object, and nobody here reads those of other field managers. So tables drop them,
// and lists and watches that feed tables do not even parse them: that halves the cost of an event.
import { parseJson } from './json.ts';
import type { KubeObject } from './objects.ts';

/** The name prefixes of our field managers. Istio's installer is one of them: we take over what it applied. */
const OUR_MANAGERS = ['offshoot', 'istio-operator'];

/** The object with only the managedFields of our field managers. */
export function withoutForeignManagedFields<T extends KubeObject>(object: T): T {
  if (!object.metadata.managedFields) return object;
  const { managedFields, ...metadata } = object.metadata;
  const ours = managedFields.filter(({ manager }) => OUR_MANAGERS.some((name) => manager?.startsWith(name)));
  return { ...object, metadata: ours.length > 0 ? { ...metadata, managedFields: ours } : metadata };
}

// Only the ends of the key and of the manager field are searched for: they start with a rare character.
const KEY = '"managedFields":[';
const KEY_END = Buffer.from('Fields":[');
const OURS = OUR_MANAGERS.map((name) => Buffer.from(`ger":"${name}`));
const CLOSE = Buffer.from(']')[0]!;
/** Replaces a list that was left out. No server writes a number there. */
const LEFT_OUT = 0;
const LEFT_OUT_DIGIT = Buffer.from(String(LEFT_OUT))[0]!;
/** Holds the text without the lists, unless it is longer. */
const scratch = Buffer.alloc(64 * 1024);

/** An object from the parser, whose metadata may still be changed. */
type Parsed = { metadata?: { readonly managedFields?: unknown } } | undefined;

/**
 * Parses a message without the managedFields of its objects, except where one of ours is among them. The lists are cut
 * out of the text, each up to the next closing bracket, which is nearly always its own. A wrong cut is detected, and
 * then everything is parsed:
 *  * The list may belong to something else. Then its placeholder is not in the metadata of one of the objects.
 *  * The bracket may belong to a nested list. Then more brackets are closed than opened.
 *  * The bracket may be inside a string. Then what follows has an odd number of quotes, and no other wrong cut could
 *    make it even: between the two, strings and the rest are swapped, and a key outside a string is not JSON.
 */
export function parseWithoutForeign(source: Buffer, objectsOf: (message: unknown) => readonly Parsed[]): unknown {
  const { text, count } = cut(source);
  const message = count > 0 ? parseCut(text) : undefined;
  if (message === undefined) return parseJson(source);
  const objects = objectsOf(message).filter((object) => object?.metadata?.managedFields === LEFT_OUT);
  if (objects.length !== count) return parseJson(source);
  for (const object of objects) {
    const { managedFields: _leftOut, ...metadata } = object!.metadata!;
    object!.metadata = metadata;
  }
  return message;
}

function parseCut(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** The position of the next bracket that opens a list of managed fields; -1 if there is none. */
function startOfList(source: Buffer, from: number): number {
  for (let at = from; (at = source.indexOf(KEY_END, at)) >= 0; at++) {
    const end = at + KEY_END.length;
    if (source.toString('latin1', Math.max(from, end - KEY.length), end) === KEY) return end - 1;
  }
  return -1;
}

function cut(source: Buffer): { readonly text: string; readonly count: number } {
  let start = startOfList(source, 0);
  if (start < 0) return { text: '', count: 0 };
  const text = source.length <= scratch.length ? scratch : Buffer.allocUnsafe(source.length);
  let length = 0;
  let count = 0;
  let from = 0;
  for (; start >= 0; start = startOfList(source, from)) {
    const end = source.indexOf(CLOSE, start);
    if (end < 0) break;
    const list = source.subarray(start, end);
    const isOurs = OURS.some((name) => list.includes(name));
    length += source.copy(text, length, from, isOurs ? end + 1 : start);
    if (!isOurs) {
      text[length++] = LEFT_OUT_DIGIT;
      count++;
    }
    from = end + 1;
  }
  length += source.copy(text, length, from);
  return { text: text.toString('utf8', 0, length), count };
}
