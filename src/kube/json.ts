// JSON that keeps integers exact: one that a JavaScript number cannot hold becomes a bigint. Everything that is read
// from or written to the API goes through here.

// Neither is in TypeScript's library yet.
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const native = JSON as unknown as {
  parse(text: string, reviver?: Reviver): unknown;
  stringify(value: unknown, replacer?: (key: string, value: unknown) => unknown): string | undefined;
  rawJSON(text: string): unknown;
};

/** Parses JSON; integers beyond ±2^53 become bigints. Throws a SyntaxError on invalid JSON. */
export function parseJson(source: string | Buffer): unknown {
  const text = typeof source === 'string' ? source : source.toString('utf8');
  return mayHoldBigInteger(text) ? native.parse(text, keepBigIntegers) : native.parse(text);
}

/** Writes JSON; bigints become plain integers. Throws on what JSON cannot hold (undefined, a function, a cycle). */
export function stringifyJson(value: unknown): string {
  const text = stringify(value);
  if (text === undefined) throw new TypeError(`${typeof value} cannot be written as JSON`);
  return text;
}

function stringify(value: unknown): string | undefined {
  try {
    return native.stringify(value);
  } catch (error) {
    // The engine rejects bigints; only then is the slower replacer needed. It rejects a cycle again.
    if (!(error instanceof TypeError)) throw error;
    return native.stringify(value, (_key, part) => (typeof part === 'bigint' ? native.rawJSON(String(part)) : part));
  }
}

/** Parses an integer: a bigint if a number cannot hold it. */
export function integerOf(digits: string): number | bigint {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

function keepBigIntegers(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return fitsApi.test(source) ? BigInt(source) : value;
}

/** Integers of the API have 64 bits. One with more digits is a float there too; a million would be slow to parse. */
const fitsApi = /^-?\d{1,20}$/;

/** The first integer that a number cannot hold exactly has this many digits. */
const bigDigits = 16;

/**
 * Whether the text has an integer of 16 digits or more as a value of its own. Such a run of digits cannot hide between
 * two positions that are 16 apart, so checking every sixteenth character is enough.
 */
function mayHoldBigInteger(text: string): boolean {
  for (let at = 0; at < text.length; at += bigDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end++;
    // A hash or a float has other neighbours: without this check, the digests in every pod would force the slow path.
    const isAlone = mayPrecede(text.charCodeAt(start - 1)) && mayFollow(text.charCodeAt(end));
    if (isAlone && end - start >= bigDigits) return true;
    // Skips the run, so that a million digits in a string are read only once.
    at = end;
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** White space, `:`, `,`, `[`, `-`, or (NaN) the start of the text. */
function mayPrecede(code: number): boolean {
  return code <= 32 || code === 58 || code === 44 || code === 91 || code === 45 || Number.isNaN(code);
}

/** White space, `,`, `]`, `}`, or (NaN) the end of the text. */
function mayFollow(code: number): boolean {
  return code <= 32 || code === 44 || code === 93 || code === 125 || Number.isNaN(code);
}
