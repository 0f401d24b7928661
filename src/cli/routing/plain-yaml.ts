// Reads YAML as kubectl prints it, many times as fast as a parser of all of YAML: block maps and lists, and scalars that
// have only one meaning. Whatever else is in a text makes it undefined, and the parser reads it.
import { integerOf } from '../../kube/json.ts';

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Signals a text that is not for us; it is never seen outside. */
const OTHER = new Error('not plain');

/** Ends a key; what follows it is a value. */
const KEY = /^([A-Za-z_][\w./-]*|"[\w./:=-]+"):(?: (.*))?$/;
/** Words that YAML 1.1 takes for something else than text. */
const WORDS = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
const PLAIN = /^(?:--?)?[A-Za-z/][\w./@+=-]*(?::[\w./@+=-]+)*(?: [\w./@+(),=-]+)*$/;
/** Quantities, addresses and identifiers: text, though they begin like numbers. */
const PLAIN_DIGITS = /^(?:\d+(?:m|Ki|Mi|Gi)|\d{1,3}(?:\.\d{1,3}){3}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;
const INTEGER = /^(?:0|-?[1-9]\d*)$/;
const DOUBLE = /^"(?:[^"\\\p{Cc}]|\\["\\/bfnrt])*"$/u;
const SINGLE = /^'(?:[^']|'')*'$/;

/** The value of a text, or undefined if it is not as plain as that. */
export function readPlainYaml(text: string): unknown {
  try {
    const lines = linesOf(text);
    if (lines.length === 0) return undefined;
    const reader = new Reader(lines);
    const value = reader.block(lines[0]!.indent);
    return reader.isAtEnd() ? value : undefined;
  } catch (error) {
    if (error === OTHER) return undefined;
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

  /** The map or list that begins here, at this column. */
  block(indent: number): unknown {
    const line = this.#lines[this.#at]!;
    return line.text.startsWith('- ') ? this.#list(indent) : this.#map(indent, line.text, indent);
  }

  #list(indent: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#lines[this.#at]; line?.indent === indent && line.text.startsWith('- ');) {
      const text = line.text.slice(2);
      if (text.startsWith(' ') || text.startsWith('- ')) throw OTHER;
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

  /** A map whose first field is `first`; in a list that stands behind a dash, at the column `from`. */
  #map(indent: number, first: string, from: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    let text: string | undefined = first;
    while (text !== undefined) {
      const match = KEY.exec(text);
      if (match === null) throw OTHER;
      const key = match[1]!.startsWith('"') ? match[1]!.slice(1, -1) : match[1]!;
      if (Object.hasOwn(map, key) || key === '__proto__' || WORDS.test(match[1]!)) throw OTHER;
      this.#at++;
      map[key] = match[2] === undefined ? this.#below(indent) : scalar(match[2]);
      const next: Line | undefined = this.#lines[this.#at];
      text = next?.indent === indent && !next.text.startsWith('- ') ? next.text : undefined;
    }
    this.#mustEnd(from === indent ? indent : indent - 1);
    return map;
  }

  /** What stands on the lines after a key: a list may be as far left as its key. */
  #below(indent: number): unknown {
    const line = this.#lines[this.#at];
    if (line === undefined) return null;
    if (line.indent > indent || (line.indent === indent && line.text.startsWith('- '))) return this.block(line.indent);
    return null;
  }

  /** A line that is further right than what was read belongs to a scalar over several lines. */
  #mustEnd(indent: number): void {
    const next = this.#lines[this.#at];
    if (next !== undefined && next.indent > indent) throw OTHER;
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
  throw OTHER;
}
