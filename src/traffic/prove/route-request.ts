// An example request that takes a given route of a VirtualService and none of the routes before it.
import { conditionsOf } from '../compile/conditions.ts';
import type { HttpMatch } from '../istio/objects.ts';
import { literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import { avoiding, Budget, findRequest, TooComplex } from './witness.ts';
import type { Witness } from './witness.ts';

const MAX_STEPS = 1_000;

/** Finds a request to a host that matches all given entries, and no entry of earlier routes. */
export function requestFor(required: readonly HttpMatch[], earlier: readonly HttpMatch[], host: string): Witness {
  const scope = { source: { namespace: '' }, port: 80, authority: { regex: '.*', samples: [host] } };
  const literals = (entry: HttpMatch): readonly Literal[] => literalsOf(conditionsOf(entry));
  try {
    return findRequest(
      { scope, literals: required.flatMap(literals), avoided: avoiding(earlier.map(literals)), isSingle: true },
      new Budget(MAX_STEPS),
    );
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    return 'unknown';
  }
}
