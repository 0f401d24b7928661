// Regular expressions as Envoy reads them: RE2 syntax, and a value fits only as a whole.
import { RE2JS } from 're2js';

/** What Istio takes: longer ones are refused, and Envoy is told to refuse what compiles to more than this. */
const MOST_BYTES = 1_024;
const MOST_INSTRUCTIONS = 32_768;

/** Plans ask again and again about the same few. Large ones are not worth the memory. */
const kept = new Map<string, RE2JS | string>();
const MOST_KEPT = 1_000;
const SMALL = 200;

/** Why Envoy would refuse a regular expression. One such route stops every update of its port, for every service. */
export function regexProblem(regex: string): string | undefined {
  const result = compile(regex);
  return typeof result === 'string' ? result : undefined;
}

/** Whether a value fits a regular expression; none fits one that would be refused. */
export function fitsRegex(regex: string, value: string): boolean {
  const result = compile(regex);
  return typeof result !== 'string' && result.matches(value);
}

/**
 * Whether every value that begins so fits a regular expression. False also where it can't be told: only those are
 * looked into that end in `.*` or `.+`, and what comes before must be sure to stand for itself.
 */
export function fitsWhatever(regex: string, beginning: string): boolean {
  const whole = /^\((?:\?:)?(.*)\)$/s.exec(regex)?.[1] ?? regex;
  const [, head, repeated] = /^(.*?)\.([*+])\$?$/s.exec(whole) ?? [];
  if (head === undefined || /[|$]|\\[zbBQ]/.test(head) || regexProblem(head) !== undefined) return false;
  const longest = repeated === '*' ? beginning.length : beginning.length - 1;
  return Array.from({ length: longest + 1 }).some((_none, length) => fitsRegex(head, beginning.slice(0, length)));
}

function compile(regex: string): RE2JS | string {
  const known = kept.get(regex);
  if (known !== undefined) return known;
  if (kept.size >= MOST_KEPT) kept.clear();
  const result = tryCompile(regex);
  if (regex.length <= SMALL && (typeof result === 'string' || result.programSize() <= SMALL)) kept.set(regex, result);
  return result;
}

function tryCompile(regex: string): RE2JS | string {
  const bytes = Buffer.byteLength(regex);
  if (bytes > MOST_BYTES) return `${bytes} bytes are more than ${MOST_BYTES}`;
  try {
    const result = RE2JS.compile(regex);
    return result.programSize() > MOST_INSTRUCTIONS ? 'it is too large once its repetitions are written out' : result;
  } catch (error) {
    return (error as Error).message.replace(/^error parsing regexp: /, '');
  }
}
