// The rules of a host as one ordered list for proofs: the first entry that a request fulfils decides.
import { isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { CompiledHost, Rule } from '../rules.ts';
import { effectOf } from './effects.ts';
import type { Effect } from './effects.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import type { RequestScope } from './witness.ts';

export interface Entry {
  readonly literals: readonly Literal[];
  readonly effect: Effect;
  /** Equal for entries with the same conditions and effect. */
  readonly key: string;
}

/** The entries that apply to a source. If a tier applies to the caller, a request that matches no rule gets 404. */
export function entriesOf({ tiers, otherwise }: CompiledHost, source: Source): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { rules } of tiers) {
    const applicable = rules.filter((rule) => rule.excluded === undefined && appliesTo(rule, source));
    for (const rule of applicable) {
      if (rule.refused === undefined) entries.push(entry(literalsOf(rule.match), effectOf(rule)));
    }
    const callers = applicable.map(({ match }) =>
      literalsOf({ ...(match.source && { source: match.source }), ...NOTHING }),
    );
    if (callers.some((each) => each.length === 0)) return [...entries, entry([], NO_ROUTE)];
    entries.push(...callers.map((each) => entry(each, NO_ROUTE)));
  }
  return [...entries, entry([], { id: otherwise })];
}

const NOTHING = { headers: [], query: [] };
const NO_ROUTE: Effect = { id: 'NoRoute' };

function entry(literals: readonly Literal[], effect: Effect): Entry {
  return { literals, effect, key: `${JSON.stringify(literals)} ${effect.id}` };
}

/** Whether a rule can apply to callers of a namespace. For gateways the compiler has already checked the source. */
function appliesTo({ match: { source: required } }: Rule, source: Source): boolean {
  return isGatewaySource(source) || required?.namespace === undefined || required.namespace === source.namespace;
}

/** Equal for scopes whose requests are decided in the same way in both worlds. */
export function siteId({ source, authority }: RequestScope, before: readonly Entry[], after: readonly Entry[]): string {
  const gateway = isGatewaySource(source) ? source.gateway : '';
  const all = [before, after].map((list) => list.map(({ key }) => key));
  return JSON.stringify([gateway, source.labels ?? {}, authority.regex, all]);
}

export interface Comparison {
  /** Numbers the entries that both lists have in the same order; undefined for the others. */
  readonly before: readonly (number | undefined)[];
  readonly after: readonly (number | undefined)[];
}

/** Aligns two lists. An entry that moved counts as removed from one position and added at another. */
export function compareEntries(before: readonly Entry[], after: readonly Entry[]): Comparison {
  const [inBefore, inAfter] = [before, after].map((list) => counted(list.map(({ key }) => key)));
  const numbers: [(number | undefined)[], (number | undefined)[]] = [[], []];
  let [i, j, shared] = [0, 0, 0];
  while (i < before.length || j < after.length) {
    const [one, other] = [before[i]?.key, after[j]?.key];
    if (one !== undefined && one === other) {
      numbers[0].push(shared);
      numbers[1].push(shared++);
      [i, j] = [i + 1, j + 1];
      take(inBefore!, one);
      take(inAfter!, one);
    } else if (other !== undefined && !inBefore!.get(other)) {
      numbers[1].push(undefined);
      take(inAfter!, other);
      j++;
    } else if (one !== undefined) {
      numbers[0].push(undefined);
      take(inBefore!, one);
      i++;
    } else {
      numbers[1].push(undefined);
      j++;
    }
  }
  return { before: numbers[0], after: numbers[1] };
}

function counted(keys: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Decrements a count. */
function take(counts: Map<string, number>, key: string): void {
  counts.set(key, counts.get(key)! - 1);
}
