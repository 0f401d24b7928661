// Prunes what an environment no longer wants: clones and rules that were made for it and that no decision is about. They
// go once the requests that were on their way have had time to end.
import type { ConsumerStatus, DynamicEnv, SubsetStatus } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import { describe, keyOf, objectOf, refOf, remove } from '../kube/index.ts';
import type { Ref, Step } from '../kube/index.ts';
import { routesOf } from './routes/edit.ts';
import type { ObservedRoutes } from './routes/observe.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import { keepsRoutes } from './decision.ts';
import type { Decision } from './decision.ts';
import type { EnvironmentFacts } from './facts.ts';
import type { Made } from './lookup.ts';
import { isRouteOfSubset } from '../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../traffic/istio/inserted-routes.ts';
import { isFallingAsleep } from './lifecycle/sleep.ts';
import { isUnwatched, leftBehind, leftBehindAdvised, namesUnwatched } from './left-behind.ts';
import { messages } from './messages.ts';
import { cloneName, ruleName } from './names.ts';
import { Deployment } from './objects.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { Settings } from './settings.ts';

/** The condition that says since when requests on their way to what leaves may still end. */
export const DRAINING = 'Draining';

export interface Pruning {
  readonly steps: readonly Step[];
  /** Status entries of subsets and consumers whose clone is still there, though no list names them any more. */
  readonly subsets: Readonly<Record<string, SubsetStatus>>;
  readonly consumers: Readonly<Record<string, ConsumerStatus>>;
  /** When the last route was taken out that led to something of this. */
  readonly drainingSince?: number;
  /** Until when removing waits. */
  readonly waitMs?: number;
  /** Whether nothing unwanted is left. */
  readonly gone: boolean;
  /** Whether no request is on its way any more to what leaves, or falls asleep. */
  readonly isDrained: boolean;
  /** What should be gone and can't be removed. */
  readonly refusals: readonly string[];
  /** That which is where nobody looks any more. It is among the refusals. */
  readonly leftBehind?: string;
}

/** The same, with that which is where nobody looks any more. */
export function withLeftBehind(pruning: Pruning, env: DynamicEnv, settings: Settings): Pruning {
  const left = leftBehind(env, settings);
  if (left === undefined) return pruning;
  return { ...pruning, refusals: [...pruning.refusals, leftBehindAdvised(left)], leftBehind: left };
}

/** Since when, as the status tells, requests on their way to what leaves may end. */
export function drainingSinceOf(env: DynamicEnv, now: number): number | undefined {
  const draining = conditionsOf(env).find(({ type }) => type === DRAINING);
  // A time that can't be, or not yet, counts as now.
  return draining && Math.min(Date.parse(draining.lastTransitionTime) || now, now);
}

/** Plans the removal of what is no longer needed, given how the routes are. */
export function prune(
  { env, owner, made, refusal }: EnvironmentFacts,
  decisions: readonly Decision[],
  { services, pending, refusals }: ObservedRoutes,
  now: number,
  settings: Settings,
): Pruning {
  const current = decisions.filter(({ action }) => action !== 'replace');
  const falling = decisions.filter(isFallingAsleep).map(({ live }) => live!);
  const currentClones = new Set(current.map(({ subset }) => `${subset.namespace}/${cloneName(env.metadata, subset)}`));
  const currentRules = new Set(decisions.flatMap(({ ruleStatuses }) => ruleStatuses.map(keyOf)));
  const keepRules = decisions.filter(
    (decision) => keepsRoutes(decision) || (decision.action === 'replace' && !decision.consumer),
  );
  const clones = made.clones.filter(({ metadata }) => !currentClones.has(keyOf(metadata)));
  const rules = made.rules.filter(
    ({ metadata }) =>
      !currentRules.has(keyOf(metadata)) &&
      !keepRules.some(
        ({ subset }) =>
          metadata.namespace === subset.namespace && metadata.name.startsWith(ruleName(env.metadata, subset, '')),
      ),
  );
  const leading = leadingRoutes(owner, services, settings);
  const entries = entriesOf(env, decisions, clones, leading, settings);
  if (clones.length + rules.length + falling.length === 0) {
    return { steps: [], ...entries, gone: true, isDrained: true, refusals };
  }
  // Nothing goes while requests are still sent there.
  if (pending.size > 0) return { steps: [], ...entries, gone: false, isDrained: false, refusals };
  const awake = current.filter((decision) => !decision.isAsleep);
  const drainingSince = drainStart(env, awake, { clones: [...clones, ...falling], rules }, leading, now, settings);
  // Times in a status are whole seconds.
  const waitMs = drainingSince === undefined ? 0 : drainingSince + 1_000 + settings.drainMs - now;
  const pruning = { ...entries, ...(drainingSince !== undefined && { drainingSince }), gone: false };
  if (waitMs > 0) return { steps: [], ...pruning, isDrained: false, waitMs, refusals };
  const removals = [
    ...rules.filter((rule) => !leading.toRule(rule)).map((rule) => remove(DestinationRule, rule)),
    ...clones.filter((clone) => !leading.toClone(clone.metadata)).map((clone) => remove(Deployment, clone)),
  ];
  const refusedBy = (step: Step): string | undefined => refusal(step.kind, objectOf(step).metadata);
  return {
    steps: removals.filter((step) => refusedBy(step) === undefined),
    ...pruning,
    isDrained: true,
    refusals: [
      ...refusals,
      ...removals.flatMap((step) => {
        const refused = refusedBy(step);
        return refused === undefined ? [] : [messages.notRemoved(describe(step), refused)];
      }),
    ],
  };
}

