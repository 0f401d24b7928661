// Finds a text that matches some conditions and none of others: tries likely texts first, then walks automata.
import { RE2JS } from 're2js';
import { baggageMember } from '../baggage.ts';
import { matchesPath, isPresence } from '../fits.ts';
import { findText } from '../regex/language.ts';
import type { Found } from '../regex/language.ts';
import { matchesRegex } from '../regex/regex.ts';
import type { PathCondition } from '../rules.ts';

export type TextCondition = PathCondition;

/** The texts that are possible in one part of a request. */
export interface Shape {
  readonly regex: string;
  /** Texts to try first. */
  readonly samples: readonly string[];
}

const LETTERS = Array.from('xabcdefghijklmnopqrstuvwyz0123456789');

/** Finds a text of a shape that matches all of some conditions and none of others. */
export function textFor(shape: Shape, fitting: readonly TextCondition[], others: readonly TextCondition[]): Found {
  const fits = (text: string): boolean =>
    matchesRegex(shape.regex, text) &&
    fitting.every((each) => fitsOne(each, text)) &&
    !others.some((each) => fitsOne(each, text));
  // The most frequent question compares a key with itself.
  if (fitting.some((each) => others.some((other) => isSame(each, other)))) return 'none';
  const exact = fitting.find(({ value, ignoreCase }) => value.exact !== undefined && !ignoreCase)?.value.exact;
  if (exact !== undefined) return fits(exact) ? { text: exact } : 'none';
  const prefixes = fitting.flatMap(({ value }) => value.exact ?? value.prefix ?? baggageMember(value.regex) ?? []);
  // One baggage header can hold several keys.
  const members = fitting.flatMap(({ value }) => baggageMember(value.regex) ?? []);
  const beginnings = [...shape.samples, ...prefixes, ...(members.length > 1 ? [members.join(',')] : [])];
  const likely = beginnings.find(fits) ?? longer(beginnings).find(fits);
  if (likely !== undefined) return { text: likely };
  return findText([shape.regex, ...fitting.map(regexOf)], others.map(regexOf));
}

function* longer(beginnings: readonly string[]): Generator<string> {
  for (const letter of LETTERS) for (const each of beginnings) yield each + letter;
}

function isSame({ value: a, ignoreCase }: TextCondition, { value: b, ignoreCase: other }: TextCondition): boolean {
  return ignoreCase === other && a.exact === b.exact && a.prefix === b.prefix && a.regex === b.regex;
}

function fitsOne(condition: TextCondition, text: string): boolean {
  return isPresence(condition.value) || matchesPath(condition, text);
}

function regexOf({ value, ignoreCase }: TextCondition): string {
  if (isPresence(value)) return '.*';
  const { exact, prefix, regex } = value;
  if (regex !== undefined) return regex;
  const text = exact === undefined ? `${RE2JS.quote(prefix!)}.*` : RE2JS.quote(exact);
  return ignoreCase ? `(?i)${text}` : text;
}
