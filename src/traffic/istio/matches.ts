// Combines the conditions of a route with those of an environment so that both must hold.
import { RE2JS } from 're2js';
import type { IstioMatch, StringMatch } from '../../api/dynamicenv.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { baggageKey } from '../baggage.ts';
import { isSubset } from '../regex/language.ts';
import type { HeaderMatch, HttpMatch } from './objects.ts';

export type Combined =
  | { readonly match: HttpMatch }
  /** Why no request can match both. */
  | { readonly contradiction: string };

/** A match entry of a route with an environment's conditions added: the result matches only if both match. */
export function combine(entry: HttpMatch, added: IstioMatch): Combined {
  const base = forCallers(entry, added);
  if (base === undefined)
    return { contradiction: `source labels are ignored where a match names gateways (${entry.gateways!.join(', ')})` };
  const headers = new Map(Object.entries(base.headers ?? {}));
  for (const [name, match] of Object.entries(added.headers ?? {})) {
    const ours = oneForm(match);
    const excluded = conditionsOn(Object.entries(base.withoutHeaders ?? {}), name).find(([, each]) =>
      implies(ours, each),
    );
    if (excluded) return contradictionOn(`header ${name}`, `not ${conditionText(excluded[1])}`, conditionText(ours));
    const contradiction = addHeader(headers, name, ours);
    if (contradiction) return contradiction;
  }
  const sourceLabels = new Map(Object.entries(base.sourceLabels ?? {}));
  for (const [name, value] of Object.entries(added.sourceLabels ?? {})) {
    const before = sourceLabels.get(name) ?? value;
    if (before !== value) return contradictionOn(`source label ${name}`, before, value);
    sourceLabels.set(name, value);
  }
  return {
    match: {
      ...base,
      ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
      ...(sourceLabels.size > 0 && { sourceLabels: Object.fromEntries(sourceLabels) }),
    },
  };
}

/**
 * An entry to which source labels can be added. Istio ignores source labels where an entry names gateways, so the
 * gateways are removed: the entry then applies to callers with the labels wherever its VirtualService applies.
 * Undefined if that would extend the entry to the mesh.
 */
function forCallers(entry: HttpMatch, { sourceLabels = {} }: IstioMatch): HttpMatch | undefined {
  const { gateways = [], ...rest } = withoutIgnored(entry);
  if (gateways.length === 0 || Object.keys(sourceLabels).length === 0) return entry;
  return gateways.includes('mesh') ? rest : undefined;
}

/** An entry without the fields that Istio ignores: one that names gateways applies to every caller there. */
function withoutIgnored(entry: HttpMatch): HttpMatch {
  if ((entry.gateways ?? []).length === 0) return entry;
  const { sourceLabels: _labels, sourceNamespace: _namespace, ...rest } = entry;
  return rest;
}

/** The answer to a question; undefined if it can't be decided. */
type Decided = boolean | undefined;

/** Whether every request that matches the narrow entry matches the wide one. */
export function includes(wideEntry: HttpMatch, narrowEntry: HttpMatch): Decided {
  const [wide, narrow] = [withoutIgnored(wideEntry), withoutIgnored(narrowEntry)];
  const { headers = {}, sourceLabels = {}, name: _name, statPrefix: _prefix, ignoreUriCase: _case, ...rest } = wide;
  const given = Object.entries(narrow.headers ?? {});
  return all([
    ...Object.entries(rest).map(([field, value]) => includesField(field, value, narrow, wide)),
    ...Object.entries(sourceLabels).map(([label, value]) => narrow.sourceLabels?.[label] === value),
    ...Object.entries(headers).map(([name, asked]) => includesHeader(asked, conditionsOn(given, name))),
  ]);
}

function all(answers: readonly Decided[]): Decided {
  if (answers.includes(false)) return false;
  return answers.includes(undefined) ? undefined : true;
}

/** Whether the given conditions on a header together imply another one. */
function includesHeader(asked: HeaderMatch, given: readonly [string, HeaderMatch][]): Decided {
  const answers = given.map(([, each]) => implies(each, asked));
  if (answers.includes(true)) return true;
  // Several conditions together may imply what none of them implies alone.
  return answers.length > 1 || answers.includes(undefined) ? undefined : false;
}

/** Whether the narrow entry implies a field of the wide entry. */
function includesField(field: string, value: unknown, narrow: HttpMatch, wide: HttpMatch): Decided {
  const other = narrow[field];
  const isSame = jsonEqual(value, other);
  switch (field) {
    case 'uri':
      if (Boolean(wide['ignoreUriCase']) !== Boolean(narrow['ignoreUriCase'])) return undefined;
      if (isSame) return true;
      if (wide['ignoreUriCase']) return undefined;
      return implies(other ?? { prefix: '/' }, value as HeaderMatch);
    case 'scheme':
    case 'method':
    case 'authority':
      return isSame || (other !== undefined && implies(other as HeaderMatch, value as HeaderMatch));
    case 'gateways':
      if (wide.gateways!.length === 0) return true;
      return (narrow.gateways ?? []).length > 0 && narrow.gateways!.every((each) => wide.gateways!.includes(each));
    case 'withoutHeaders':
      return isSame || all(Object.entries(wide.withoutHeaders!).map(([name, each]) => lacks(name, each, narrow)));
    case 'port':
    case 'sourceNamespace':
      return isSame;
    default:
      return isSame || (other === undefined ? false : undefined);
  }
}

