// Proves that an environment affects no other requests: every request without its key is routed the same with and
// without it, and a request with the key differs only in the version. The proof looks only at rules that exist in one
// of the two worlds, each together with the rules that decide its requests in the other world.
import { jsonEqual } from '../../watchable/index.ts';
import { conditionsOf } from '../compile/conditions.ts';
import { hasLabels } from '../compile/visibility.ts';
import { keyOf } from '../../kube/index.ts';
import type { Decision } from '../decide.ts';
import { ruleText } from '../describe/decision-text.ts';
import { combine } from '../istio/matches.ts';
import { missingCondition, refusedHeaders } from '../istio/unusable.ts';
import { isGatewaySource } from '../request.ts';
import type { Request } from '../request.ts';
import { createRouter } from '../router.ts';
import type { Router } from '../router.ts';
import type { CompiledHost, Destination, Rule } from '../rules.ts';
import type { World } from '../world.ts';
import { changeOf, decidedChange, isBase } from './effects.ts';
import type { Effect, ProvenEnvironment } from './effects.ts';
import { compareEntries, entriesOf, siteId } from './entries.ts';
import type { Entry } from './entries.ts';
import { fulfils, literalsOf } from './literals.ts';
import type { Literal } from './literals.ts';
import { notesOn, selectionNotes } from './notes.ts';
import { scopesOf } from './scopes.ts';
import type { HostScope } from './scopes.ts';
import { avoiding, Budget, findRequest, TooComplex } from './witness.ts';

/** The catalogue of reasons of environments explains each of them. */
type ProofReason =
  | 'Isolated'
  | 'OtherRequestsMoved'
  | 'OwnRequestsDiffer'
  | 'CloneNotReached'
  | 'Undecided'
  | 'RefusedByProxy'
  | 'TooComplex';

export interface Proof {
  readonly verdict: 'True' | 'False' | 'Unknown';
  readonly reason: ProofReason;
  readonly message: string;
  /** A request that violates isolation, and the decisions about it without and with the environment. */
  readonly counterexample?: Counterexample;
  /** Effects that people should know about, but that are no violation. */
  readonly notes: readonly string[];
}

export interface Counterexample {
  readonly request: Request;
  readonly before: Decision;
  readonly after: Decision;
}

/** The step limit of a proof. */
const MAX_STEPS = 50_000;

/** Compares the world without an environment and the world with it. */
export function prove(
  before: World,
  after: World,
  environment: ProvenEnvironment,
  { steps = MAX_STEPS }: { readonly steps?: number } = {},
): Proof {
  const prover = new Prover(before, after, environment, new Budget(steps));
  try {
    return prover.prove();
  } catch (error) {
    if (!(error instanceof TooComplex)) throw error;
    const message = `gave up after ${steps} steps: too many rules overlap`;
    return { verdict: 'Unknown', reason: 'TooComplex', message, notes: [...prover.notes] };
  }
}

/** Two entries, one from each world, that can decide the same request. */
interface Pair {
  readonly before: Entry;
  readonly after: Entry;
}

/** A scope with its entries in both worlds, and the keys of the environment there. */
interface Site {
  readonly scope: HostScope;
  readonly before: readonly Entry[];
  readonly after: readonly Entry[];
  readonly keys: readonly (readonly Literal[])[];
}

type Failure = Pick<Proof, 'reason' | 'message'> & { readonly counterexample?: Counterexample };

class Prover {
  readonly notes = new Set<string>();
  private readonly routers: { readonly before: Router; readonly after: Router };
  private readonly seen = new Set<string>();
  private doubt: Failure | undefined;
  private readonly worlds: readonly [World, World];
  private readonly environment: ProvenEnvironment;
  private readonly budget: Budget;

  constructor(before: World, after: World, environment: ProvenEnvironment, budget: Budget) {
    this.worlds = [before, after];
    this.environment = environment;
    this.budget = budget;
    this.routers = { before: createRouter(before), after: createRouter(after) };
  }

  prove(): Proof {
    // The proof does not cover callers that bypass the mesh, so they get a note.
    const outside = selectionNotes(...this.worlds, this.environment);
    for (const note of outside) this.notes.add(note);
    for (const scope of scopesOf(...this.worlds, this.environment, this.budget)) {
      const failure = this.failureAt(scope);
      if (failure !== undefined) return { verdict: 'False', ...failure, notes: [...this.notes] };
    }
    if (this.doubt !== undefined) return { verdict: 'Unknown', ...this.doubt, notes: [...this.notes] };
    const where = outside.length > 0 ? ' in the mesh' : '';
    const message = `every request${where} without its key is routed as if it did not exist`;
    return { verdict: 'True', reason: 'Isolated', message, notes: [...this.notes] };
  }

