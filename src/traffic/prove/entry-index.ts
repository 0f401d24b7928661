// Indexes the entries of a host by the header values and labels in their conditions. With a thousand environments on
// one host, the entries that matter for one of them are found without a linear search.
import { BAGGAGE, baggageKey, baggageKeys } from '../baggage.ts';
import { headerValues } from '../request.ts';
import type { Request } from '../request.ts';
import { isInsertedRule } from './effects.ts';
import type { Entry } from './entries.ts';
import { fulfils } from './literals.ts';
import type { Literal } from './literals.ts';

/** The header or label of a literal, with the value or baggage key that it requires, if any. */
interface IndexKey {
  readonly on: 'header' | 'label';
  readonly name: string;
  readonly exact?: string;
  readonly key?: string;
}

/** The indexes of the entries with a condition on a header or label: by value, by baggage key, and all others. */
interface Postings extends Pick<IndexKey, 'on' | 'name'> {
  readonly exact: Map<string, number[]>;
  readonly key: Map<string, number[]>;
  readonly others: number[];
}

export class EntryIndex {
  readonly #entries: readonly Entry[];
  /** By header or label. */
  readonly #postings = new Map<string, Postings>();
  /** Entries that require no specific value of any header or label. */
  readonly #unvalued: number[] = [];
  /** Entries that no environment inserted, and those without a condition on a header or label. */
  readonly #base: number[] = [];

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    for (const [at, { literals, effect }] of entries.entries()) {
      const all = literals.flatMap(indexKeysOf);
      if (!isInsertedRule(effect.rule) || all.length === 0) this.#base.push(at);
      for (const each of all) this.#add(each, at);
      if (all.every(({ exact, key }) => exact === undefined && key === undefined)) this.#unvalued.push(at);
    }
  }

  /** The first entry that a request fulfils, among those before an index. */
  fulfilled(request: Request, before: number): Entry | undefined {
    const found = [...this.#unvalued];
    for (const { on, name, exact, key } of this.#postings.values()) {
      for (const value of on === 'header' ? headerValues(request, name) : [request.source.labels?.[name] ?? '']) {
        found.push(...(exact.get(value) ?? []), ...keysIn(name, value).flatMap((each) => key.get(each) ?? []));
      }
    }
    const first = sorted(found).find((at) => at < before && fulfils(request, this.#entries[at]!.literals));
    return first === undefined ? undefined : this.#entries[first];
  }

  /**
   * The indexes of the entries that can decide requests with these literals: all base entries, and those of
   * environments that match on one of the same headers or labels. A request that fulfils any other carries two keys.
   */
  concerning(literals: readonly Literal[]): readonly number[] {
    const found = [...this.#base];
    for (const { on, name, exact, key } of literals.flatMap(indexKeysOf)) {
      const postings = this.#postings.get(`${on} ${name}`);
      if (postings === undefined) continue;
      const isWide = exact === undefined && key === undefined;
      const keys = exact === undefined ? [key ?? ''] : keysIn(name, exact);
      found.push(
        ...postings.others,
        ...(exact === undefined ? [...postings.exact.values()].flat() : (postings.exact.get(exact) ?? [])),
        ...(isWide ? [...postings.key.values()].flat() : keys.flatMap((each) => postings.key.get(each) ?? [])),
      );
    }
    return sorted(found);
  }

  #add({ on, name, exact, key }: IndexKey, at: number): void {
    const id = `${on} ${name}`;
    let postings = this.#postings.get(id);
    if (postings === undefined) {
      this.#postings.set(id, (postings = { on, name, exact: new Map(), key: new Map(), others: [] }));
    }
    if (exact !== undefined) add(postings.exact, exact, at);
    else if (key !== undefined) add(postings.key, key, at);
    else postings.others.push(at);
  }
}

/** The index key of a literal. Environments match on headers and labels, never on paths or queries. */
function indexKeysOf({ condition, holds }: Literal): readonly IndexKey[] {
  if (condition.on === 'label') {
    const { on, name, value } = condition;
    return [{ on, name, ...(holds && { exact: value }) }];
  }
  if (condition.on !== 'header' || condition.required.name.startsWith(':')) return [];
  const { name, value, negated } = condition.required;
  if (!holds || negated) return [{ on: 'header', name }];
  const key = name === BAGGAGE ? baggageKey(value.regex) : undefined;
  return [
    { on: 'header', name, ...(value.exact !== undefined && { exact: value.exact }), ...(key !== undefined && { key }) },
  ];
}

function keysIn(name: string, value: string): readonly string[] {
  return name === BAGGAGE ? baggageKeys(value) : [];
}

function add(map: Map<string, number[]>, value: string, at: number): void {
  const there = map.get(value);
  if (there === undefined) map.set(value, [at]);
  else there.push(at);
}

function sorted(places: readonly number[]): readonly number[] {
  return [...new Set(places)].sort((a, b) => a - b);
}
