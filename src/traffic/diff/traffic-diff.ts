// Which requests are routed differently in two worlds, as sentences for `offshoot plan`. It compares only hosts, ports
// and callers that the changes can affect, and of their rules only those that exist in one of the two worlds.
import { decisionData } from '../describe/decision-data.ts';
import type { DecisionData } from '../describe/decision-data.ts';
import { changeText, exceptionsText, requestsText, scopeText } from './texts.ts';
import { pairsOf } from './pairs.ts';
import type { Pair } from './pairs.ts';
import { entriesOf, siteId } from '../prove/entries.ts';
import type { Entry } from '../prove/entries.ts';
import type { Literal } from '../prove/literals.ts';
import type { ProvenEnvironment } from '../prove/effects.ts';
import { OTHER_NAMESPACE, scopesOf } from '../prove/scopes.ts';
import type { HostScope } from '../prove/scopes.ts';
import { Budget, findRequest, TooComplex } from '../prove/witness.ts';
import { isGatewaySource } from '../request.ts';
import type { Request, Source } from '../request.ts';
import { createRouter } from '../router.ts';
import type { Router } from '../router.ts';
import type { World } from '../world.ts';

/** The changes between two worlds that can affect requests. */
export interface WorldChanges extends Pick<ProvenEnvironment, 'virtualServices'> {
  /** The full names of the Services whose rules or pods differ. */
  readonly hosts: readonly string[];
}

/** A set of requests that are routed differently. */
export interface TrafficChange {
  /** In a sentence. */
  readonly text: string;
  /** One of these requests, with the decisions about it. */
  readonly example: { readonly request: Request; readonly before: DecisionData; readonly after: DecisionData };
}

export interface TrafficDiff {
  readonly changes: readonly TrafficChange[];
  /** Whether there may be more changes: the step limit was reached, or a condition could not be decided. */
  readonly isPartial: boolean;
}

/** The step limit; what is not compared by then is left out. */
const MAX_STEPS = 50_000;

/** Compares the routing in two worlds. */
export function trafficDiff(before: World, after: World, changes: WorldChanges, steps = MAX_STEPS): TrafficDiff {
  const budget = new Budget(steps);
  const routers = [createRouter(before), createRouter(after)] as const;
  const found = new Map<string, Found>();
  /** The callers that were compared, by host and port. */
  const callers = new Map<string, Set<string>>();
  /** Cached changes by the rules of a caller: most callers have the same rules. */
  const known = new Map<string, FoundChange[]>();
  let isPartial = false;
  try {
    for (const scope of scopesOf(before, after, { ...changes, workloads: [] }, budget)) {
      const { source, host, port } = scope;
      const at = scopeText(scope, before.settings);
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
      const site = `${port} ${siteId(scope, was!, is!)}`;
      const there = known.get(site);
      if (there !== undefined) {
        for (const each of there) add(each);
        continue;
      }
      const here: FoundChange[] = [];
      known.set(site, here);
      for (const each of changesAt(scope, pairsOf(was!, is!, scope, budget), routers, budget, before)) {
        here.push(each);
        add(each);
      }
    }
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    isPartial = true;
  }
  const shown = [...found.values()].map(({ at, literals, exceptions, outcome, example, sources }) => {
    const isForAll = sources.size === callers.get(at)!.size;
    const requests = requestsText(literals, isForAll ? [] : [...sources]);
    return { text: `Requests to ${at}${requests}${exceptions} ${outcome}.`, example };
  });
  return { changes: shown, isPartial };
}

interface Change {
  /** The conditions on the requests. */
  readonly literals: readonly Literal[];
  /** The requests among them that earlier rules send elsewhere, in words. */
  readonly exceptions: string;
  /** Where the requests go, and where they went before. */
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

/** A caller in words. */
function sourceText(source: Source): string {
  if (isGatewaySource(source)) return source.gateway;
  const labels = Object.entries(source.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const namespace = source.namespace.startsWith(OTHER_NAMESPACE) ? 'others' : source.namespace;
  return labels.length === 0 ? namespace : `${namespace} (with ${labels.join(', ')})`;
}

function* changesAt(
  scope: HostScope,
  pairs: Iterable<Pair>,
  [was, is]: readonly [Router, Router],
  budget: Budget,
  { settings }: World,
): Generator<FoundChange> {
  for (const { before, after, earlier, concerning } of pairs) {
    if (before.effect.id === after.effect.id) continue;
    const literals = [...before.literals, ...after.literals];
    const avoided = (request: Request): readonly Literal[] | undefined => earlier(request)?.literals;
    const witness = findRequest({ scope, literals, avoided, isSingle: true }, budget);
    if (typeof witness === 'string') {
      if (witness === 'unknown') yield { isCertain: false };
      continue;
    }
    const { host } = scope;
    const { request } = witness;
    const [then, now] = [was.decide(request), is.decide(request)];
    const outcome = changeText(then, now, host, settings);
    if (outcome === undefined) continue;
    const example = { request, before: decisionData(then), after: decisionData(now) };
    const isSame = (each: Request): boolean =>
      changeText(was.decide(each), is.decide(each), host, settings) === outcome;
    const exceptions = exceptionsText(exceptionsTo(scope, literals, concerning(literals), isSame, budget));
    yield { change: { literals, exceptions, outcome, example }, isCertain: true };
  }
}

/** The additional conditions of those requests that earlier entries decide differently. */
function exceptionsTo(
  scope: HostScope,
  literals: readonly Literal[],
  earlier: readonly Entry[],
  isSame: (request: Request) => boolean,
  budget: Budget,
): readonly (readonly Literal[])[] {
  const known = new Set(literals.map((each) => JSON.stringify(each)));
  return earlier.flatMap((entry) => {
    const besides = entry.literals.filter((each) => !known.has(JSON.stringify(each)));
    if (besides.length === 0) return [];
    const found = findRequest({ scope, literals: [...literals, ...besides], isSingle: true }, budget);
    return typeof found === 'string' || isSame(found.request) ? [] : [besides];
  });
}
