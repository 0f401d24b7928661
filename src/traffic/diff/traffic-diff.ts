// Which requests are decided otherwise in one world than in another, in sentences. Only names, ports and callers are
// compared that something which differs can concern, and of their rules only those that one world has and the other has
// not. For `offshoot plan`.
import { decisionData } from '../describe/decision-data.ts';
import type { DecisionData } from '../describe/decision-data.ts';
import { insertedName } from '../istio/inserted-routes.ts';
import { changeText, exceptionsText, placeText, requestsText } from './texts.ts';
import { entriesOf, compareEntries } from '../prove/entries.ts';
import type { Entry } from '../prove/entries.ts';
import type { Literal } from '../prove/literals.ts';
import type { ProvenEnvironment } from '../prove/effects.ts';
import { OTHER_NAMESPACE, placesOf } from '../prove/places.ts';
import type { NamedPlace } from '../prove/places.ts';
import { Budget, findRequest, TooComplex } from '../prove/witness.ts';
import { isGatewaySource } from '../request.ts';
import type { Request, Source } from '../request.ts';
import { createRouter } from '../router.ts';
import type { Router } from '../router.ts';
import type { World } from '../world.ts';

/** What differs between two worlds, as far as it can concern requests. */
export interface WorldChanges extends Pick<ProvenEnvironment, 'virtualServices'> {
  /** Of Services whose rules or pods differ, in full. */
  readonly hosts: readonly string[];
}

/** Requests that are decided otherwise. */
export interface TrafficChange {
  /** In a sentence. */
  readonly text: string;
  /** One of these requests, and what becomes of it. */
  readonly example: { readonly request: Request; readonly before: DecisionData; readonly after: DecisionData };
}

export interface TrafficDiff {
  readonly changes: readonly TrafficChange[];
  /** Whether there may be more: comparing everything would take too long, or something could not be decided. */
  readonly isPartial: boolean;
}

/** Steps before the rest is left out. */
const MOST_STEPS = 50_000;

/** Compares two worlds. */
export function trafficDiff(before: World, after: World, changes: WorldChanges, steps = MOST_STEPS): TrafficDiff {
  const budget = new Budget(steps);
  const routers = [createRouter(before), createRouter(after)] as const;
  const found = new Map<string, Found>();
  /** By host and port: all callers that were looked at. */
  const callers = new Map<string, Set<string>>();
  let isPartial = false;
  try {
    for (const place of placesOf(before, after, { ...changes, workloads: [] }, budget)) {
      const at = placeText(place, before.settings);
      const all = callers.get(at) ?? new Set();
      callers.set(at, all.add(sourceText(place.source)));
      for (const { change, isCertain } of changesAt(place, routers, budget, before)) {
        if (!isCertain) isPartial = true;
        if (change === undefined) continue;
        const id = `${at}${requestsText(change.literals)}${change.exceptions} ${change.outcome}`;
        const same = found.get(id) ?? { at, ...change, sources: new Set() };
        same.sources.add(sourceText(place.source));
        found.set(id, same);
      }
    }
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    isPartial = true;
  }
  const told = [...found.values()].map(({ at, literals, exceptions, outcome, example, sources }) => {
    const isForAll = sources.size === callers.get(at)!.size;
    const requests = requestsText(literals, isForAll ? [] : [...sources]);
    return { text: `Requests to ${at}${requests}${exceptions} ${outcome}.`, example };
  });
  return { changes: told, isPartial };
}

interface Change {
  /** Which requests. */
  readonly literals: readonly Literal[];
  /** Those of them that earlier rules take elsewhere, in words. */
  readonly exceptions: string;
  /** What becomes of them instead of what. */
  readonly outcome: string;
  readonly example: TrafficChange['example'];
}

interface Found extends Change {
  readonly at: string;
  readonly sources: Set<string>;
}

