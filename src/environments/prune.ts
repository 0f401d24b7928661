// Prunes clones and rules that were made for an environment and are no longer needed. They are removed once in-flight
// requests have drained.
import type { ConsumerStatus, DynamicEnv, SubsetStatus } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import { describe, keyOf, objectOf, refOf, remove } from '../kube/index.ts';
import type { AnyKind, KubeObject, Ref, Step } from '../kube/index.ts';
import { routesOf } from './routes/edit.ts';
import type { ObservedRoutes } from './routes/observe.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import { keepsRoutes } from './decision.ts';
import type { Decision } from './decision.ts';
import type { EnvironmentFacts } from './facts.ts';
import type { Made } from './lookup/lookup.ts';
import { isRouteOfSubset } from '../traffic/istio/inserted-routes.ts';
import type { RouteOwner } from '../traffic/istio/inserted-routes.ts';
import { isFallingAsleep } from './lifecycle/sleep.ts';
import { isUnwatched, leftBehind, leftBehindAdvised, namesUnwatched } from './status/unwatched-namespaces.ts';
import { messages } from './status/messages.ts';
import { cloneName, ruleName } from './names.ts';
import { Deployment } from './objects.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { Settings } from './settings.ts';

/** The condition that records since when requests are drained. */
export const DRAINING = 'Draining';

export interface Pruning {
  readonly steps: readonly Step[];
  /** Status entries of subsets and consumers that are no longer in the spec, and whose clone still exists. */
  readonly subsets: Readonly<Record<string, SubsetStatus>>;
  readonly consumers: Readonly<Record<string, ConsumerStatus>>;
  /** When the last route to the pruned objects was removed. */
  readonly drainingSince?: number;
  /** How long the removal still waits. */
  readonly waitMs?: number;
  /** Whether nothing is left to remove. */
  readonly gone: boolean;
  /** Whether no request is in flight any more to what is removed or falls asleep. */
  readonly isDrained: boolean;
  /** Why objects can't be removed. */
  readonly refusals: readonly string[];
  /** Objects that are being deleted and wait for finalizers of others. */
  readonly held?: readonly string[];
  /** Objects in namespaces that are no longer watched; also among the refusals. */
  readonly leftBehind?: string;
}

/** Adds the objects in namespaces that are no longer watched. */
export function withLeftBehind(pruning: Pruning, env: DynamicEnv, settings: Settings): Pruning {
  const left = leftBehind(env, settings);
  if (left === undefined) return pruning;
  return { ...pruning, refusals: [...pruning.refusals, leftBehindAdvised(left)], leftBehind: left };
}

/** Since when requests are drained, according to the status. */
export function drainingSinceOf(env: DynamicEnv, now: number): number | undefined {
  const draining = conditionsOf(env).find(({ type }) => type === DRAINING);
  // An invalid or future time counts as now.
  return draining && Math.min(Date.parse(draining.lastTransitionTime) || now, now);
}

/** Plans the removal of what is no longer needed, given the current routes. */
export function prune(
  { env, owner, made, refusal }: EnvironmentFacts,
  decisions: readonly Decision[],
  { services, pending, refusals }: ObservedRoutes,
  now: number,
  settings: Settings,
): Pruning {
  const current = decisions.filter(({ action }) => action !== 'replace');
  const fallingAsleep = decisions.filter(isFallingAsleep).map(({ live }) => live!);
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
  if (clones.length + rules.length + fallingAsleep.length === 0) {
    return { steps: [], ...entries, gone: true, isDrained: true, refusals };
  }
  // Nothing is removed while requests are still routed there.
  if (pending.size > 0) return { steps: [], ...entries, gone: false, isDrained: false, refusals };
  const awake = current.filter((decision) => !decision.isAsleep);
  const drainingSince = drainStart(
    env,
    awake,
    { clones: [...clones, ...fallingAsleep], rules },
    leading,
    now,
    settings,
  );
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
    held: [...heldIn(DestinationRule, rules), ...heldIn(Deployment, clones)],
    refusals: [
      ...refusals,
      ...removals.flatMap((step) => {
        const refused = refusedBy(step);
        return refused === undefined ? [] : [messages.notRemoved(describe(step), refused)];
      }),
    ],
  };
}

/** Finalizers of the garbage collector, which removes them by itself. */
const COLLECTED = new Set(['foregroundDeletion', 'orphan']);

/** The objects that are kept by finalizers although they are being deleted: ours have none. */
function heldIn({ kind }: AnyKind, objects: readonly KubeObject[]): readonly string[] {
  return objects.flatMap(({ metadata }) => {
    const finalizers = (metadata.finalizers ?? []).filter((each) => !COLLECTED.has(each));
    const isHeld = metadata.deletionTimestamp !== undefined && finalizers.length > 0;
    return isHeld ? [messages.held(`${kind} ${keyOf(metadata)}`, finalizers)] : [];
  });
}

/** Checks which objects routes still lead to. */
interface LeadingRoutes {
  toRule(rule: DestinationRule): boolean;
  toClone(clone: Ref): boolean;
  /** Whether the VirtualService with this key leads to the workload with this key. */
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

/** Since when no request is routed to the pruned objects; undefined if none ever was. */
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
  // Routes that are still in the status were removed since it was written.
  const isRemovedSince = entries.some(
    ([key, entry]) => !isKept(key) && running(entry).some((service) => !leading.from(service, key)),
  );
  if (isRemovedSince) return now;
  const known = drainingSinceOf(env, now);
  if (known !== undefined) return known;
  // It is not known whether objects that are not in the status, or rules of a kept subset, were reached.
  const reported = new Set(
    [
      ...entries.flatMap(([, { deployment, destinationRules = [] }]) => [deployment, ...destinationRules]),
      ...Object.values(env.status?.consumersStatus ?? {}),
    ].map(keyOf),
  );
  const isUnreported = [...clones, ...rules].some(({ metadata }) => !reported.has(keyOf(metadata)));
  const isInUse = rules.length > 0 && entries.some(([key, entry]) => isKept(key) && running(entry).length > 0);
  return isUnreported || isInUse ? now : undefined;
}

/** Status entries that are no longer in the spec, as long as their clone exists or can't be seen. */
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
