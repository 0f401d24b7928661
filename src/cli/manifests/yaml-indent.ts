// Quotes and brackets over several lines: kubectl does not care how far these are indented, the parser that we use does.
// Leading blanks mean nothing there, so more of them make both agree. Called by kubectl-yaml.ts for texts with errors.
import { Lexer } from 'yaml';

export interface Indented {
  readonly text: string;
  /** How many columns were put before the rest of a line, by line from 1. */
  readonly added: ReadonlyMap<number, number>;
}

/** Tokens of the lexer that are not in the text. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/** The text with every continued line of quotes and brackets deeper than where these begin. */
export function indented(text: string): Indented {
  const added = new Map<number, number>();
  let current = text;
  for (let from = 0; ;) {
    const next = unfinished(current, from);
    if (next === undefined) return { text: current, added };
    const [start, end] = next;
    current = deepened(current, start, end, added);
    from = start + 1;
  }
}

/** The first quote or bracket at or after an offset that ends on another line. */
function unfinished(text: string, from: number): [start: number, end: number] | undefined {
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (MARKS.has(token)) continue;
    const start = offset;
    offset += token.length;
    if (start < from || !/^["'[{]/.test(token)) continue;
    const end = /^["']/.test(token) ? endOfQuote(text, start) : endOfBrackets(text, start);
    const inside = text.slice(start, end);
    if (inside.includes('\n') && !/\n---/.test(inside)) return [start, end];
  }
  return undefined;
}

function deepened(text: string, start: number, end: number, added: Map<number, number>): string {
  const column = start - (text.lastIndexOf('\n', start) + 1);
  let line = text.slice(0, start).split('\n').length;
  const inside = text.slice(start, end).replaceAll(/\n([ \t]*)/g, (_match, blanks: string) => {
    const wanted = Math.max(column + 1, blanks.length);
    line += 1;
    added.set(line, (added.get(line) ?? 0) + wanted - blanks.length);
    return `\n${' '.repeat(wanted)}`;
  });
  return text.slice(0, start) + inside + text.slice(end);
}

/** Behind the closing quote, or at the end of the text. */
function endOfQuote(text: string, start: number): number {
  const pattern = text[start] === '"' ? /"(?:[^"\\]|\\[^])*"/y : /'(?:[^']|'')*'/y;
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : text.length;
}

/** Behind the bracket that closes the one at the start. */
function endOfBrackets(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (/["']/.test(character) && /[\s[{,:]/.test(text[at - 1]!)) at = endOfQuote(text, at) - 1;
    else if (character === '#' && /\s/.test(text[at - 1]!)) at = lineEnd(text, at) - 1;
    else if (/[[{]/.test(character)) depth += 1;
    else if (/[\]}]/.test(character) && --depth === 0) return at + 1;
  }
  return text.length;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