/** Whether no request that matches an entry has a header that fulfils a condition. */
function lacks(name: string, excluded: HeaderMatch, { headers = {}, withoutHeaders = {} }: HttpMatch): Decided {
  const [given, absent] = [headers, withoutHeaders].map((each) => conditionsOn(Object.entries(each), name));
  const isThere = given!.some(([, each]) => implies(each, excluded));
  return isThere || given!.length + absent!.length === 0 ? false : undefined;
}

/** Adds a condition on a header: merged with an existing one if possible, else as an additional condition. */
function addHeader(headers: Map<string, HeaderMatch>, name: string, added: HeaderMatch) {
  let ours = added;
  for (const [other, match] of conditionsOn([...headers], name)) {
    const both = intersect(match, ours);
    if (both === 'never') return contradictionOn(`header ${name}`, conditionText(match), conditionText(added));
    if (both === 'beside') continue;
    headers.delete(other);
    ours = both;
  }
  // A header can have several conditions under different spellings of its name, as proxies ignore the case.
  const spelling = spellings(name).find((each) => !headers.has(each));
  if (spelling === undefined) return contradictionOn(`header ${name}`, 'something else', conditionText(added));
  headers.set(spelling, ours);
  return undefined;
}

/** Spellings of a name: as it is, in lower case, in upper case, and with one upper-case letter. */
function spellings(name: string): readonly string[] {
  const small = name.toLowerCase();
  const single = Array.from(small, (letter, i) => small.slice(0, i) + letter.toUpperCase() + small.slice(i + 1));
  return [name, small, name.toUpperCase(), ...single];
}

function contradictionOn(on: string, base: string, ours: string): { contradiction: string } {
  return { contradiction: `${on} must be ${base} in the route and ${ours} in the environment` };
}

/** The form of a match that applies: exact before prefix before regex. */
export function oneForm({ exact, prefix, regex }: StringMatch): HeaderMatch {
  if (exact) return { exact };
  if (prefix) return { prefix };
  return { regex: regex ?? '' };
}

/** The conditions on this header, whatever the case of its name. */
export function conditionsOn(
  headers: readonly [string, HeaderMatch][],
  name: string,
): readonly [string, HeaderMatch][] {
  return headers.filter(([other]) => other.toLowerCase() === name.toLowerCase());
}

/** A condition that holds exactly when both hold; `beside` if no single condition can express that. */
export function intersect(a: HeaderMatch, b: HeaderMatch): HeaderMatch | 'never' | 'beside' {
  if (isPresence(a)) return b;
  if (isPresence(b) || jsonEqual(a, b)) return a;
  // RE2 cannot express the intersection of two regular expressions as one.
  if (a.regex || b.regex) return 'beside';
  const isNarrow = a.exact !== undefined || (b.exact === undefined && a.prefix!.length > b.prefix!.length);
  const [narrow, wide] = isNarrow ? [a, b] : [b, a];
  return wide.prefix && (narrow.exact ?? narrow.prefix!).startsWith(wide.prefix) ? narrow : 'never';
}

/** Whether every value that fulfils the first condition fulfils the second. */
function implies(first: HeaderMatch, second: HeaderMatch): Decided {
  if (isPresence(second)) return true;
  // With hundreds of environments, each is compared with all before it: avoid automata where they are not needed.
  if (!isPresence(first) && !first.regex && !second.regex) {
    if (second.exact !== undefined) return first.exact === second.exact;
    return (first.exact ?? first.prefix ?? '').startsWith(second.prefix ?? '');
  }
  // Two keys in the baggage need no automaton either: requests may carry one, the other or both.
  const [one, other] = [baggageKey(first.regex), baggageKey(second.regex)];
  if (one !== undefined && other !== undefined) return one === other;
  return jsonEqual(intersect(second, first), first) || isSubset(regexOf(first), regexOf(second));
}

/** A condition on a value as a regular expression. */
export function regexOf(match: HeaderMatch): string {
  if (isPresence(match)) return '.*';
  const { exact, prefix, regex } = match;
  if (regex) return regex;
  return exact === undefined ? `${RE2JS.quote(prefix!)}.*` : RE2JS.quote(exact);
}

/** Whether the header only has to be present. An empty `exact` requires an empty value. */
export function isPresence({ exact, prefix, regex }: HeaderMatch): boolean {
  return exact === undefined && !prefix && (!regex || regex === '*');
}

function conditionText(match: HeaderMatch): string {
  if (isPresence(match)) return 'present';
  const [form, value] = Object.entries(match).find(([, each]) => each !== undefined)!;
  return `${form} "${value}"`;
}