/** Callers that may be told different things. */
function sourceText(source: Source): string {
  if (isGatewaySource(source)) return source.gateway;
  const labels = Object.entries(source.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const namespace = source.namespace.startsWith(OTHER_NAMESPACE) ? 'others' : source.namespace;
  return labels.length === 0 ? namespace : `${namespace} (with ${labels.join(', ')})`;
}

function* changesAt(
  place: NamedPlace,
  [was, is]: readonly [Router, Router],
  budget: Budget,
  { settings }: World,
): Generator<{ readonly change?: Change; readonly isCertain: boolean }> {
  const { source, host, port } = place;
  const [before, after] = [was, is].map((router) => entriesOf(router.rulesFor(source, host, port), source));
  for (const [one, other, earlier] of pairsOf(before!, after!, place, budget)) {
    if (one.effect.id === other.effect.id) continue;
    const literals = [...one.literals, ...other.literals];
    const witness = findRequest(
      { place, literals, avoided: earlier.map((each) => each.literals), isSingle: true },
      budget,
    );
    if (typeof witness === 'string') {
      if (witness === 'unknown') yield { isCertain: false };
      continue;
    }
    const { request } = witness;
    const [then, now] = [was.decide(request), is.decide(request)];
    const outcome = changeText(then, now, host, settings);
    if (outcome === undefined) continue;
    const example = { request, before: decisionData(then), after: decisionData(now) };
    const isSame = (each: Request): boolean =>
      changeText(was.decide(each), is.decide(each), host, settings) === outcome;
    const exceptions = exceptionsText(exceptionsTo(place, literals, earlier, isSame, budget));
    yield { change: { literals, exceptions, outcome, example }, isCertain: true };
  }
}

/**
 * What those of some requests carry besides of which earlier entries make something else. That a request which carries the
 * key of another environment too goes to the first of both is true of all, and told nowhere.
 */
function exceptionsTo(
  place: NamedPlace,
  literals: readonly Literal[],
  earlier: readonly Entry[],
  isSame: (request: Request) => boolean,
  budget: Budget,
): readonly (readonly Literal[])[] {
  const known = new Set(literals.map((each) => JSON.stringify(each)));
  const subjects = new Set(literals.map(subjectOf));
  return earlier.flatMap((entry) => {
    const besides = entry.literals.filter((each) => !known.has(JSON.stringify(each)));
    const isKey = insertedName(entry.effect.rule?.name) !== undefined;
    if (besides.length === 0 || (isKey && !besides.some((each) => subjects.has(subjectOf(each))))) return [];
    const both = [...literals, ...besides];
    const found = findRequest({ place, literals: both, avoided: [], isSingle: true }, budget);
    return typeof found === 'string' || isSame(found.request) ? [] : [besides];
  });
}

/** What of a request a condition is about. */
function subjectOf({ condition }: Literal): string {
  if (condition.on === 'path') return condition.on;
  return `${condition.on} ${condition.on === 'label' ? condition.name : condition.wanted.name}`;
}

/** Entries that the same requests may be decided by, of which at least one world has one alone; with those before them. */
function* pairsOf(
  before: readonly Entry[],
  after: readonly Entry[],
  place: NamedPlace,
  budget: Budget,
): Generator<readonly [before: Entry, after: Entry, earlier: readonly Entry[]]> {
  const shared = compareEntries(before, after);
  for (const world of ['after', 'before'] as const) {
    const [own, others] = world === 'after' ? [after, before] : [before, after];
    const [ownNumbers, otherNumbers] =
      world === 'after' ? [shared.after, shared.before] : [shared.before, shared.after];
    let known = 0;
    for (const [at, entry] of own.entries()) {
      const number = ownNumbers[at];
      if (number !== undefined) {
        known = number + 1;
        continue;
      }
      for (const [index, candidate] of others.entries()) {
        const sharedAs = otherNumbers[index];
        // Of those that both have, the ones before it are not fulfilled. Pairs that neither has were seen already.
        if (sharedAs === undefined ? world === 'before' : sharedAs < known) continue;
        const literals = [...entry.literals, ...candidate.literals];
        if (findRequest({ place, literals, avoided: [], isSingle: true }, budget) === 'none') continue;
        const earlier = [...own.slice(0, at), ...others.slice(0, index)];
        yield world === 'after' ? [candidate, entry, earlier] : [entry, candidate, earlier];
        const wide = { place, literals: entry.literals, avoided: [candidate.literals], isSingle: true };
        if (findRequest(wide, budget) === 'none') break;
      }
    }
  }
}
