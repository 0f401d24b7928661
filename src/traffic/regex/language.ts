// Compares the languages of regular expressions: runs their RE2 programs in parallel, over every class of characters
// that a header or a path can contain. Called by istio/matches.ts, by the order of routes and by proofs.
import { RE2JS } from 're2js';
import {
  ALT,
  ALT_MATCH,
  CAPTURE,
  EMPTY_WIDTH,
  MATCH,
  NOP,
  programOf,
  RUNE,
  RUNE1,
  RUNE_ANY,
  RUNE_ANY_NOT_NL,
} from './program.ts';
import type { Program } from './program.ts';
import { regexProblem } from './regex.ts';

/** Zero-width assertions. Values have no line breaks, so lines begin and end where the text does. */
const BEGIN = 1 | 4;
const END = 2 | 8;
const WORD_BOUNDARY = 16;
const NO_WORD_BOUNDARY = 32;

/** What is next to a position. */
type Neighbor = 'edge' | 'word' | 'other';

/** Larger programs and searches are not analyzed, to keep plans fast. */
const MAX_INSTRUCTIONS = 500;
const MAX_STATES = 2_000;

/** Printable ASCII, lower-case letters first, the tab, and two characters from beyond that. */
const ALPHABET = [
  ...Array.from({ length: 26 }, (_none, i) => 0x61 + i),
  ...Array.from({ length: 0x61 - 0x20 }, (_none, i) => 0x60 - i),
  0x7b,
  0x7c,
  0x7d,
  0x7e,
  0x09,
  0xe9,
  0x4e2d,
];

const cache = new Map<string, boolean | undefined>();
const beginnings = new Map<string, string>();
const MAX_CACHED = 2_000;

/** Whether every value that matches the first regular expression matches one of the others; undefined if not known. */
export function isSubset(narrow: string, ...wide: readonly string[]): boolean | undefined {
  return cached(JSON.stringify(['⊆', narrow, ...wide]), () => isNone(findText([narrow], wide)));
}

/** Whether some value matches both regular expressions; undefined if not known. */
export function intersects(one: string, other: string): boolean | undefined {
  const isDisjoint = cached(JSON.stringify(['∩', one, other]), () => isNone(findText([one, other], [])));
  return isDisjoint === undefined ? undefined : !isDisjoint;
}

function isNone(found: Found): boolean | undefined {
  return found === 'unknown' ? undefined : found === 'none';
}

/** The common prefix of all values that match a regular expression; may be shorter than the longest one. */
export function commonBeginning(regex: string): string {
  const before = beginnings.get(regex);
  if (before !== undefined) return before;
  if (beginnings.size >= MAX_CACHED) beginnings.clear();
  const found = beginningOf(smallProgramOf(regex));
  beginnings.set(regex, found);
  return found;
}

function beginningOf(program: Program | undefined): string {
  if (program === undefined) return '';
  const letters: number[] = [];
  const alphabet = alphabetOf([program]);
  let before: Neighbor = 'edge';
  for (let at: readonly number[] = [program.start]; letters.length < program.inst.length;) {
    // A value may end here.
    if (isMatch(program, at, flagsOf(before, 'edge'))) break;
    const next = alphabet
      .map((letter) => ({
        letter,
        at: step(program, closure(program, at, flagsOf(before, neighborOf(letter))), letter),
      }))
      .filter((each) => each.at.length > 0);
    const [only] = next;
    // A character from beyond ASCII may stand for others.
    if (only === undefined || next.length > 1 || only.letter > 0x7f) break;
    letters.push(only.letter);
    before = neighborOf(only.letter);
    at = only.at;
  }
  return String.fromCodePoint(...letters);
}

function cached(question: string, answer: () => boolean | undefined): boolean | undefined {
  if (cache.has(question)) return cache.get(question);
  if (cache.size >= MAX_CACHED) cache.clear();
  const found = answer();
  cache.set(question, found);
  return found;
}

/** A text, or that none exists, or that it is not known. */
export type Found = { readonly text: string } | 'none' | 'unknown';

