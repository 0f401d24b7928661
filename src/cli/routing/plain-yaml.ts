// Reads YAML as kubectl prints it, many times faster than a full YAML parser: block maps and lists, and unambiguous
// scalars. For any other text it returns undefined, and the full parser reads it.
import { integerOf } from '../../kube/json.ts';

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Thrown for text that is not plain; never leaves this module. */
const NOT_PLAIN = new Error('not plain');

/** A key with its value, if the value is on the same line. */
const KEY = /^([A-Za-z_][\w./-]*|"[\w./:=-]+"):(?: (.*))?$/;
/** Words that YAML 1.1 does not read as strings. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const PLAIN = /^(?:--?)?[A-Za-z/][\w./@+=-]*(?::[\w./@+=-]+)*(?: [\w./@+(),=-]+)*$/;
/** Quantities, IP addresses and UUIDs: strings that begin like numbers. */
const PLAIN_DIGITS = /^(?:\d+(?:m|Ki|Mi|Gi)|\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const DOUBLE = /^"(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*"$/u;
const SINGLE = /^'(?:[^']|'')*'$/;

/** The value of a text, or undefined if it is not plain. */
export function readPlainYaml(text: string): unknown {
  try {
    const lines = linesOf(text);
    if (lines.length === 0) return undefined;
    const reader = new Reader(lines);
    const value = reader.block(lines[0]!.indent);
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  for (let start = 0; start < text.length;) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    let first = start;
    while (text.charCodeAt(first) === 32) first++;
    if (first < end) {
      const line = text.slice(first, end);
      if (line !== '---' || start > 0) lines.push({ indent: first - start, text: line });
    }
    start = end + 1;
  }
  return lines;
}

class Reader {
  readonly #lines: readonly Line[];
  #at = 0;

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  isAtEnd(): boolean {
    return this.#at === this.#lines.length;
  }

  /** The map or list that starts here, at this column. */
  block(indent: number): unknown {
    const line = this.#lines[this.#at]!;
    return line.text.startsWith('- ') ? this.#list(indent) : this.#map(indent, line.text, indent);
  }

  #list(indent: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent && line.text.startsWith('- ');) {
      const text = line.text.slice(2);
      if (text.startsWith(' ') || text.startsWith('- ')) throw NOT_PLAIN;
      if (KEY.test(text)) {
        items.push(this.#map(indent + 2, text, indent));
      } else {
        this.#at++;
        items.push(scalar(text));
      }
      line = this.#lines[this.#at];
    }
    this.#mustEnd(indent);
    return items;
  }

  /** A map whose first field is `first`; in a list, `from` is the column of the dash. */
  #map(indent: number, first: string, from: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    let text: string | undefined = first;
    while (text !== undefined) {
      const match = KEY.exec(text);
      if (match === null) throw NOT_PLAIN;
      const key = match[1]!.startsWith('"') ? match[1]!.slice(1, -1) : match[1]!;
      if (Object.hasOwn(map, key) || key === '__proto__' || WORDS.test(match[1]!)) throw NOT_PLAIN;
      this.#at++;
      map[key] = match[2] === undefined ? this.#below(indent) : scalar(match[2]);
      const next: Line | undefined = this.#lines[this.#at];
      text = next?.indent === indent && !next.text.startsWith('- ') ? next.text : undefined;
    }
    this.#mustEnd(from === indent ? indent : indent - 1);
    return map;
  }

  /** The value on the lines after a key; a list may start at the column of its key. */
  #below(indent: number): unknown {
    const line = this.#lines[this.#at];
    if (line === undefined) return null;
    if (line.indent > indent || (line.indent === indent && line.text.startsWith('- '))) return this.block(line.indent);
    return null;
  }

  /** Throws if the next line is indented further: it continues a multi-line scalar. */
  #mustEnd(indent: number): void {
    const next = this.#lines[this.#at];
    if (next !== undefined && next.indent > indent) throw NOT_PLAIN;
  }
}

function scalar(text: string): unknown {
  if (DOUBLE.test(text)) return JSON.parse(text) as string;
  if (INTEGER.test(text)) return integerOf(text);
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === 'null') return null;
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  if (PLAIN_DIGITS.test(text)) return text;
  if (SINGLE.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  throw NOT_PLAIN;
}
