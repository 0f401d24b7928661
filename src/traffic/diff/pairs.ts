// The entries of two worlds that the same requests may be decided by, one in each.
import { avoiding, findRequest } from '../prove/witness.ts';
import type { Budget } from '../prove/witness.ts';
import { compareEntries } from '../prove/entries.ts';
import type { Entry } from '../prove/entries.ts';
import { EntryIndex } from '../prove/entry-index.ts';
import { isInsertedRule } from '../prove/effects.ts';
import type { Literal } from '../prove/literals.ts';
import type { NamedPlace } from '../prove/places.ts';
import type { Request } from '../request.ts';

/** A list of entries, and how they are found. */
interface Listed {
  readonly entries: readonly Entry[];
  readonly index: EntryIndex;
}

/** Two entries that the same requests may be decided by, and finders of what is before each. */
export interface Pair {
  readonly before: Entry;
  readonly after: Entry;
  /** What a request fulfils that is before them. */
  readonly earlier: (request: Request) => Entry | undefined;
  /** Entries before them that concern requests of some literals. */
  readonly concerning: (literals: readonly Literal[]) => readonly Entry[];
}

/**
 * Entries that the same requests may be decided by, of which at least one world has one alone. That a request which
 * carries the keys of two environments goes to the first of both is true of all, and told nowhere.
 */
export function* pairsOf(
  before: readonly Entry[],
  after: readonly Entry[],
  place: NamedPlace,
  budget: Budget,
): Generator<Pair> {
  const shared = compareEntries(before, after);
  const listed = { before: listedOf(before), after: listedOf(after) };
  for (const [world, other] of [['after', 'before'] as const, ['before', 'after'] as const]) {
    const [own, others] = [listed[world], listed[other]];
    let known = 0;
    for (const [at, entry] of own.entries.entries()) {
      const number = shared[world][at];
      if (number !== undefined) {
        known = number + 1;
        continue;
      }
      for (const index of isInsertedRule(entry.effect.rule)
        ? others.index.concerning(entry.literals)
        : others.entries.keys()) {
        const sharedAs = shared[other][index];
        // Of those that both have, the ones before it are not fulfilled. Pairs that neither has were seen already.
        if (sharedAs === undefined ? world === 'before' : sharedAs < known) continue;
        const candidate = others.entries[index]!;
        const literals = [...entry.literals, ...candidate.literals];
        if (findRequest({ place, literals, isSingle: true }, budget) === 'none') continue;
        yield {
          ...(world === 'after' ? { before: candidate, after: entry } : { before: entry, after: candidate }),
          earlier: (request) => own.index.fulfilled(request, at) ?? others.index.fulfilled(request, index),
          concerning: (wanted) => [...concerned(own, wanted, at), ...concerned(others, wanted, index)],
        };
        const wide = { place, literals: entry.literals, avoided: avoiding([candidate.literals]), isSingle: true };
        if (findRequest(wide, budget) === 'none') break;
      }
    }
  }
}

function listedOf(entries: readonly Entry[]): Listed {
  return { entries, index: new EntryIndex(entries) };
}

function concerned({ entries, index }: Listed, literals: readonly Literal[], before: number): readonly Entry[] {
  return index.concerning(literals).flatMap((at) => (at < before ? [entries[at]!] : []));
}
