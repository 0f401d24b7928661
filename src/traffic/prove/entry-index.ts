// The entries of a host, found by the header values and labels that they ask for. A thousand environments have routes on
// one host: what concerns the requests of one of them is found without looking at the others.
import { BAGGAGE, baggageKey, baggageKeys } from '../baggage.ts';
import { headerValues } from '../request.ts';
import type { Request } from '../request.ts';
import { isInsertedRule } from './effects.ts';
import type { Entry } from './entries.ts';
import { fulfils } from './literals.ts';
import type { Literal } from './literals.ts';

/** A header or label that a literal is about, and the value or key that it asks for, if it has one of these forms. */
interface Asked {
  readonly on: 'header' | 'label';
  readonly name: string;
  readonly exact?: string;
  readonly key?: string;
}

/** Where the entries are that ask for a header or label: by its value, by the key that it holds, or by something else. */
interface Asking extends Pick<Asked, 'on' | 'name'> {
  readonly exact: Map<string, number[]>;
  readonly key: Map<string, number[]>;
  readonly others: number[];
}

export class EntryIndex {
  readonly #entries: readonly Entry[];
  /** By header or label. */
  readonly #asking = new Map<string, Asking>();
  /** Those that ask for no certain value of any. */
  readonly #unvalued: number[] = [];
  /** Those that no environment inserted, or that go by no key. */
  readonly #base: number[] = [];

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
    for (const [at, { literals, effect }] of entries.entries()) {
      const all = literals.flatMap(askedBy);
      if (!isInsertedRule(effect.rule) || all.length === 0) this.#base.push(at);
      for (const each of all) this.#add(each, at);
      if (all.every(({ exact, key }) => exact === undefined && key === undefined)) this.#unvalued.push(at);
    }
  }

  /** The first of the entries before a place that a request fulfils. */
  fulfilled(request: Request, before: number): Entry | undefined {
    const found = [...this.#unvalued];
    for (const { on, name, exact, key } of this.#asking.values()) {
      for (const value of on === 'header' ? headerValues(request, name) : [request.source.labels?.[name] ?? '']) {
        found.push(...(exact.get(value) ?? []), ...keysIn(name, value).flatMap((each) => key.get(each) ?? []));
      }
    }
    const first = sorted(found).find((at) => at < before && fulfils(request, this.#entries[at]!.literals));
    return first === undefined ? undefined : this.#entries[first];
  }

  /**
   * Where the entries are that concern requests of some literals: all but those of environments, and of these the ones
   * that go by a header or label of these requests. A request that fulfils any other carries the keys of two environments.
   */
  concerning(literals: readonly Literal[]): readonly number[] {
    const found = [...this.#base];
    for (const { on, name, exact, key } of literals.flatMap(askedBy)) {
      const asking = this.#asking.get(`${on} ${name}`);
      if (asking === undefined) continue;
      const isWide = exact === undefined && key === undefined;
      const keys = exact === undefined ? [key ?? ''] : keysIn(name, exact);
      found.push(
        ...asking.others,
        ...(exact === undefined ? [...asking.exact.values()].flat() : (asking.exact.get(exact) ?? [])),
        ...(isWide ? [...asking.key.values()].flat() : keys.flatMap((each) => asking.key.get(each) ?? [])),
      );
    }
    return sorted(found);
  }

  #add({ on, name, exact, key }: Asked, at: number): void {
    const id = `${on} ${name}`;
    let asking = this.#asking.get(id);
    if (asking === undefined) {
      this.#asking.set(id, (asking = { on, name, exact: new Map(), key: new Map(), others: [] }));
    }
    if (exact !== undefined) add(asking.exact, exact, at);
    else if (key !== undefined) add(asking.key, key, at);
    else asking.others.push(at);
  }
}

/** What of a literal entries are found by: environments go by headers and labels, never by paths or queries. */
function askedBy({ condition, holds }: Literal): readonly Asked[] {
  if (condition.on === 'label') {
    const { on, name, value } = condition;
    return [{ on, name, ...(holds && { exact: value }) }];
  }
  if (condition.on !== 'header' || condition.wanted.name.startsWith(':')) return [];
  const { name, value, negated } = condition.wanted;
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
