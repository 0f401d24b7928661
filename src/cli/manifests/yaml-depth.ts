// Finds text that is nested too deeply before it is parsed: recursive parsers would take minutes or overflow the stack.
import { Lexer } from 'yaml';

/** Far more than any Kubernetes object needs. */
const MAX_DEPTH = 100;

export const TOO_DEEP = `lists and maps are nested more than ${MAX_DEPTH} deep`;

/** The lexer emits this before every scalar. */
const SCALAR = '\u001f';
/** Tokens that are not part of the text. */
const CONTROL_TOKENS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

/** The offset at which YAML is nested too deeply, by brackets or by dashes on one line. */
export function tooDeepYaml(text: string): number | undefined {
  if (!mayBeDeep(text)) return undefined;
  let offset = 0;
  let brackets = 0;
  let dashes = 0;
  let before = '';
  for (const token of new Lexer().lex(text)) {
    if (before !== SCALAR) {
      if (token === '[' || token === '{') brackets++;
      else if (token === ']' || token === '}') brackets--;
      else if (token === '-' || token === '?') dashes++;
      if (brackets > MAX_DEPTH || dashes > MAX_DEPTH) return offset;
    }
    if (token.includes('\n')) dashes = 0;
    if (!CONTROL_TOKENS.has(token)) offset += token.length;
    before = token;
  }
}

/** The offset at which JSON is nested too deeply. */
export function tooDeepJson(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') {
      if (++depth > MAX_DEPTH) return at;
    } else if (char === ']' || char === '}') depth--;
  }
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** A cheap check whether there are enough brackets or consecutive dashes to be too deep. */
function mayBeDeep(text: string): boolean {
  const opening = /[[{]|[-?][ \t]+[-?][ \t]/g;
  for (let found = 0; found < MAX_DEPTH / 2; found++) if (!opening.test(text)) return false;
  return true;
}
