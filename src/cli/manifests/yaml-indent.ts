// Indents quotes and brackets that span several lines: unlike kubectl, our parser requires it. Leading blanks mean
// nothing there, so adding some does not change the value. Called by kubectl-yaml.ts for texts with errors.
import { Lexer } from 'yaml';

export interface Indented {
  readonly text: string;
  /** The number of added columns, by line number from 1. */
  readonly added: ReadonlyMap<number, number>;
}

/** Tokens that are not part of the text. */
const CONTROL_TOKENS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

/** Indents all continuation lines of quotes and brackets beyond their start. */
export function indented(text: string): Indented {
  const added = new Map<number, number>();
  let current = text;
  for (let from = 0; ;) {
    const next = findMultiline(current, from);
    if (next === undefined) return { text: current, added };
    const [start, end] = next;
    current = deepened(current, start, end, added);
    from = start + 1;
  }
}

/** The first quote or bracket at or after an offset that ends on another line. */
function findMultiline(text: string, from: number): [start: number, end: number] | undefined {
  let offset = 0;
  for (const token of new Lexer().lex(text)) {
    if (CONTROL_TOKENS.has(token)) continue;
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
    const width = Math.max(column + 1, blanks.length);
    line += 1;
    added.set(line, (added.get(line) ?? 0) + width - blanks.length);
    return `\n${' '.repeat(width)}`;
  });
  return text.slice(0, start) + inside + text.slice(end);
}

/** The offset after the closing quote, or the end of the text. */
function endOfQuote(text: string, start: number): number {
  const pattern = text[start] === '"' ? /"(?:[^"\\]|\\[^])*"/y : /'(?:[^']|'')*'/y;
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : text.length;
}

/** The offset after the matching closing bracket. */
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
