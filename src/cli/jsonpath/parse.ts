// Parses a template of `-o jsonpath=…`: text, and in braces the paths, quoted strings and loops that kubectl supports.
// Templates that kubectl rejects are rejected here too. evaluate.ts evaluates a template.

export type Template = readonly Part[];

type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'action'; readonly nodes: Path }
  | { readonly is: 'range'; readonly over: Path; readonly body: Template };

export type Path = readonly Node[];

export type Node =
  | { readonly is: 'literal'; readonly value: string | number | boolean }
  | { readonly is: 'field'; readonly name: string }
  | { readonly is: 'wildcard' }
  | { readonly is: 'descend' }
  | Slice
  | { readonly is: 'union'; readonly of: readonly Path[] }
  | Filter;

/** Bounds as written: missing ones depend on the list. An index is a slice of one element. */
export interface Slice {
  readonly is: 'slice';
  readonly from?: number;
  readonly to?: number;
  readonly isIndex: boolean;
  readonly step?: number;
}

/** Selects elements for which a comparison holds or, without one, that have a value at a path. */
export interface Filter {
  readonly is: 'filter';
  readonly left: Path;
  readonly compare?: { readonly operator: string; readonly right: Path };
}

/** An invalid template, or a value that it can't be applied to. */
export class JsonPathError extends Error {
  override readonly name = 'JsonPathError';
}

/** The content of braces, before ranges are assembled. */
interface Action {
  readonly nodes: Path;
  readonly word?: 'range' | 'end';
}

export function parseTemplate(text: string): Template {
  if (text === '') throw new JsonPathError('the template is missing: write it as jsonpath={.metadata.name}');
  const tokens: (string | Action)[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    if (open !== at) tokens.push(text.slice(at, open < 0 ? undefined : open));
    if (open < 0) break;
    const scanner = new Scanner(text, open + 1);
    tokens.push(scanner.action());
    at = scanner.at;
  }
  const template = partsOf(tokens, 0);
  if (template.next < tokens.length) throw new JsonPathError('{end} ends nothing: there is no {range …} before it');
  return template.parts;
}

/** Parts up to the end of the enclosing range; an unclosed range extends to the end of the template. */
function partsOf(tokens: readonly (string | Action)[], start: number): { parts: Part[]; next: number } {
  const parts: Part[] = [];
  for (let at = start; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (typeof token === 'string') parts.push({ is: 'text', text: token });
    else if (token.word === 'end') return { parts, next: at };
    else if (token.word === undefined) parts.push({ is: 'action', nodes: token.nodes });
    else {
      const body = partsOf(tokens, at + 1);
      parts.push({ is: 'range', over: token.nodes, body: body.parts });
      at = body.next;
    }
  }
  return { parts, next: tokens.length };
}

const ENDS_NAME = /[\s.,[\]$@{}]/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v' };

