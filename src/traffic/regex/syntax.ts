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
  return refusedRepetition(regex) ?? refusedBytes(regex);
}

/** Why proxies refuse repetitions in others: they count those of which one is `{0}` too. */
function refusedRepetition(regex: string): string | undefined {
  const parts = tokensOf(regex).map(({ text, groups: { min, max = min } }) =>
    min === '0' && max === '0' ? '{1}' : text,
  );
  const counted = parts.join('');
  return counted === regex ? undefined : compileError(counted);
}

/** Why proxies that read bytes refuse an expression: there, each byte of a letter is a character of its own. */
function refusedBytes(regex: string): string | undefined {
  const bytes = Buffer.from(regex).toString('latin1');
  return bytes === regex || compileError(bytes) === undefined
    ? undefined
    : 'some proxies read bytes, and a range in brackets ends before it begins: put `-` last, and letters beyond ASCII instead of escapes';
}

/** Why our RE2 does not accept an expression. */
function compileError(regex: string): string | undefined {
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '');
  }
}
