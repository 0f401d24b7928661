// Syntax that our RE2 accepts and proxies refuse: those of today, or those of the last years.
import { RE2JS } from 're2js';
import { insteadOfClass } from './classes.ts';
import { escapesOf, tokensOf } from './tokens.ts';

/** Why proxies refuse an expression that our RE2 accepts; undefined if they accept it. */
export function refusedSyntax(regex: string): string | undefined {
  for (const { text, groups } of escapesOf(regex)) {
    const { name, letter, hex, octal } = groups;
    const instead = insteadOfClass(name ?? letter ?? 'Any', text);
    if (instead !== undefined) return `not every proxy knows the character class \`${text}\`: write ${instead}`;
    const code = hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16);
    if (code > 0xff) return `invalid escape sequence: \`${text}\`: it is more than one byte`;
  }
  const named = tokensOf(regex).find(({ groups }) => groups['open']?.startsWith('(?<'));
  if (named !== undefined) {
    return `not every proxy knows the group \`${named.text}\`: write \`${named.text.replace('<', 'P<')}\``;
  }
  return refusedBytes(regex);
}

/** Why proxies that read bytes refuse an expression: there, each byte of a letter is a character of its own. */
function refusedBytes(regex: string): string | undefined {
  const bytes = Buffer.from(regex).toString('latin1');
  if (bytes === regex) return undefined;
  try {
    RE2JS.compile(bytes);
    return undefined;
  } catch {
    return 'some proxies read bytes, and a range in brackets ends before it begins: put `-` last, and letters beyond ASCII instead of escapes';
  }
}