  private failureAt(scope: HostScope): Failure | undefined {
    const { source, host, port } = scope;
    const [was, is] = [this.routers.before, this.routers.after].map((router) => router.rulesFor(source, host, port));
    this.lookForRefused(was!, is!);
    const [before, after] = [entriesOf(was!, source), entriesOf(is!, source)];
    if (before.length === after.length && before.every(({ key }, i) => key === after[i]!.key)) return undefined;
    const id = siteId(scope, before, after);
    if (this.seen.has(id)) return undefined;
    this.seen.add(id);
    const site: Site = { scope, before, after, keys: this.keysAt(scope) };
    const comparison = compareEntries(before, after);
    return (
      this.walk(site, 'after', comparison.after, comparison.before) ??
      this.walk(site, 'before', comparison.before, comparison.after) ??
      this.shadowed(site, comparison.after)
    );
  }

  /** The literals that a request with the key fulfils, for each match of the environment. */
  private keysAt({ source }: HostScope): readonly (readonly Literal[])[] {
    const matches = this.environment.matches.filter(
      (each) => missingCondition(each) === undefined && refusedHeaders(each).length === 0,
    );
    return matches.flatMap((each) => {
      const combined = combine({}, each);
      if ('contradiction' in combined) return [];
      const { source: callers, ...match } = conditionsOf(combined.match);
      if (!isGatewaySource(source)) return [literalsOf({ ...match, ...(callers && { source: callers }) })];
      // The labels of a gateway are known.
      const gateway = this.worlds[1].gateways().find(({ metadata }) => keyOf(metadata) === source.gateway);
      const labels = source.labels ?? gateway?.spec?.selector ?? {};
      return hasLabels(labels, callers?.labels ?? {}) ? [literalsOf(match)] : [];
    });
  }

  /** Checks every entry that exists only in one world against the entries that decide its requests in the other. */
  private walk(
    site: Site,
    world: 'before' | 'after',
    own: readonly (number | undefined)[],
    others: readonly (number | undefined)[],
  ): Failure | undefined {
    const other = world === 'after' ? 'before' : 'after';
    let shared = 0;
    for (const [at, number] of own.entries()) {
      if (number !== undefined) {
        shared = number + 1;
        continue;
      }
      const entry = site[world][at]!;
      for (const [index, candidate] of site[other].entries()) {
        // Skips shared entries before this one: the request does not fulfil them.
        const sharedAs = others[index];
        if (sharedAs !== undefined && sharedAs < shared) continue;
        const literals = [...entry.literals, ...candidate.literals];
        const common = findRequest({ scope: site.scope, literals }, this.budget);
        if (common === 'none') continue;
        const pair: Pair =
          world === 'after' ? { before: candidate, after: entry } : { before: entry, after: candidate };
        const earlier = [...site[world].slice(0, at), ...site[other].slice(0, index)];
        const failure = this.failureOf(site, pair, earlier);
        if (failure !== undefined) return failure;
        if (this.covers(site, candidate, entry)) break;
      }
    }
    return undefined;
  }

  /** Whether every request of an entry also fulfils the wider one. */
  private covers({ scope }: Site, wide: Entry, { literals }: Entry): boolean {
    return findRequest({ scope, literals, avoided: avoiding([wide.literals]) }, this.budget) === 'none';
  }

  /** Finds a request that a pair of entries decides in a way that violates isolation. */
  private failureOf(site: Site, { before, after }: Pair, earlier: readonly Entry[]): Failure | undefined {
    const change = changeOf(before.effect, after.effect, this.environment);
    if (change === 'same') return undefined;
    const literals = [...before.literals, ...after.literals];
    const prior = earlier.map((each) => each.literals);
    const isAllowed = change === 'version';
    const avoided = avoiding(isAllowed ? [...site.keys, ...prior] : prior);
    const found = findRequest({ scope: site.scope, literals, avoided }, this.budget);
    if (isAllowed) this.note(site, { before, after }, prior);
    if (found === 'none') return undefined;
    const failure = found === 'unknown' ? undefined : this.confirm(site, found.request);
    if (failure === undefined) this.doubtAbout(before.effect, after.effect);
    return failure;
  }

