// A request that takes a route of a VirtualService and none of those before it: what people are told to try.
import { conditionsOf } from '../compile/conditions.ts';
import type { HttpMatch } from '../istio/objects.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import { avoiding, Budget, findRequest, TooComplex } from './witness.ts';
import type { Witness } from './witness.ts';

const MOST_STEPS = 1_000;

/** Finds a request to a host that fits all of some match entries, and none of those of earlier routes. */
export function requestFor(wanted: readonly HttpMatch[], earlier: readonly HttpMatch[], host: string): Witness {
  const place = { source: { namespace: '' }, port: 80, authority: { regex: '.*', samples: [host] } };
  const literals = (entry: HttpMatch): readonly Literal[] => literalsOf(conditionsOf(entry));
  try {
    return findRequest(
      { place, literals: wanted.flatMap(literals), avoided: avoiding(earlier.map(literals)), isSingle: true },
      new Budget(MOST_STEPS),
    );
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return 'unknown';
  }
}