/** Finds a text that matches all of some regular expressions and none of others. */
export function findText(fitting: readonly string[], others: readonly string[]): Found {
  const programs = [...fitting, ...others].map(smallProgramOf);
  if (!programs.every((each) => each !== undefined)) return 'unknown';
  const letters = characterClasses(...programs);
  const seen = new Set<string>();
  const open: State[] = [{ before: 'edge', text: '', at: programs.map(({ start }) => [start]) }];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const { before, text, at } = state;
    const key = `${before} ${at.join(' ')}`;
    if (seen.has(key)) continue;
    if (seen.size >= MAX_STATES) return 'unknown';
    seen.add(key);
    const atEnd = flagsOf(before, 'edge');
    if (programs.every((program, i) => isMatch(program, at[i]!, atEnd) === i < fitting.length)) return { text };
    for (const letter of letters) {
      const beside = neighborOf(letter);
      const flags = flagsOf(before, beside);
      const next = programs.map((program, i) => step(program, closure(program, at[i]!, flags), letter));
      if (next.slice(0, fitting.length).some((each) => each.length === 0)) continue;
      open.push({ before: beside, text: text + String.fromCodePoint(letter), at: next });
    }
  }
  return 'none';
}

function isMatch(program: Program, at: readonly number[], flags: number): boolean {
  return closure(program, at, flags).some((pc) => program.inst[pc]!.op === MATCH);
}

interface State {
  readonly before: Neighbor;
  readonly text: string;
  /** The program counters of each program. */
  readonly at: readonly (readonly number[])[];
}

function smallProgramOf(regex: string): Program | undefined {
  if (regexProblem(regex) !== undefined) return undefined;
  const program = programOf(RE2JS.compile(regex));
  return program.inst.length > MAX_INSTRUCTIONS ? undefined : program;
}

/** Characters of a header: all of ASCII, and of those beyond at least one for each class that programs distinguish. */
function alphabetOf(programs: readonly Program[]): readonly number[] {
  const bounds = programs.flatMap(({ inst }) => inst.flatMap(({ runes }) => Array.from(runes ?? [])));
  // Ranges end where others begin; a single character may stand for its other case, too.
  const beyond = bounds.flatMap((rune) => [rune, rune + 1, ...casesOf(rune)]).filter(isBeyondAscii);
  return [...ALPHABET, ...new Set(beyond)];
}

function casesOf(rune: number): readonly number[] {
  const text = String.fromCodePoint(rune);
  return [text.toLowerCase(), text.toUpperCase()].map((each) => each.codePointAt(0)!);
}

function isBeyondAscii(rune: number): boolean {
  const isSurrogate = rune >= 0xd800 && rune <= 0xdfff;
  return rune > 0x7f && rune <= 0x10_ffff && !isSurrogate;
}

/** One character for each class of characters that no program distinguishes. */
function characterClasses(...programs: readonly Program[]): readonly number[] {
  const instructions = programs.flatMap(({ inst }) => inst.filter(({ op }) => op === RUNE || op === RUNE1));
  const kinds = new Map<string, number>();
  for (const letter of alphabetOf(programs)) {
    const kind = neighborOf(letter) + instructions.map((each) => (each.matchRune(letter) ? 1 : 0)).join('');
    if (!kinds.has(kind)) kinds.set(kind, letter);
  }
  // The search takes the last one first.
  return [...kinds.values()].toReversed();
}

function neighborOf(letter: number): Neighbor {
  return /\w/.test(String.fromCodePoint(letter)) ? 'word' : 'other';
}

/** The assertions that hold between two characters. */
function flagsOf(before: Neighbor, after: Neighbor): number {
  const isBoundary = (before === 'word') !== (after === 'word');
  return (
    (before === 'edge' ? BEGIN : 0) | (after === 'edge' ? END : 0) | (isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY)
  );
}

/** The program counters that are reachable without consuming a character. */
function closure({ inst }: Program, from: readonly number[], flags: number): readonly number[] {
  const reached = new Set<number>();
  const open = [...from];
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    if (reached.has(pc)) continue;
    reached.add(pc);
    const { op, out, arg } = inst[pc]!;
    if (op === ALT || op === ALT_MATCH) open.push(out, arg);
    else if (op === CAPTURE || op === NOP || (op === EMPTY_WIDTH && (arg & ~flags) === 0)) open.push(out);
  }
  return [...reached];
}

/** The program counters after consuming a character. */
function step({ inst }: Program, from: readonly number[], letter: number): readonly number[] {
  const reached = new Set<number>();
  for (const pc of from) {
    const each = inst[pc]!;
    const { op } = each;
    const isAny = op === RUNE_ANY || op === RUNE_ANY_NOT_NL;
    if (isAny || ((op === RUNE || op === RUNE1) && each.matchRune(letter))) reached.add(each.out);
  }
  return [...reached].sort((a, b) => a - b);
}
