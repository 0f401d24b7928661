// Finds a text that fits some conditions and none of others: by trying likely ones, else by walking automata.
import { RE2JS } from 're2js';
import { baggageMember } from '../baggage.ts';
import { fitsPath, isPresence } from '../fits.ts';
import { findText } from '../regex-language.ts';
import type { Found } from '../regex-language.ts';
import { fitsRegex } from '../regex.ts';
import type { PathCondition } from '../rules.ts';

export type Text = PathCondition;

/** What texts there are at a place in a request. */
export interface Shape {
  readonly regex: string;
  /** Those to try first. */
  readonly samples: readonly string[];
}

const LETTERS = Array.from('xabcdefghijklmnopqrstuvwyz0123456789');

/** A text of a shape that fits all of some conditions and none of others. */
export function textFor(shape: Shape, fitting: readonly Text[], others: readonly Text[]): Found {
  const fits = (text: string): boolean =>
    fitsRegex(shape.regex, text) &&
    fitting.every((each) => fitsOne(each, text)) &&
    !others.some((each) => fitsOne(each, text));
  // Most that is asked about is asked about a key and the same key.
  if (fitting.some((each) => others.some((other) => isSame(each, other)))) return 'none';
  const exact = fitting.find(({ value, ignoreCase }) => value.exact !== undefined && !ignoreCase)?.value.exact;
  if (exact !== undefined) return fits(exact) ? { text: exact } : 'none';
  const prefixes = fitting.flatMap(({ value }) => value.exact ?? value.prefix ?? baggageMember(value.regex) ?? []);
  // One baggage may hold all of some keys.
  const members = fitting.flatMap(({ value }) => baggageMember(value.regex) ?? []);
  const beginnings = [...shape.samples, ...prefixes, ...(members.length > 1 ? [members.join(',')] : [])];
  const likely = beginnings.find(fits) ?? longer(beginnings).find(fits);
  if (likely !== undefined) return { text: likely };
  return findText([shape.regex, ...fitting.map(regexOf)], others.map(regexOf));
}

function* longer(beginnings: readonly string[]): Generator<string> {
  for (const letter of LETTERS) for (const each of beginnings) yield each + letter;
}

function isSame({ value: a, ignoreCase }: Text, { value: b, ignoreCase: other }: Text): boolean {
  return ignoreCase === other && a.exact === b.exact && a.prefix === b.prefix && a.regex === b.regex;
}

function fitsOne(condition: Text, text: string): boolean {
  return isPresence(condition.value) || fitsPath(condition, text);
}

function regexOf({ value, ignoreCase }: Text): string {
  if (isPresence(value)) return '.*';
  const { exact, prefix, regex } = value;
  if (regex !== undefined) return regex;
  const text = exact === undefined ? `${RE2JS.quote(prefix!)}.*` : RE2JS.quote(exact);
  return ignoreCase ? `(?i)${text}` : text;
}
