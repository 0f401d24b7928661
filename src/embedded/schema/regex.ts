// Compiles RE2 patterns of schemas and rules for the JavaScript engine, and caches them.
//
// RE2 takes linear time. JavaScript backtracks, which takes exponential time for patterns such as `(a+)+b`. So if a
// text is long enough for that, the validation runs again with a time limit.
import { interruptible, isInterruption, usedMs } from './cel/interruptible.ts';

const compiled = new Map<string, RegExp>();
const maxCached = 5000;

/** Compiles an RE2 pattern. Throws a SyntaxError with the engine's message when it is invalid. */
export function re2(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCached) compiled.clear();
  const expression = compile(pattern);
  compiled.set(pattern, expression);
  return expression;
}

/** The CPU time for all patterns of one object; other requests wait meanwhile. */
const budgetMs = 100;
/** Up to this length, even exponential backtracking is fast. */
const shortText = 24;
/** Up to this length, quadratic time is fast, which is the worst case of a pattern without nested repetitions. */
const mediumText = 5_000;

class TimeLimitNeeded extends Error {}
const timeLimitNeeded = new TimeLimitNeeded('a pattern may take long');
let hasTimeLimit = false;

/** Whether a text matches an RE2 pattern. Call it inside `limitingPatternTime`. */
export function matchesPattern(pattern: string, text: string): boolean {
  if (!hasTimeLimit && mayTakeLong(pattern, text)) throw timeLimitNeeded;
  return re2(pattern).test(text);
}

function mayTakeLong(pattern: string, { length }: string): boolean {
  if (length <= shortText) return false;
  const repetitions = pattern.match(/[*+]|,\}/g)?.length ?? 0;
  return repetitions > (length > mediumText ? 0 : 1);
}

/** Returns the result of `run`; undefined when its patterns take too long. */
export function limitingPatternTime<T>(run: () => T): T | undefined {
  if (hasTimeLimit) return run();
  try {
    return run();
  } catch (error) {
    if (error !== timeLimitNeeded) throw error;
  }
  hasTimeLimit = true;
  try {
    return withinBudget(run);
  } finally {
    hasTimeLimit = false;
  }
}

/** The timeout counts wall-clock time. On a busy machine it may fire early, so retry until the CPU time is used up. */
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
  // RE2 has flags at the start of the pattern; JavaScript takes them separately.
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
    // Escapes such as `\-` outside a class are valid in RE2 but not in JavaScript's unicode mode.
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
