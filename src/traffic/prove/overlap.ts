// Whether two environments match the same requests, and which. A request with two keys is not a conflict; there is one if
// both environments match on a single value of a header, or on a single label.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import { BAGGAGE } from '../baggage.ts';
import { conditionsOf } from '../compile/conditions.ts';
import { combine, includes } from '../istio/matches.ts';
import type { HttpMatch } from '../istio/objects.ts';
import { unusable } from '../istio/unusable.ts';
import type { Request } from '../request.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import { Budget, findRequest, TooComplex } from './witness.ts';
import type { RequestScope, Witness } from './witness.ts';

/** How the requests of one match relate to those of another: all the same, all covered, some shared, or not known. */
type Relation = 'same' | 'covered' | 'overlapping' | 'undecided';

export interface Overlap {
  readonly relation: Relation;
  /** A request that both match, if one was found. */
  readonly example?: Pick<Request, 'headers' | 'source'>;
}

const ANY_SCOPE: RequestScope = {
  source: { namespace: '' },
  port: 80,
  authority: { regex: 'host', samples: ['host'] },
};
const MAX_STEPS = 100;

/** How the requests of a match relate to those of another; undefined if only requests with two keys match both. */
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

/** Whether both keys use the same header; if one of them uses no header, the same label. */
function haveCommonKey(one: HttpMatch, other: HttpMatch): boolean {
  const [headers, theirs] = [one, other].map((each) =>
    Object.keys(each.headers ?? {}).map((name) => name.toLowerCase()),
  );
  if (headers!.length > 0 && theirs!.length > 0) return headers!.some((name) => theirs!.includes(name));
  return Object.keys(one.sourceLabels ?? {}).some((name) => other.sourceLabels?.[name] !== undefined);
}

/** A request that matches both, with one value for each header. */
function commonRequest(one: HttpMatch, other: HttpMatch): Witness {
  const literals = [one, other].flatMap((each) => literalsOf(conditionsOf(each)));
  const inBaggage = literals.filter(
    ({ condition }) => condition.on === 'header' && condition.required.name === BAGGAGE,
  );
  const all = inBaggage.length > 1 ? [...literals, ONE_MEMBER] : literals;
  try {
    return findRequest({ scope: ANY_SCOPE, literals: all, isSingle: true }, new Budget(MAX_STEPS));
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return 'unknown';
  }
}

/** Limits the baggage to one member, as two members are two keys. */
const ONE_MEMBER: Literal = {
  condition: { on: 'header', required: { name: BAGGAGE, value: { regex: '[^,]*' }, negated: false } },
  holds: true,
};
