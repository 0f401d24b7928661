// An index of the routes of environments in a VirtualService, by name and by key, so that a lookup for one of a hundred
// environments does not look at all of them.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { baggageKey } from '../../traffic/baggage.ts';
import { insertedName, routePrefix } from '../../traffic/istio/inserted-routes.ts';
import type { HttpMatch, HttpRoute } from '../../traffic/istio/objects.ts';

/** By header in lower case: the exact value or the baggage key that a match asks for, if it has one of these forms. */
export type KeyHeaders = ReadonlyMap<string, { readonly exact?: string; readonly key?: string }>;

export function keyHeaders({ headers = {} }: IstioMatch | HttpMatch): KeyHeaders {
  return new Map(
    Object.entries(headers).map(([name, { exact, regex }]) => {
      const key = baggageKey(regex);
      return [name.toLowerCase(), { ...(exact ? { exact } : key !== undefined && { key }) }];
    }),
  );
}

/** Positions of routes in the list of a VirtualService. */
export interface InsertedIndex {
  /** Routes that may take all requests with some headers from an environment. */
  asking(headers: KeyHeaders, baseHeaders: ReadonlySet<string>): readonly number[];
  /** Routes whose name has the prefix of a version. */
  named(version: string): readonly number[];
}

/** The headers that the match entries of a route ask for, and its position. */
interface Asked {
  readonly at: number;
  readonly asked: readonly KeyHeaders[];
}

/** The entries that ask for a header, by its exact value or by its baggage key. */
interface HeaderIndex {
  readonly exact: Map<string, Asked[]>;
  readonly key: Map<string, Asked[]>;
}

/** Indexes the inserted routes of a list; other routes are undefined in it. */
export function indexInserted(
  routes: readonly ({ readonly route: HttpRoute; readonly asked: readonly KeyHeaders[] } | undefined)[],
): InsertedIndex {
  const names: { readonly name: string; readonly at: number }[] = [];
  const byHeader = new Map<string, HeaderIndex>();
  /** Routes with an entry that asks for no value. */
  const others: Asked[] = [];
  for (const [at, part] of routes.entries()) {
    if (part === undefined) continue;
    const { route, asked } = part;
    names.push({ name: insertedName(route.name) ?? '', at });
    const each: Asked = { at, asked };
    if (asked.length === 0) others.push(each);
    for (const entry of asked) addEntry(byHeader, others, entry, each);
  }
  names.sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    asking(headers, baseHeaders) {
      const candidates = [...others];
      for (const name of new Set([...headers.keys(), ...baseHeaders])) {
        candidates.push(...(byHeader.has(name) ? candidatesIn(byHeader.get(name)!, headers.get(name)) : []));
      }
      return candidates.filter(({ asked }) => mayTake(asked, headers, baseHeaders)).map(({ at }) => at);
    },
    named(version) {
      const prefix = routePrefix(version);
      const [from, to] = [prefix, `${prefix}\uffff`].map((text) => lowerBound(names, text));
      return names.slice(from, to).map(({ at }) => at);
    },
  };
}

/** One header with a value is enough to find an entry, because all of its headers must match. */
function addEntry(byHeader: Map<string, HeaderIndex>, others: Asked[], entry: KeyHeaders, each: Asked): void {
  for (const [name, { exact, key }] of entry) {
    const value = exact ?? key;
    if (value === undefined) continue;
    let index = byHeader.get(name);
    if (index === undefined) byHeader.set(name, (index = { exact: new Map(), key: new Map() }));
    const form = exact === undefined ? index.key : index.exact;
    const there = form.get(value);
    if (there === undefined) form.set(value, [each]);
    else there.push(each);
    return;
  }
  others.push(each);
}

/** Entries that do not ask for another value of a header. Whether a value contains a key is not checked. */
function candidatesIn(
  { exact, key }: HeaderIndex,
  own: { readonly exact?: string; readonly key?: string } = {},
): Asked[] {
  const under = (values: Map<string, Asked[]>, requested: string | undefined): Asked[] =>
    requested === undefined ? [...values.values()].flat() : (values.get(requested) ?? []);
  return [...under(exact, own.exact), ...under(key, own.key)];
}

/** The position of the first name that is not less than a text. */
function lowerBound(names: readonly { readonly name: string }[], text: string): number {
  let [from, to] = [0, names.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (names[middle]!.name < text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Whether a route of another environment may take all requests with these headers from an environment. */
function mayTake(asked: readonly KeyHeaders[], headers: KeyHeaders, baseHeaders: ReadonlySet<string>): boolean {
  return asked.length === 0 || asked.some((entry) => !isApart(entry, headers, baseHeaders));
}

/**
 * Whether a route can't take all requests of an environment, as nearly always by their keys: it asks for another value
 * of a header, or for a header that neither the environment nor the base routes ask for.
 */
function isApart(asked: KeyHeaders, headers: KeyHeaders, baseHeaders: ReadonlySet<string>): boolean {
  for (const [name, other] of asked) {
    if (!headers.has(name) && !baseHeaders.has(name)) return true;
    const own = headers.get(name);
    if (isAnother(own?.exact, other.exact) || isAnother(own?.key, other.key)) return true;
  }
  return false;
}

function isAnother(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}
