// Finds what is nested too deeply before a parser sees it: parsers call themselves for every level, and take minutes or
// run out of stack.
import { Lexer } from 'yaml';

/** No object of Kubernetes comes near. */
const DEEPEST = 100;

export const TOO_DEEP = `lists and maps are nested more than ${DEEPEST} deep`;

/** The lexer puts this before every scalar. */
const SCALAR = '\u001f';
/** Tokens of the lexer that are not in the text. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', SCALAR]);

/** Where YAML goes too deep: brackets, and dashes on one line. */
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
      if (brackets > DEEPEST || dashes > DEEPEST) return offset;
    }
    if (token.includes('\n')) dashes = 0;
    if (!MARKS.has(token)) offset += token.length;
    before = token;
  }
}

/** Where JSON goes too deep. */
export function tooDeepJson(text: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = endOfString(text, at);
    else if (char === '[' || char === '{') {
      if (++depth > DEEPEST) return at;
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

/** Whether there are enough brackets, or dashes that could follow each other, to look closer. */
function mayBeDeep(text: string): boolean {
  const opening = /[[{]|[-?][ \t]+[-?][ \t]/g;
  for (let found = 0; found < DEEPEST / 2; found++) if (!opening.test(text)) return false;
  return true;
}
