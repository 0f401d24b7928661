// The member `env=KEY` of the W3C header `baggage`, as a regular expression for the whole header value. It matches
// exactly when one of the members is `env` with that value. Other members, properties after `;`, whitespace and
// percent-encoded characters of the value make no difference.

export const BAGGAGE = 'baggage';
/** The member that holds the key. */
const MEMBER = 'env';

const BLANKS = String.raw`[ \t]*`;
// Names and values contain neither commas nor semicolons.
const BEGINNING = `(?:.*,)?${BLANKS}${MEMBER}${BLANKS}=${BLANKS}`;
const END = `${BLANKS}(?:[;,].*)?`;

/** A regular expression that matches the values of `baggage` with this key. */
export function baggageRegex(key: string): string {
  return BEGINNING + Array.from(key, letterRegex).join('') + END;
}

/** Tests whether a value of `baggage` carries a key: the same result as `baggageRegex`, without running RE2. */
export function baggageTest(key: string): (value: string) => boolean {
  return (value) => {
    // One request is tested against many routes in a row, so the keys of its header are cached.
    if (value !== last.value) last = { value, keys: new Set(baggageKeys(value)) };
    return last.keys.has(key);
  };
}

let last: { readonly value: string; readonly keys: ReadonlySet<string> } = { value: '', keys: new Set() };

/** The keys that a value of `baggage` carries. */
export function baggageKeys(value: string): readonly string[] {
  // In RE2, `.` does not match a line feed.
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

/** Matches a character as it is or percent-encoded. */
function letterRegex(letter: string): string {
  const escape = letter
    .charCodeAt(0)
    .toString(16)
    .padStart(2, '0')
    .replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  return `(?:${letter === '.' ? String.raw`\.` : letter}|%${escape})`;
}

/** The member that a regular expression of `baggageRegex` matches, as people write it: `env=KEY`. */
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
