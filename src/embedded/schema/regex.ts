// Patterns of schemas and rules are written for RE2; this compiles them for the JavaScript engine, once each.
//
// RE2 reads a text once. This engine goes back and tries again, forever where a pattern invites it to: `(a+)+b`. So where
// a text is long enough for that, all is done once more with a limit of time.
import { interruptible, isInterruption, usedMs } from './cel/interruptible.ts';

const compiled = new Map<string, RegExp>();
const most = 5000;

/** Compiles an RE2 pattern. Throws a SyntaxError with the engine's text when it is not valid. */
export function re2(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= most) compiled.clear();
  const expression = compile(pattern);
  compiled.set(pattern, expression);
  return expression;
}

/** All patterns of one object together may take this long, in time of the processor: nobody else is served meanwhile. */
const budgetMs = 100;
/** Twice as many steps a character are no matter for a text like this. */
const shortText = 24;
/** Nor is the square of this, which is what a pattern without nested repetitions takes. */
const mediumText = 5_000;

class Unwatched extends Error {}
const unwatched = new Unwatched('a pattern may take long');
let isWatched = false;

/** Whether a text fits an RE2 pattern. Call it inside of `watchingPatterns`. */
export function fitsPattern(pattern: string, text: string): boolean {
  if (!isWatched && mayTakeLong(pattern, text)) throw unwatched;
  return re2(pattern).test(text);
}

function mayTakeLong(pattern: string, { length }: string): boolean {
  if (length <= shortText) return false;
  const repetitions = pattern.match(/[*+]|,\}/g)?.length ?? 0;
  return repetitions > (length > mediumText ? 0 : 1);
}

/** What `run` answers; undefined when its patterns take too long. */
export function watchingPatterns<T>(run: () => T): T | undefined {
  if (isWatched) return run();
  try {
    return run();
  } catch (error) {
    if (error !== unwatched) throw error;
  }
  isWatched = true;
  try {
    return withinBudget(run);
  } finally {
    isWatched = false;
  }
}

/** The clock of a busy machine runs faster than the processor works for us: so once more until the budget is spent. */
function withinBudget<T>(run: () => T): T | undefined {
  const endMs = usedMs() + budgetMs;
  for (;;) {
    try {
      return interruptible(budgetMs, run);
    } catch (error) {
      if (!isInterruption(error)) throw error;
      if (usedMs() >= endMs) return undefined;
    }
  }
}

function compile(pattern: string): RegExp {
  let source = pattern;
  let flags = '';
  // RE2 takes flags at the start of the pattern; JavaScript takes them beside it.
  const leading = /^\(\?([ims]+)\)/.exec(source);
  if (leading !== null) {
    flags = leading[1]!;
    source = source.slice(leading[0].length);
  }
  source = source.replaceAll('(?P<', '(?<').replace(/^\\A/, '^').replace(/\\z$/, '$');
  for (const [name, range] of Object.entries(posixClasses)) source = source.replaceAll(`[:${name}:]`, range);
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Escapes such as `\-` outside a class are fine for RE2 but not in JavaScript's strict mode.
    return new RegExp(source, flags);
  }
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\s',
  word: '\\w',
  xdigit: '0-9A-Fa-f',
  punct: '!-\\/:-@\\[-`{-~',
};