/** Tells to what there are still routes. */
interface LeadingRoutes {
  toRule(rule: DestinationRule): boolean;
  toClone(clone: Ref): boolean;
  /** Whether the VirtualService with this key leads to the workload with this one. */
  from(service: string, workload: string): boolean;
}

function leadingRoutes(
  owner: RouteOwner,
  services: ReadonlyMap<string, VirtualService>,
  { clusterDomain }: Settings,
): LeadingRoutes {
  const routes = [...services].flatMap(([key, service]) =>
    routesOf(owner, service).map((route) => ({ key, service, route })),
  );
  const hosts = new Set(
    routes.flatMap(({ service, route }) =>
      (route.route ?? []).map(({ destination }) => resolveHost(destination?.host ?? '', service, clusterDomain)),
    ),
  );
  return {
    toRule: (rule) => hosts.has(resolveHost(rule.spec?.host ?? '', rule, clusterDomain)),
    toClone: ({ name, namespace = '' }) => {
      const workload = { name: name.slice(0, -owner.version.length - 1), namespace };
      return routes.some(({ service, route }) => isRouteOfSubset(owner, workload, service, route));
    },
    from: (from, workload) =>
      routes.some(({ key, service, route }) => key === from && isRouteOfSubset(owner, refOf(workload), service, route)),
  };
}

/** Since when nobody is sent any more to what leaves; undefined if nobody ever was. */
function drainStart(
  env: DynamicEnv,
  decisions: readonly Decision[],
  { clones, rules }: Made,
  leading: LeadingRoutes,
  time: number,
  settings: Settings,
): number | undefined {
  const now = Math.floor(time / 1_000) * 1_000;
  const entries = Object.entries(env.status?.subsetsStatus ?? {});
  const isKept = (key: string): boolean => decisions.some((each) => !each.consumer && each.key === key);
  const running = ({ virtualServices = [] }: SubsetStatus): readonly string[] =>
    virtualServices.filter((each) => each.status === 'running' && !isUnwatched(each, settings)).map(keyOf);
  // Routes that the status still tells of were taken out since it was written.
  const isLeft = entries.some(
    ([key, entry]) => !isKept(key) && running(entry).some((service) => !leading.from(service, key)),
  );
  if (isLeft) return now;
  const known = drainingSinceOf(env, now);
  if (known !== undefined) return known;
  // Of what no status tells, and by which of its rules a subset that stays was reached, nothing is known.
  const told = new Set(
    [
      ...entries.flatMap(([, { deployment, destinationRules = [] }]) => [deployment, ...destinationRules]),
      ...Object.values(env.status?.consumersStatus ?? {}),
    ].map(keyOf),
  );
  const isUntold = [...clones, ...rules].some(({ metadata }) => !told.has(keyOf(metadata)));
  const isInUse = rules.length > 0 && entries.some(([key, entry]) => isKept(key) && running(entry).length > 0);
  return isUntold || isInUse ? now : undefined;
}

/** Status entries that are in no list of the spec any more, as long as their clone is there or can't be seen. */
function entriesOf(
  env: DynamicEnv,
  decisions: readonly Decision[],
  clones: readonly Deployment[],
  leading: LeadingRoutes,
  settings: Settings,
): Pick<Pruning, 'subsets' | 'consumers'> {
  const isThere = (ref: Ref): boolean => clones.some((clone) => keyOf(clone.metadata) === keyOf(ref));
  const inSpec = (key: string, consumer: boolean): boolean =>
    decisions.some((each) => each.consumer === consumer && each.key === key);
  const subsets: Record<string, SubsetStatus> = {};
  for (const [key, { virtualServices = [], ...entry }] of Object.entries(env.status?.subsetsStatus ?? {})) {
    const isGone = !isThere(entry.deployment) && !isUnwatched(entry.deployment, settings);
    if (inSpec(key, false) || (isGone && !namesUnwatched({ ...entry, virtualServices }, settings))) continue;
    const leads = virtualServices.filter(
      (service) => isUnwatched(service, settings) || leading.from(keyOf(service), key),
    );
    const { destinationRules: _rules, ...withoutRules } = entry;
    subsets[key] = {
      ...(isGone ? withoutRules : entry),
      ...(leads.length > 0 && { virtualServices: leads }),
      deployment: { ...entry.deployment, status: isGone ? 'missing' : 'removing' },
    };
  }
  const consumers: Record<string, ConsumerStatus> = {};
  for (const [key, entry] of Object.entries(env.status?.consumersStatus ?? {})) {
    if (inSpec(key, true) || (!isThere(entry) && !isUnwatched(entry, settings))) continue;
    consumers[key] = { ...entry, status: 'removing' };
  }
  return { subsets, consumers };
}
