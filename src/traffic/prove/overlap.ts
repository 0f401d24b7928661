// Whether two environments ask for the same requests, and for which. A request that carries two keys is asked for by both
// without any conflict; it is one where a single value of a header, or a single label, is what both go by.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { BAGGAGE } from '../baggage.ts';
import { conditionsOf } from '../compile/conditions.ts';
import { combine, includes, unusable } from '../istio/matches.ts';
import type { HttpMatch } from '../istio/objects.ts';
import type { Request } from '../request.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import { Budget, findRequest, TooComplex } from './witness.ts';
import type { Place, Witness } from './witness.ts';

/** The requests that one match asks for, by those of another: the same, all among others, some, or it is not known. */
type Relation = 'same' | 'covered' | 'overlapping' | 'undecided';

export interface Overlap {
  readonly relation: Relation;
  /** A request that both ask for, as far as one was found. */
  readonly example?: Pick<Request, 'headers' | 'source'>;
}

const SOMEWHERE: Place = { source: { namespace: '' }, port: 80, authority: { regex: 'host', samples: ['host'] } };
const MOST_STEPS = 100;

/** How the requests of a match relate to those of another one; undefined if they have none in common but with two keys. */
export function overlapOf(ours: IstioMatch, theirs: IstioMatch): Overlap | undefined {
  if (unusable(ours) !== undefined || unusable(theirs) !== undefined) return undefined;
  const [one, other] = [combine({}, ours), combine({}, theirs)];
  if ('contradiction' in one || 'contradiction' in other || !haveCommonKey(one.match, other.match)) return undefined;
  const found = commonRequest(one.match, other.match);
  const example = typeof found === 'string' ? {} : { example: { ...found.request } };
  const [isCovered, covers] = [includes(other.match, one.match), includes(one.match, other.match)];
  if (isCovered && covers) return { relation: 'same', ...example };
  if (isCovered) return { relation: 'covered', ...example };
  if (found === 'none' && !covers) return undefined;
  return { relation: found === 'unknown' && !covers ? 'undecided' : 'overlapping', ...example };
}

/** Whether some header is part of both keys; where one of them has none, some label. */
function haveCommonKey(one: HttpMatch, other: HttpMatch): boolean {
  const [headers, theirs] = [one, other].map((each) =>
    Object.keys(each.headers ?? {}).map((name) => name.toLowerCase()),
  );
  if (headers!.length > 0 && theirs!.length > 0) return headers!.some((name) => theirs!.includes(name));
  return Object.keys(one.sourceLabels ?? {}).some((name) => other.sourceLabels?.[name] !== undefined);
}

/** A request that fits both matches, with each header once. */
function commonRequest(one: HttpMatch, other: HttpMatch): Witness {
  const literals = [one, other].flatMap((each) => literalsOf(conditionsOf(each)));
  const inBaggage = literals.filter(({ condition }) => condition.on === 'header' && condition.wanted.name === BAGGAGE);
  const all = inBaggage.length > 1 ? [...literals, ONE_MEMBER] : literals;
  try {
    return findRequest({ place: SOMEWHERE, literals: all, isSingle: true }, new Budget(MOST_STEPS));
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return 'unknown';
  }
}

/** Two members of the baggage are two keys. */
const ONE_MEMBER: Literal = {
  condition: { on: 'header', wanted: { name: BAGGAGE, value: { regex: '[^,]*' }, negated: false } },
  holds: true,
};