/** Scans the content of braces, of a filter or of an index, from an offset. */
class Scanner {
  readonly #text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.at = at;
  }

  /** Scans past the closing brace. */
  action(): Action {
    const { nodes, word } = this.#nodes('}');
    return { nodes, ...(word && { word }) };
  }

  /** Scans the whole text. */
  path(): Path {
    return this.#nodes('').nodes;
  }

  #nodes(end: '}' | ''): { nodes: Node[]; word?: 'range' | 'end' } {
    const nodes: Node[] = [];
    let word: 'range' | 'end' | undefined;
    for (;;) {
      const rest = this.#text.slice(this.at);
      const next = rest[0];
      if (next === end || (end === '' && next === undefined)) break;
      if (next === undefined || next === '\n') throw new JsonPathError('a { is not closed');
      if (next === ' ' || next === '@' || next === '$') this.at++;
      else if (rest.startsWith('[?(')) nodes.push(this.#filter());
      else if (rest.startsWith('..')) nodes.push(...this.#descend(nodes.at(-1)));
      else if (next === '[') nodes.push(...this.#brackets());
      else if (next === '"' || next === "'") nodes.push({ is: 'literal', value: this.#quoted(next) });
      else if (next === '.') nodes.push(this.#field());
      else if (/[-+\d]/.test(next)) nodes.push({ is: 'literal', value: this.#number() });
      else if (/[\p{L}\p{N}_]/u.test(next)) {
        const name = this.#name();
        if (name === 'range' || name === 'end') word = name;
        else if (name === 'true' || name === 'false') nodes.push({ is: 'literal', value: name === 'true' });
        else throw new JsonPathError(`"${name}" means nothing: a field is written with a dot, as .${name}`);
      } else throw new JsonPathError(`"${next}" means nothing in braces`);
    }
    this.at++;
    return { nodes, ...(word && { word }) };
  }

  /** A name up to a delimiter; a backslash escapes the next character. */
  #name(): string {
    let name = '';
    while (this.at < this.#text.length && !ENDS_NAME.test(this.#text[this.at]!)) {
      if (this.#text[this.at] === '\\') this.at++;
      name += this.#text[this.at++] ?? '';
    }
    return name;
  }

  #field(): Node {
    this.at++;
    const name = this.#name();
    return name === '*' ? { is: 'wildcard' } : { is: 'field', name };
  }

  #descend(before: Node | undefined): Node[] {
    if (before?.is === 'descend') throw new JsonPathError('".." twice in a row');
    this.at++;
    // The second dot belongs to a field, if one follows.
    if (/[\p{L}\p{N}_]/u.test(this.#text[this.at + 1] ?? '')) return [{ is: 'descend' }, this.#field()];
    this.at++;
    return [{ is: 'descend' }];
  }

  #number(): number {
    const [text] = /^[-+]?[\d.]*/.exec(this.#text.slice(this.at))!;
    this.at += text.length;
    const value = Number(text);
    if (text === '' || Number.isNaN(value)) throw new JsonPathError(`"${text}" is not a number`);
    return value;
  }

  #quoted(quote: string): string {
    let value = '';
    for (this.at++; this.#text[this.at] !== quote; this.at++) {
      const character = this.#text[this.at];
      if (character === undefined || character === '\n') throw new JsonPathError(`a ${quote} is not closed`);
      if (character !== '\\') {
        value += character;
        continue;
      }
      const escaped = this.#text[++this.at] ?? '';
      const [hex = ''] =
        escaped === 'u' || escaped === 'x'
          ? (/^([\da-f]{4}|[\da-f]{2})/i.exec(this.#text.slice(this.at + 1, this.at + (escaped === 'u' ? 5 : 3))) ?? [])
          : [];
      value += hex === '' ? (ESCAPES[escaped] ?? escaped) : String.fromCodePoint(Number.parseInt(hex, 16));
      this.at += hex.length;
    }
    this.at++;
    return value;
  }

  #brackets(): Path {
    const close = this.#text.indexOf(']', this.at);
    const inner = this.#text.slice(this.at + 1, close);
    if (close < 0 || inner.includes('\n')) throw new JsonPathError('a [ is not closed');
    this.at = close + 1;
    const several = inner.split(',');
    if (several.length === 1) return bracketed(inner);
    return [{ is: 'union', of: several.map((each) => bracketed(each.trim())) }];
  }

  #filter(): Filter {
    const start = this.at + 3;
    let quote = '';
    let end = start;
    for (; this.#text[end] !== ')' || quote !== ''; end++) {
      const character = this.#text[end];
      if (character === undefined || character === '\n') throw new JsonPathError('a [?( is not closed');
      if (character === '\\') end++;
      else if (quote === '' && (character === '"' || character === "'")) quote = character;
      else if (character === quote) quote = '';
    }
    if (this.#text[end + 1] !== ']') throw new JsonPathError('a [?( is closed by )]');
    this.at = end + 2;
    const text = this.#text.slice(start, end);
    const compared = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text);
    if (compared === null) return { is: 'filter', left: new Scanner(text).path() };
    const [, left, operator, right] = compared as unknown as [string, string, string, string];
    if (!/^(==|!=|<=?|>=?)$/.test(operator)) throw new JsonPathError(`there is no comparison ${operator}`);
    return {
      is: 'filter',
      left: new Scanner(left).path(),
      compare: { operator, right: new Scanner(right).path() },
    };
  }
}

/** The content of brackets other than a filter: a quoted key, an index or a slice. */
function bracketed(inner: string): Path {
  const key = /^'([^']*)'$/.exec(inner)?.[1];
  if (key !== undefined) return new Scanner(`.${key}`).path();
  const [matched, from = '', to, step] = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(inner === '*' ? ':' : inner) ?? [];
  if (matched === undefined) throw new JsonPathError(`[${inner}] is no index, slice or key in single quotes`);
  const bound = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);
  const bounds = Object.entries({ from: bound(from), to: bound(to), step: bound(step) });
  const known = Object.fromEntries(bounds.filter(([, value]) => value !== undefined));
  return [{ is: 'slice', isIndex: to === undefined, ...known }];
}
