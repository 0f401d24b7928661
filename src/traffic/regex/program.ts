// The programs of our RE2: what the comparison of languages runs, and whose size is estimated.
import type { RE2JS } from 're2js';

/** Instructions. */
export const ALT = 1;
export const ALT_MATCH = 2;
export const CAPTURE = 3;
export const EMPTY_WIDTH = 4;
export const MATCH = 6;
export const NOP = 7;
export const RUNE = 8;
export const RUNE1 = 9;
export const RUNE_ANY = 10;
export const RUNE_ANY_NOT_NL = 11;

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  /** A character, or the first and last characters of ranges. */
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
}

export interface Program {
  readonly start: number;
  readonly inst: readonly Instruction[];
}

/** The program of a regular expression. */
export function programOf(regex: RE2JS): Program {
  return regex.re2().prog as Program;
}
