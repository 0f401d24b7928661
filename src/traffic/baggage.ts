// The member `env=KEY` of the W3C header `baggage`, as a regular expression for the whole value of the header. It fits
// exactly when one of the members is `env` with that value, whatever else there is: other members, properties behind `;`,
// blanks, and letters of the value that somebody has percent-encoded.

/** The header. */
export const BAGGAGE = 'baggage';
/** The member that holds the key. */
const MEMBER = 'env';

const BLANKS = String.raw`[ \t]*`;
// No comma and no semicolon can be part of a name or a value.
const BEGINNING = `(?:.*,)?${BLANKS}${MEMBER}${BLANKS}=${BLANKS}`;
const END = `${BLANKS}(?:[;,].*)?`;

/** A regular expression for values of `baggage` that carry a key. */
export function baggageRegex(key: string): string {
  return BEGINNING + Array.from(key, letterRegex).join('') + END;
}

/** Whether a value of `baggage` carries a key: what the regular expression says, without an engine of RE2. */
export function baggageTest(key: string): (value: string) => boolean {
  return (value) => {
    // Many routes are asked about one request after the other.
    if (value !== last.value) last = { value, keys: new Set(baggageKeys(value)) };
    return last.keys.has(key);
  };
}

let last: { readonly value: string; readonly keys: ReadonlySet<string> } = { value: '', keys: new Set() };

/** The keys that a value of `baggage` carries. */
export function baggageKeys(value: string): readonly string[] {
  // Line feeds are no letters to RE2.
  if (value.includes('\n')) return [];
  return value.split(',').flatMap((member) => {
    const [pair = ''] = member.split(';');
    const at = pair.indexOf('=');
    return at >= 0 && trimmed(pair.slice(0, at)) === MEMBER ? [decoded(trimmed(pair.slice(at + 1)))] : [];
  });
}

function trimmed(text: string): string {
  return text.replaceAll(/^[ \t]+|[ \t]+$/g, '');
}

function decoded(text: string): string {
  return text.replaceAll(/%([2-7][\da-f])/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** A letter as it is or percent-encoded. */
function letterRegex(letter: string): string {
  const escape = letter
    .charCodeAt(0)
    .toString(16)
    .padStart(2, '0')
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `(?:${letter === '.' ? String.raw`\.` : letter}|%${escape})`;
}

/** What a regular expression that `baggageRegex` made asks for, as people write it: `env=KEY`. */
export function baggageMember(regex: string | undefined): string | undefined {
  const key = baggageKey(regex);
  return key === undefined ? undefined : `${MEMBER}=${key}`;
}

/** The key of a regular expression that `baggageRegex` made; undefined for any other. */
export function baggageKey(regex: string | undefined): string | undefined {
  if (!regex?.startsWith(BEGINNING) || !regex.endsWith(END)) return undefined;
  const letters = regex.slice(BEGINNING.length, -END.length);
  const key = letters.replaceAll(/\(\?:\\?([-.\w])\|[^)]*\)/g, '$1');
  return baggageRegex(key) === regex ? key : undefined;
}
