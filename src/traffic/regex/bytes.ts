// How many instructions a proxy needs for a character or a class of characters. Most proxies read UTF-8 byte by byte: a
// letter of any script takes 1,200.
import { RE2JS } from 're2js';
import { EMPTY_WIDTH, programOf, RUNE, RUNE1, RUNE_ANY, RUNE_ANY_NOT_NL } from './program.ts';
import type { Program } from './program.ts';

/** RE2 has a short program for all characters from U+0080. */
const BEYOND_ASCII = 9;
const LAST = 0x10_ffff;

/** The instructions for a part of an expression that stands for one character, or for a place between two. */
export function bytesOfToken(token: string, ignoresCase: boolean): number {
  if (Array.from(token).length === 1 && token !== '.') return bytesOfCharacter(token.codePointAt(0)!, ignoresCase);
  // The flag may apply elsewhere, and a class without it can be the larger one.
  return Math.max(bytesWith(token, 0), ignoresCase ? bytesWith(token, RE2JS.CASE_INSENSITIVE) : 0);
}

function bytesWith(token: string, flags: number): number {
  return programOf(RE2JS.compile(token, flags)).inst.reduce((sum, each) => sum + bytesOf(each), 0);
}

/** The instructions for a character. */
export function bytesOfCharacter(rune: number, ignoresCase: boolean): number {
  if (!ignoresCase) return encode(rune).length;
  // Beyond ASCII, a character has up to four forms of up to three bytes. K and S have another form there: K, ſ.
  if (rune > 0x7f) return 12;
  return /[ks]/i.test(String.fromCodePoint(rune)) ? 4 : 1;
}

function bytesOf({ op, runes }: Program['inst'][number]): number {
  if (op === RUNE_ANY || op === RUNE_ANY_NOT_NL) return 1 + BEYOND_ASCII;
  if (op === EMPTY_WIDTH) return 1;
  if (op !== RUNE && op !== RUNE1) return 0;
  return runes.length > 1 ? bytesOfRanges(runes) : bytesOfCharacter(runes[0]!, op === RUNE);
}

/** The bytes of ranges of characters, at most; leading bytes that two ranges share count once. */
function bytesOfRanges(runes: ArrayLike<number>): number {
  let count = 0;
  let before: readonly string[] = [];
  const lastBytes = new Set<string>();
  const sharedBytes = new Set<string>();
  for (let i = 0; i < runes.length; i += 2) {
    for (const [low, high] of rangesOfBytes(runes[i]!, runes[i + 1]!)) {
      if (low === 0x80 && high === LAST) {
        count += BEYOND_ASCII;
        continue;
      }
      const last = encode(high);
      const bytes = encode(low).map((byte, at) => `${byte}-${last[at]}`);
      const fresh = bytes.findIndex((each, at) => each !== before[at]);
      count += bytes.length - Math.max(0, fresh);
      before = bytes;
      const end = bytes.at(-1)!;
      (lastBytes.has(end) ? sharedBytes : lastBytes).add(end);
    }
  }
  // RE2 has such a byte once, and a branch to it wherever it would be.
  return count + sharedBytes.size;
}

/** The last characters of one, two and three bytes. */
const LONGEST = [0x7f, 0x7ff, 0xffff];
/** How many bits the last one, two and three bytes of a character hold. */
const TAILS = [6, 12, 18];

/** Splits a range of characters until each of its bytes has a range of its own. */
function* rangesOfBytes(low: number, high: number): Generator<readonly [number, number]> {
  const end = LONGEST.find((each) => low <= each && each < high) ?? endOfBlock(low, high);
  if (end === undefined || (low === 0x80 && high === LAST)) return yield [low, high];
  yield* rangesOfBytes(low, end);
  yield* rangesOfBytes(end + 1, high);
}

/** Where to split a range of characters of the same length; undefined if it is one range of bytes. */
function endOfBlock(low: number, high: number): number | undefined {
  if (high <= 0x7f) return undefined;
  for (const bits of TAILS) {
    const rest = (1 << bits) - 1;
    if (low >> bits === high >> bits) return undefined;
    if ((low & rest) !== 0) return low | rest;
    if ((high & rest) !== rest) return (high & ~rest) - 1;
  }
  return undefined;
}

/** The bytes of a character in UTF-8. */
function encode(rune: number): readonly number[] {
  const tail = (count: number) =>
    Array.from({ length: count }, (_none, i) => 0x80 | ((rune >> (6 * (count - 1 - i))) & 0x3f));
  if (rune <= 0x7f) return [rune];
  if (rune <= 0x7ff) return [0xc0 | (rune >> 6), ...tail(1)];
  if (rune <= 0xffff) return [0xe0 | (rune >> 12), ...tail(2)];
  return [0xf0 | (rune >> 18), ...tail(3)];
}
