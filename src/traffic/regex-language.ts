// Which values regular expressions fit, compared: walks the programs of two of them side by side, over every kind of
// character that a header or a path can have. Called by istio/matches.ts and by the order of routes.
import { RE2JS } from 're2js';
import { regexProblem } from './regex.ts';

/** Instructions of RE2 programs. */
const ALT = 1;
const ALT_MATCH = 2;
const CAPTURE = 3;
const EMPTY_WIDTH = 4;
const MATCH = 6;
const NOP = 7;
const RUNE = 8;
const RUNE1 = 9;
const RUNE_ANY = 10;
const RUNE_ANY_NOT_NL = 11;

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  matchRune(rune: number): boolean;
}

interface Program {
  readonly start: number;
  readonly inst: readonly Instruction[];
}

/** Assertions of width zero. Values have no line breaks, so lines begin and end where the text does. */
const BEGIN = 1 | 4;
const END = 2 | 8;
const WORD_BOUNDARY = 16;
const NO_WORD_BOUNDARY = 32;

/** What stands beside a position. */
type Beside = 'edge' | 'word' | 'other';

/** Programs and walks that are larger are not looked into: plans must stay quick. */
const MOST_INSTRUCTIONS = 500;
const MOST_STATES = 2_000;

/** Printable ASCII, the tab, and two to stand for all others. */
const ALPHABET = [0x09, ...Array.from({ length: 0x7f - 0x20 }, (_none, i) => 0x20 + i), 0xe9, 0x4e2d];

const known = new Map<string, boolean | undefined>();
const beginnings = new Map<string, string>();
const MOST_KNOWN = 2_000;

/** Whether every value that fits the first regular expression fits the second; undefined where it is not known. */
export function isSubset(narrow: string, wide: string): boolean | undefined {
  const found = remembered('⊆', narrow, wide, (first, second) => first && !second);
  return found === undefined ? undefined : !found;
}

/** Whether some value fits both regular expressions; undefined where it is not known. */
export function intersects(one: string, other: string): boolean | undefined {
  return remembered('∩', one, other, (first, second) => first && second);
}

/** What every value that fits a regular expression begins with; a shorter text where more is not known. */
export function commonBeginning(regex: string): string {
  const before = beginnings.get(regex);
  if (before !== undefined) return before;
  if (beginnings.size >= MOST_KNOWN) beginnings.clear();
  const found = beginningOf(programOf(regex));
  beginnings.set(regex, found);
  return found;
}

function beginningOf(program: Program | undefined): string {
  if (program === undefined) return '';
  const letters: number[] = [];
  let before: Beside = 'edge';
  for (let at: readonly number[] = [program.start]; letters.length < program.inst.length;) {
    // A value may end here.
    if (closure(program, at, flagsOf(before, 'edge')).some((pc) => program.inst[pc]!.op === MATCH)) break;
    const next = ALPHABET.map((letter) => ({
      letter,
      at: step(program, closure(program, at, flagsOf(before, besideOf(letter))), letter),
    })).filter((each) => each.at.length > 0);
    const [only] = next;
    // What stands for all other letters is none of them.
    if (only === undefined || next.length > 1 || only.letter > 0x7f) break;
    letters.push(only.letter);
    before = besideOf(only.letter);
    at = only.at;
  }
  return String.fromCodePoint(...letters);
}

type IsWitness = (fitsFirst: boolean, fitsSecond: boolean) => boolean;

function remembered(question: string, first: string, second: string, isWitness: IsWitness): boolean | undefined {
  const key = JSON.stringify([question, first, second]);
  if (known.has(key)) return known.get(key);
  if (known.size >= MOST_KNOWN) known.clear();
  const answer = someValue(first, second, isWitness);
  known.set(key, answer);
  return answer;
}

/** Whether there is a value of which this holds. */
function someValue(first: string, second: string, isWitness: IsWitness): boolean | undefined {
  const [one, other] = [programOf(first), programOf(second)];
  if (one === undefined || other === undefined) return undefined;
  const letters = kindsOfLetters(one, other);
  const seen = new Set<string>();
  const open: State[] = [{ before: 'edge', one: [one.start], other: [other.start] }];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const key = `${state.before} ${state.one.join()} ${state.other.join()}`;
    if (seen.has(key)) continue;
    if (seen.size >= MOST_STATES) return undefined;
    seen.add(key);
    const atEnd = flagsOf(state.before, 'edge');
    const fits = (program: Program, at: readonly number[]): boolean =>
      closure(program, at, atEnd).some((pc) => program.inst[pc]!.op === MATCH);
    if (isWitness(fits(one, state.one), fits(other, state.other))) return true;
    for (const letter of letters) {
      const beside = besideOf(letter);
      const flags = flagsOf(state.before, beside);
      const next = step(one, closure(one, state.one, flags), letter);
      // All witnesses fit the first.
      if (next.length === 0) continue;
      open.push({ before: beside, one: next, other: step(other, closure(other, state.other, flags), letter) });
    }
  }
  return false;
}

interface State {
  readonly before: Beside;
  /** Where the program of each may be. */
  readonly one: readonly number[];
  readonly other: readonly number[];
}

function programOf(regex: string): Program | undefined {
  if (regexProblem(regex) !== undefined) return undefined;
  const program = RE2JS.compile(regex).re2().prog as Program;
  return program.inst.length > MOST_INSTRUCTIONS ? undefined : program;
}

/** One letter for each kind of letters that neither program tells apart. */
function kindsOfLetters(...programs: readonly Program[]): readonly number[] {
  const instructions = programs.flatMap(({ inst }) => inst.filter(({ op }) => op === RUNE || op === RUNE1));
  const kinds = new Map<string, number>();
  for (const letter of ALPHABET) {
    const kind = besideOf(letter) + instructions.map((each) => (each.matchRune(letter) ? 1 : 0)).join('');
    if (!kinds.has(kind)) kinds.set(kind, letter);
  }
  return [...kinds.values()];
}

function besideOf(letter: number): Beside {
  return /\w/.test(String.fromCodePoint(letter)) ? 'word' : 'other';
}

/** The assertions that hold between two letters. */
function flagsOf(before: Beside, after: Beside): number {
  const isBoundary = (before === 'word') !== (after === 'word');
  return (
    (before === 'edge' ? BEGIN : 0) | (after === 'edge' ? END : 0) | (isBoundary ? WORD_BOUNDARY : NO_WORD_BOUNDARY)
  );
}

/** Where a program can get to without a letter. */
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

/** Where a program gets to with a letter. */
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
