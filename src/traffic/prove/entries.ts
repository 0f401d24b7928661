// The rules of a host as one ordered list, of which the first entry that a request fulfils decides: what a proof compares.
import { isGatewaySource } from '../request.ts';
import type { Source } from '../request.ts';
import type { CompiledHost, Rule } from '../rules.ts';
import { effectOf } from './effects.ts';
import type { Effect } from './effects.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import type { Place } from './witness.ts';

export interface Entry {
  readonly literals: readonly Literal[];
  readonly effect: Effect;
  /** The same for entries with the same conditions and effect. */
  readonly key: string;
}

/** What a proxy goes by. A tier that only some callers are told of has nothing for what fits none of its rules. */
export function entriesOf({ tiers, otherwise }: CompiledHost, source: Source): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { rules } of tiers) {
    const told = rules.filter((rule) => rule.excluded === undefined && isToldIn(rule, source));
    for (const rule of told) {
      if (rule.refused === undefined) entries.push(entry(literalsOf(rule.match), effectOf(rule)));
    }
    const callers = told.map(({ match }) => literalsOf({ ...(match.source && { source: match.source }), ...NOTHING }));
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

/** Whether callers of a namespace may be told of a rule. At a gateway it has been looked at already. */
function isToldIn({ match: { source: wanted } }: Rule, source: Source): boolean {
  return isGatewaySource(source) || wanted?.namespace === undefined || wanted.namespace === source.namespace;
}

/** The same for places whose requests are decided in the same way in both worlds, whoever sends them. */
export function siteId({ source, authority }: Place, before: readonly Entry[], after: readonly Entry[]): string {
  const gateway = isGatewaySource(source) ? source.gateway : '';
  const all = [before, after].map((list) => list.map(({ key }) => key));
  return JSON.stringify([gateway, source.labels ?? {}, authority.regex, all]);
}

export interface Comparison {
  /** Which of the entries of each list both have, in the same order: numbered, undefined for the others. */
  readonly before: readonly (number | undefined)[];
  readonly after: readonly (number | undefined)[];
}

/** Puts two lists side by side. What changed places counts as gone from one and as new at the other. */
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

/** One less of what is left. */
function take(counts: Map<string, number>, key: string): void {
  counts.set(key, counts.get(key)! - 1);
}
