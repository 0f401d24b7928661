// The routes of environments in a VirtualService, found by what concerns one of them: its name, and its key. A hundred
// that share a VirtualService are looked up without looking at each other.
import type { IstioMatch } from '../api/dynamicenv.ts';
import { baggageKey } from '../traffic/baggage.ts';
import { insertedName, routePrefix } from '../traffic/istio/inserted-routes.ts';
import type { HttpMatch, HttpRoute } from '../traffic/istio/objects.ts';

/** By header, in lower case: the value or key by which requests of a match are known, as far as it has one of these forms. */
export type KeyHeaders = ReadonlyMap<string, { readonly exact?: string; readonly key?: string }>;

export function keyHeaders({ headers = {} }: IstioMatch | HttpMatch): KeyHeaders {
  return new Map(
    Object.entries(headers).map(([name, { exact, regex }]) => {
      const key = baggageKey(regex);
      return [name.toLowerCase(), { ...(exact ? { exact } : key !== undefined && { key }) }];
    }),
  );
}

/** Where routes are in the list of a VirtualService. */
export interface InsertedIndex {
  /** Those that may take all requests with some headers from an environment. */
  asking(headers: KeyHeaders, baseHeaders: ReadonlySet<string>): readonly number[];
  /** Those whose name begins like the names of a version. */
  named(version: string): readonly number[];
}

/** What the match entries of a route ask for, and where it is. */
interface Asked {
  readonly at: number;
  readonly asked: readonly KeyHeaders[];
}

/** The entries that ask for a header, by its value, by the key that it holds, or by something else. */
interface HeaderIndex {
  readonly exact: Map<string, Asked[]>;
  readonly key: Map<string, Asked[]>;
}

/** Indexes the routes of a list that environments inserted; others are undefined in it. */
export function indexInserted(
  routes: readonly ({ readonly route: HttpRoute; readonly asked: readonly KeyHeaders[] } | undefined)[],
): InsertedIndex {
  const names: { readonly name: string; readonly at: number }[] = [];
  const byHeader = new Map<string, HeaderIndex>();
  /** Those with an entry that is known by no value. */
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
      const near = [...others];
      for (const name of new Set([...headers.keys(), ...baseHeaders])) {
        near.push(...(byHeader.has(name) ? nearTo(byHeader.get(name)!, headers.get(name)) : []));
      }
      return near.filter(({ asked }) => mayTake(asked, headers, baseHeaders)).map(({ at }) => at);
    },
    named(version) {
      const prefix = routePrefix(version);
      const [from, to] = [prefix, `${prefix}\uffff`].map((text) => firstFrom(names, text));
      return names.slice(from, to).map(({ at }) => at);
    },
  };
}

/** One header with a value is enough to find an entry by: all of its headers must fit. */
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

/** Those that do not ask for another value than a header has. Whether a value holds a key is not looked at. */
function nearTo({ exact, key }: HeaderIndex, own: { readonly exact?: string; readonly key?: string } = {}): Asked[] {
  const under = (values: Map<string, Asked[]>, wanted: string | undefined): Asked[] =>
    wanted === undefined ? [...values.values()].flat() : (values.get(wanted) ?? []);
  return [...under(exact, own.exact), ...under(key, own.key)];
}

/** Where the first name is that does not come before a text. */
function firstFrom(names: readonly { readonly name: string }[], text: string): number {
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
 * Whether not all requests of one can be requests of the other, as the keys of environments nearly always tell: another
 * value of a header, or a header that the environment does not ask for. What base routes ask for, its routes do too.
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
