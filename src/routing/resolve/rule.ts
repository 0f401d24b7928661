// Stage two, one rule: its matchers, its destinations, and its hosts. All problems are collected with the order in
// which SuperGloo checks, so that back ends can add theirs and the first one still decides.
import { problems } from '../errors.ts';
import type { Problem } from '../errors.ts';
import type { Action, Match, Mode, Ref, Rule, Selector, Target, WeightedDestination } from '../model.ts';
import { byText } from '../names.ts';
import { finder } from './find.ts';
import { hostAndPort, selectUpstreams } from './upstreams.ts';
import type { Workloads } from './workloads.ts';

/** The checks of a rule, in order. */
export const STEP = { matchers: 0, action: 1, limits: 2, destination: 3, source: 4 } as const;

export interface RuleProblem extends Problem {
  readonly step: number;
  /** The index of the matcher or destination. */
  readonly index: number;
}

/** A rule in a mesh. */
export interface RulePlan {
  readonly rule: Ref;
  readonly source: Selector | undefined;
  readonly action: Action['kind'] | undefined;
  /** The valid matchers, with their index in the rule. */
  readonly matches: readonly { readonly index: number; readonly match: Match }[];
  readonly split: readonly Target[];
  /** The indexes of destinations that are a subset of the pods. */
  readonly subsets: readonly number[];
  readonly hosts: readonly string[];
  /** Whether a destination has pods whose virtual node could not be resolved. */
  readonly isUnresolved: boolean;
  readonly problems: readonly RuleProblem[];
  readonly warnings: readonly Problem[];
}

export function resolveRule(rule: Rule, workloads: Workloads, mode: Mode): RulePlan {
  const found: RuleProblem[] = [];
  const warnings: Problem[] = [];
  const matches = resolveMatchers(rule, mode, found);
  const split = resolveSplit(rule, workloads, mode, found);
  const hosts = resolveHosts(rule, workloads, mode, found, warnings);
  const destinations = rule.action?.kind === 'trafficShifting' ? rule.action.destinations : [];
  if (mode === 'strict') {
    destinations.forEach(({ to }, index) => {
      if (to?.hasSpec) warnings.push(problems.destinationIgnored(rule.ref, index));
    });
  }
  return {
    rule: rule.ref,
    source: rule.source,
    action: rule.action?.kind,
    matches,
    split,
    subsets: destinations.flatMap(({ to }, index) => (to?.subset === undefined ? [] : [index])),
    hosts,
    isUnresolved: destinations.some(({ to }) => leadsToUnresolved(to?.upstream, workloads)),
    problems: found,
    warnings,
  };
}

function leadsToUnresolved(upstream: Ref | undefined, { find, unresolvedUpstreams }: Workloads): boolean {
  if (upstream === undefined || unresolvedUpstreams.length === 0) return false;
  return find(upstream) === undefined && finder(unresolvedUpstreams)(upstream) !== undefined;
}

/** The problem that SuperGloo would have reported. */
export function firstProblem(found: readonly RuleProblem[]): Problem | undefined {
  const first = found.toSorted((a, b) => a.step - b.step || a.index - b.index)[0];
  return first && { code: first.code, message: first.message };
}

function resolveMatchers({ ref, matchers }: Rule, mode: Mode, found: RuleProblem[]): RulePlan['matches'] {
  const step = STEP.matchers;
  if (matchers.length === 0) found.push({ ...problems.noMatchers(ref), step, index: 0 });
  return matchers.flatMap(({ path, ...conditions }, index) => {
    if (path === undefined || (mode === 'strict' && path.value === '')) {
      found.push({ ...problems.pathMissing(ref, index), step, index });
      return [];
    }
    return [{ index, match: { path, ...conditions } }];
  });
}

function resolveSplit(
  { ref, action }: Rule,
  workloads: Workloads,
  mode: Mode,
  found: RuleProblem[],
): readonly Target[] {
  if (action?.kind !== 'trafficShifting') return [];
  const step = STEP.action;
  const { destinations } = action;
  if (destinations.length === 0) found.push({ ...problems.noDestinations(ref), step, index: 0 });
  const split = destinations.flatMap((destination, index): Target[] => {
    const target = resolveTarget(ref, destination, index, workloads, mode);
    if (!('code' in target)) return [target];
    found.push({ ...target, step, index });
    return [];
  });
  if (destinations.length > 0 && totalOf(destinations, mode) === 0) {
    // SuperGloo divides by the sum at the first destination.
    found.push({ ...problems.zeroWeight(ref), step, index: 0 });
  }
  const ports = [...new Set(split.map(({ port }) => port))].sort((a, b) => a - b);
  if (ports.length > 1) found.push({ ...problems.multiplePorts(ref, ports), step, index: destinations.length });
  return split;
}

/** SuperGloo computes with 32 bits. */
function totalOf(destinations: readonly WeightedDestination[], mode: Mode): number {
  const total = destinations.reduce((sum, { weight }) => sum + weight, 0);
  return mode === 'compat' ? total % 2 ** 32 : total;
}

function resolveTarget(
  rule: Ref,
  { to, weight }: WeightedDestination,
  index: number,
  { find, byHost }: Workloads,
  mode: Mode,
): Target | Problem {
  if (to === undefined) return problems.destinationNil(rule, index);
  if (to.upstream === undefined) return problems.destinationKind(rule, index);
  const upstream = find(to.upstream);
  if (upstream === undefined) return problems.upstreamNotFound(rule, to.upstream);
  const found = hostAndPort(upstream, mode);
  if ('problem' in found) return found.problem;
  const workload = byHost.get(found.host);
  if (workload === undefined) return problems.noVirtualNode(rule, found.host);
  return { workload: workload.id, ...found, weight };
}

function resolveHosts(
  { ref, destination }: Rule,
  { upstreams, find, hostOf }: Workloads,
  mode: Mode,
  found: RuleProblem[],
  warnings: Problem[],
): readonly string[] {
  const selected = selectUpstreams(destination, upstreams, find);
  if ('missing' in selected) {
    found.push({ ...problems.selectorNoMatch(ref, selected.missing), step: STEP.destination, index: 0 });
    return [];
  }
  if (selected.upstreams.length === 0 && mode === 'strict') warnings.push(problems.selectorEmpty(ref));
  const hosts = selected.upstreams.flatMap((upstream) => hostOf.get(upstream) ?? []);
  return [...new Set(hosts)].sort(byText);
}
