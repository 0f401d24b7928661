// The parts of a regular expression that RE2 accepts.

const QUOTED = String.raw`\\Q.*?(?:\\E|$)`;
const ESCAPE = String.raw`\\[pP](?:\{\^?(?<name>[^}]*)\}|(?<letter>.))|\\x(?:\{(?<hex>[\da-fA-F]+)\}|..)|\\(?<octal>[0-7]{1,3})|\\.`;
/** In brackets, everything but escapes and named classes stands for itself. */
const BRACKETS = String.raw`\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]`;
/** Flags for the rest of a group. A repetition after them applies to what is before them. */
const FLAGS = String.raw`\(\?[imsU-]*\)`;
/** The beginning of a group. */
const OPEN = String.raw`\((?:\?(?:P?<[^>]*>|[imsU-]*:?))?`;
const NUMBER = String.raw`(?:0|[1-9]\d*)`;
/** With a zero before a number, braces stand for themselves. */
const REPEAT = String.raw`(?:[*+?]|\{(?<min>${NUMBER})(?:,(?<max>${NUMBER}?))?\})\??`;

const TOKENS = new RegExp(
  `(?<quoted>${QUOTED})|${ESCAPE}|(?<flags>${FLAGS})|${BRACKETS}|(?<open>${OPEN})|(?<repeat>${REPEAT})|.`,
  'gsu',
);
const ESCAPES = new RegExp(`${QUOTED}|${ESCAPE}`, 'gsu');

/** A part of an expression. */
interface Part {
  readonly text: string;
  /** What it consists of: see the names in the expressions above. */
  readonly groups: Readonly<Partial<Record<string, string>>>;
}

/** The parts of an expression in order: quoted text, escapes, brackets, groups, repetitions, and characters. */
export function tokensOf(regex: string): readonly Part[] {
  return partsOf(regex, TOKENS);
}

/** The escapes of an expression and its brackets, and quoted text. */
export function escapesOf(regex: string): readonly Part[] {
  return partsOf(regex, ESCAPES);
}

function partsOf(regex: string, kinds: RegExp): readonly Part[] {
  return Array.from(regex.matchAll(kinds), ({ 0: text, groups = {} }) => ({ text, groups }));
}
