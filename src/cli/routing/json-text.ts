// Finds positions in JSON text without building a tree: the values of a stream, and the offset of a field.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gy;

interface Token {
  readonly text: string;
  readonly at: number;
}

/** The tokens of a text from an offset. */
function* tokensOf(text: string, from: number): Generator<Token> {
  const space = /\s*/y;
  let at = from;
  for (;;) {
    space.lastIndex = at;
    space.exec(text);
    TOKEN.lastIndex = space.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) return;
    yield { text: match[0], at: match.index };
    at = TOKEN.lastIndex;
  }
}

/** The concatenated values of a text, with their offsets. */
export function valuesOf(text: string): (readonly [value: string, at: number])[] {
  const values: [string, number][] = [];
  let depth = 0;
  let start = 0;
  for (const { text: token, at } of tokensOf(text, 0)) {
    if (depth === 0) start = at;
    if (token === '{' || token === '[') depth++;
    if (token === '}' || token === ']') depth--;
    if (depth === 0) values.push([text.slice(start, at + token.length), start]);
  }
  if (depth !== 0) values.push([text.slice(start), start]);
  return values;
}

/** The offsets of list items, those of the field `items` of the outermost object. */
export function itemOffsets(text: string): readonly number[] {
  const offsets: number[] = [];
  let depth = 0;
  let inItems = false;
  let before = '';
  let key = '';
  for (const { text: token, at } of tokensOf(text, 0)) {
    if (token === ':' && depth === 1) key = before;
    if (inItems && depth === 2 && token !== ',' && token !== ']') offsets.push(at);
    if (token === '{' || token === '[') {
      if (depth === 1) inItems = key === '"items"' && token === '[';
      depth++;
    }
    if (token === '}' || token === ']') depth--;
    before = token;
  }
  return offsets;
}

/** The offset of a field or item, or of its nearest existing parent. */
export function offsetIn(text: string, path: readonly (string | number)[]): number {
  let found = Math.max(text.search(/\S/), 0);
  if (path.length === 0) return found;
  let depth = 0;
  let matched = 0;
  // One entry per open object or list: the current key or index.
  const open: { key: string | number; isKey: boolean }[] = [];
  for (const { text: token, at } of tokensOf(text, 0)) {
    const top = open[depth - 1];
    const isEnd = token === '}' || token === ']';
    // The value itself has ended.
    if (top === undefined && at > found && (isEnd || token === ',' || token === ':')) return found;
    if (isEnd) {
      open.length = --depth;
      if (depth < matched || depth === 0) return found;
      continue;
    }
    if (token === ',') {
      if (top !== undefined) {
        if (typeof top.key === 'number') top.key++;
        else top.isKey = true;
      }
      continue;
    }
    if (token === ':') {
      top!.isKey = false;
      continue;
    }
    if (top?.isKey) {
      top.key = keyOf(token);
      if (depth === matched + 1 && String(path[matched]) === top.key) found = at;
      continue;
    }
    if (top !== undefined && depth === matched + 1 && String(path[matched]) === String(top.key)) {
      matched++;
      if (typeof top.key === 'number') found = at;
      if (matched === path.length) return found;
    }
    if (token === '{' || token === '[') {
      open[depth++] = token === '{' ? { key: '', isKey: true } : { key: 0, isKey: false };
    }
  }
  return found;
}

/** The offset of a duplicate key, if there is one. The parsed value has lost one of the two. */
export function repeatedKey(text: string, value: unknown): number | undefined {
  if (colonsIn(text) === keysIn(value)) return undefined;
  const open: (Set<string> | undefined)[] = [];
  let before: Token | undefined;
  for (const token of tokensOf(text, 0)) {
    if (token.text === '{' || token.text === '[') open.push(token.text === '{' ? new Set() : undefined);
    else if (token.text === '}' || token.text === ']') open.pop();
    else if (token.text === ':' && before !== undefined) {
      const keys = open.at(-1);
      const key = keyOf(before.text);
      if (keys?.has(key)) return before.at;
      keys?.add(key);
    }
    before = token;
  }
}

/** The number of keys in JSON text: colons outside strings. */
function colonsIn(text: string): number {
  const QUOTE = 0x22;
  const COLON = 0x3a;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) count++;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  return count;
}

/** The offset of the closing quote of a string. */
function endOfString(text: string, start: number): number {
  const BACKSLASH = 0x5c;
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

function keysIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + keysIn(item), 0);
  let count = 0;
  for (const key in value) count += 1 + keysIn((value as Record<string, unknown>)[key]);
  return count;
}

function keyOf(token: string): string {
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