  /** Adds the notes on a pair, if it decides any request: earlier rules may take all of them. */
  private note({ scope }: Site, { before, after }: Pair, prior: readonly (readonly Literal[])[]): void {
    const notes = notesOn(before.effect.rule!, after.effect.rule!, this.environment);
    if (notes.every((each) => this.notes.has(each))) return;
    const literals = [...before.literals, ...after.literals];
    if (findRequest({ scope, literals, avoided: avoiding(prior) }, this.budget) === 'none') return;
    for (const note of notes) this.notes.add(note);
  }

  /** Confirms a violation by deciding the request in both worlds. */
  private confirm({ keys }: Site, request: Request): Failure | undefined {
    const [before, after] = [this.routers.before.decide(request), this.routers.after.decide(request)];
    const change = decidedChange(before, after, this.environment);
    const isCarrier = keys.some((each) => fulfils(request, each));
    if (change === 'same' || (change === 'version' && isCarrier)) return undefined;
    const counterexample = { request, before, after };
    return isCarrier
      ? {
          reason: 'OwnRequestsDiffer',
          message: 'a request with its key gets a different result than the same request from its version',
          counterexample,
        }
      : {
          reason: 'OtherRequestsMoved',
          message: 'a request without its key is routed differently',
          counterexample,
        };
  }

  /** Finds a route of the environment after a route that sends its requests to the base. */
  private shadowed(site: Site, numbers: readonly (number | undefined)[]): Failure | undefined {
    for (const [at, entry] of site.after.entries()) {
      if (numbers[at] !== undefined || !leadsTo(entry, ({ subset }) => subset === this.environment.version)) continue;
      for (const [index, base] of site.after.slice(0, at).entries()) {
        if (!leadsTo(base, (each) => isBase(each, this.environment))) continue;
        const literals = [...entry.literals, ...base.literals];
        const avoided = avoiding(site.after.slice(0, index).map((each) => each.literals));
        const found = findRequest({ scope: site.scope, literals, avoided, isSingle: true }, this.budget);
        if (found === 'none') continue;
        if (found === 'unknown') this.doubtAbout(base.effect, entry.effect);
        else {
          const failure = this.confirmShadow(site, found.request);
          if (failure !== undefined) return failure;
        }
      }
    }
    return undefined;
  }

  private confirmShadow({ keys }: Site, request: Request): Failure | undefined {
    const [before, after] = [this.routers.before.decide(request), this.routers.after.decide(request)];
    const isStill = decidedChange(before, after, this.environment) === 'same' && before.kind === 'route';
    if (!isStill || !before.destinations.some((each) => isBase(each, this.environment))) return undefined;
    if (!keys.some((each) => fulfils(request, each))) return undefined;
    return {
      reason: 'CloneNotReached',
      message: `a request with its key still reaches the base, as ${nameOf(after.rule)} comes before the route for it`,
      counterexample: { request, before, after },
    };
  }

  private doubtAbout(before: Effect, after: Effect): void {
    this.doubt ??= {
      reason: 'Undecided',
      message: `it can't be determined whether requests of ${nameOf(before.rule)} are now taken by ${nameOf(after.rule)}`,
    };
  }

  /** A rule that Envoy refuses stops every update of its port, so nothing can be proved. */
  private lookForRefused(before: CompiledHost, after: CompiledHost): void {
    if (this.doubt !== undefined) return;
    const refused = (host: CompiledHost): readonly Rule[] =>
      host.tiers.flatMap(({ rules }) =>
        rules.filter((rule) => rule.refused !== undefined && rule.excluded === undefined),
      );
    const known = refused(before);
    const added = refused(after).find((rule) => !known.some((each) => jsonEqual(each.match, rule.match)));
    if (added === undefined) return;
    this.doubt = {
      reason: 'RefusedByProxy',
      message: `proxies refuse ${nameOf(added)} (${added.refused}), and with it every update of its port`,
    };
  }
}

function leadsTo({ effect: { rule } }: Entry, isMatch: (each: Destination) => boolean): boolean {
  return rule?.action.kind === 'route' && rule.action.destinations.some(isMatch);
}

function nameOf(rule: Rule | undefined): string {
  return rule === undefined ? 'no rule' : ruleText(rule);
}
