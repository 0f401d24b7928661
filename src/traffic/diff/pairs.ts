// Pairs of entries, one from each of two worlds, that can decide the same request.
import { avoiding, findRequest } from '../prove/witness.ts';
import type { Budget } from '../prove/witness.ts';
import { compareEntries } from '../prove/entries.ts';
import type { Entry } from '../prove/entries.ts';
import { EntryIndex } from '../prove/entry-index.ts';
import { isInsertedRule } from '../prove/effects.ts';
import type { Literal } from '../prove/literals.ts';
import type { HostScope } from '../prove/scopes.ts';
import type { Request } from '../request.ts';

/** A list of entries with its index. */
interface Listed {
  readonly entries: readonly Entry[];
  readonly index: EntryIndex;
}

/** Two entries that can decide the same request, and lookups for the entries before them. */
export interface Pair {
  readonly before: Entry;
  readonly after: Entry;
  /** An earlier entry that a request fulfils. */
  readonly earlier: (request: Request) => Entry | undefined;
  /** The earlier entries that are relevant for requests with these literals. */
  readonly concerning: (literals: readonly Literal[]) => readonly Entry[];
}

/**
 * Pairs of entries that can decide the same request, at least one of which exists in only one world. A request with the
 * keys of two environments always goes to the first of them, so such pairs are not reported.
 */
export function* pairsOf(
  before: readonly Entry[],
  after: readonly Entry[],
  scope: HostScope,
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
        // Skips shared entries before this one, which the request does not fulfil, and pairs that were seen already.
        if (sharedAs === undefined ? world === 'before' : sharedAs < known) continue;
        const candidate = others.entries[index]!;
        const literals = [...entry.literals, ...candidate.literals];
        if (findRequest({ scope, literals, isSingle: true }, budget) === 'none') continue;
        yield {
          ...(world === 'after' ? { before: candidate, after: entry } : { before: entry, after: candidate }),
          earlier: (request) => own.index.fulfilled(request, at) ?? others.index.fulfilled(request, index),
          concerning: (required) => [...concerned(own, required, at), ...concerned(others, required, index)],
        };
        const wide = { scope, literals: entry.literals, avoided: avoiding([candidate.literals]), isSingle: true };
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
