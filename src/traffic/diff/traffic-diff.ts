// Which requests are routed differently in one world than in another, in sentences. Only names, ports and callers are
// compared that something which differs can concern, and of their rules only those that one world has and the other has
// not. For `offshoot plan`.
import { decisionData } from '../describe/decision-data.ts';
import type { DecisionData } from '../describe/decision-data.ts';
import { changeText, exceptionsText, placeText, requestsText } from './texts.ts';
import { pairsOf } from './pairs.ts';
import type { Pair } from './pairs.ts';
import { entriesOf, siteId } from '../prove/entries.ts';
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

/** Requests that are routed differently. */
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
  /** By what callers are told: most are told the same. */
  const known = new Map<string, FoundChange[]>();
  let isPartial = false;
  try {
    for (const place of placesOf(before, after, { ...changes, workloads: [] }, budget)) {
      const { source, host, port } = place;
      const at = placeText(place, before.settings);
      const all = callers.get(at) ?? new Set();
      callers.set(at, all.add(sourceText(source)));
      const add = ({ change, isCertain }: FoundChange): void => {
        if (!isCertain) isPartial = true;
        if (change === undefined) return;
        const id = `${at}${requestsText(change.literals)}${change.exceptions} ${change.outcome}`;
        const same = found.get(id) ?? { at, ...change, sources: new Set() };
        same.sources.add(sourceText(source));
        found.set(id, same);
      };
      const [was, is] = routers.map((router) => entriesOf(router.rulesFor(source, host, port), source));
      const told = `${port} ${siteId(place, was!, is!)}`;
      const there = known.get(told);
      if (there !== undefined) {
        for (const each of there) add(each);
        continue;
      }
      const here: FoundChange[] = [];
      known.set(told, here);
      for (const each of changesAt(place, pairsOf(was!, is!, place, budget), routers, budget, before)) {
        here.push(each);
        add(each);
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

interface FoundChange {
  readonly change?: Change;
  readonly isCertain: boolean;
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
  pairs: Iterable<Pair>,
  [was, is]: readonly [Router, Router],
  budget: Budget,
  { settings }: World,
): Generator<FoundChange> {
  for (const { before, after, earlier, concerning } of pairs) {
    if (before.effect.id === after.effect.id) continue;
    const literals = [...before.literals, ...after.literals];
    const avoided = (request: Request): readonly Literal[] | undefined => earlier(request)?.literals;
    const witness = findRequest({ place, literals, avoided, isSingle: true }, budget);
    if (typeof witness === 'string') {
      if (witness === 'unknown') yield { isCertain: false };
      continue;
    }
    const { host } = place;
    const { request } = witness;
    const [then, now] = [was.decide(request), is.decide(request)];
    const outcome = changeText(then, now, host, settings);
    if (outcome === undefined) continue;
    const example = { request, before: decisionData(then), after: decisionData(now) };
    const isSame = (each: Request): boolean =>
      changeText(was.decide(each), is.decide(each), host, settings) === outcome;
    const exceptions = exceptionsText(exceptionsTo(place, literals, concerning(literals), isSame, budget));
    yield { change: { literals, exceptions, outcome, example }, isCertain: true };
  }
}

/** What those of some requests carry besides of which earlier entries make something else. */
function exceptionsTo(
  place: NamedPlace,
  literals: readonly Literal[],
  earlier: readonly Entry[],
  isSame: (request: Request) => boolean,
  budget: Budget,
): readonly (readonly Literal[])[] {
  const known = new Set(literals.map((each) => JSON.stringify(each)));
  return earlier.flatMap((entry) => {
    const besides = entry.literals.filter((each) => !known.has(JSON.stringify(each)));
    if (besides.length === 0) return [];
    const found = findRequest({ place, literals: [...literals, ...besides], isSingle: true }, budget);
    return typeof found === 'string' || isSame(found.request) ? [] : [besides];
  });
}
