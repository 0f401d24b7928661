// What an environment no longer wants: clones and rules that carry its mark and are in no item. They go once the
// requests that were on their way have had time to end.
import type { ConsumerStatus, DynamicEnv, SubsetStatus } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import type { View } from '../controller/index.ts';
import { describe, keyOf, objectOf, remove } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import type { Edits } from './edits.ts';
import { resolveHost } from '../traffic/istio/hosts.ts';
import type { Item } from './decision.ts';
import { isRouteOf, isRouteOfSubset } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { messages } from './messages.ts';
import { cloneName, ruleName } from './names.ts';
import { Deployment } from './objects.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { Settings } from './settings.ts';
import { findMade } from './lookup.ts';

/** The condition that says since when requests on their way to what leaves may still end. */
export const DRAINING = 'Draining';

export interface Leaving {
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
  /** What should be gone and can't be removed. */
  readonly refusals: readonly string[];
}

/** Plans the removal of what is no longer wanted, given what becomes of the routes in this pass. */
export function leave(
  view: View,
  env: DynamicEnv,
  owner: Owner,
  items: readonly Item[],
  edits: Pick<Edits, 'routesLeave' | 'services' | 'refusals'>,
  settings: Settings,
): Leaving {
  const current = items.filter(({ outdated }) => !outdated);
  const wanted = new Set(current.map(({ subset }) => `${subset.namespace}/${cloneName(env.metadata, subset)}`));
  const wantedRules = new Set(items.flatMap(({ rules }) => rules.map(keyOf)));
  const keepRules = items.filter(({ consumer, routes, outdated }) => !consumer && (routes === 'untouched' || outdated));
  const made = findMade(view, env, owner);
  const clones = made.clones.filter(({ metadata }) => !wanted.has(keyOf(metadata)));
  const rules = made.rules.filter(
    ({ metadata }) =>
      !wantedRules.has(keyOf(metadata)) &&
      !keepRules.some(
        ({ subset }) =>
          metadata.namespace === subset.namespace && metadata.name.startsWith(ruleName(env.metadata, subset, '')),
      ),
  );
  const entries = entriesOf(env, items, clones);
  if (clones.length + rules.length === 0) return { steps: [], ...entries, gone: true, refusals: edits.refusals };
  const drainingSince = drainStart(view, env, current, edits.routesLeave);
  // Times in a status are whole seconds.
  const waitMs = drainingSince === undefined ? 0 : drainingSince + 1_000 + settings.drainMs - view.now();
  const leaving = { ...entries, ...(drainingSince !== undefined && { drainingSince }), gone: false };
  if (waitMs > 0) return { steps: [], ...leaving, waitMs, refusals: edits.refusals };
  const leading = routesOf(owner, edits.services, settings);
  const removals = [
    ...rules.filter((rule) => !leading.toRule(rule)).map((rule) => remove(DestinationRule, rule)),
    ...clones.filter((clone) => !leading.toClone(clone)).map((clone) => remove(Deployment, clone)),
  ];
  const refusalOf = (step: Step): string | undefined => view.refusal(step.kind, objectOf(step).metadata);
  return {
    steps: removals.filter((step) => refusalOf(step) === undefined),
    ...leaving,
    refusals: [
      ...edits.refusals,
      ...removals.flatMap((step) => {
        const refusal = refusalOf(step);
        return refusal === undefined ? [] : [messages.notRemoved(describe(step), refusal)];
      }),
    ],
  };
}

/** Tells to what there are still routes, because they could not be taken out. */
function routesOf(owner: Owner, services: ReadonlyMap<string, VirtualService>, { clusterDomain }: Settings) {
  const routes = [...services.values()].flatMap((service) =>
    (service.spec?.http ?? []).filter((route) => isRouteOf(owner, service, route)).map((route) => ({ service, route })),
  );
  const hosts = new Set(
    routes.flatMap(({ service, route }) =>
      (route.route ?? []).map(({ destination }) => resolveHost(destination?.host ?? '', service, clusterDomain)),
    ),
  );
  return {
    toRule: (rule: DestinationRule): boolean => hosts.has(resolveHost(rule.spec?.host ?? '', rule, clusterDomain)),
    toClone: ({ metadata: { name, namespace = '' } }: Deployment): boolean => {
      const workload = { name: name.slice(0, -owner.version.length - 1), namespace };
      return routes.some(({ service, route }) => isRouteOfSubset(owner, workload, service, route));
    },
  };
}

/** Since when nobody is sent any more to what leaves; undefined if nobody ever was. */
function drainStart(view: View, env: DynamicEnv, items: readonly Item[], routesLeave: boolean): number | undefined {
  const now = Math.floor(view.now() / 1_000) * 1_000;
  if (routesLeave) return now;
  const draining = conditionsOf(env).find(({ type }) => type === DRAINING);
  // A time that can't be, or not yet, counts as now.
  if (draining !== undefined) return Math.min(Date.parse(draining.lastTransitionTime) || now, now);
  const isKept = (key: string): boolean => items.some((item) => !item.consumer && item.key === key);
  const wasRouted = Object.entries(env.status?.subsetsStatus ?? {}).some(
    ([key, { virtualServices = [] }]) => !isKept(key) && virtualServices.some(({ status }) => status === 'running'),
  );
  return wasRouted ? now : undefined;
}

/** Status entries that are in no list of the spec any more, as long as their clone is there. */
function entriesOf(
  env: DynamicEnv,
  items: readonly Item[],
  clones: readonly Deployment[],
): Pick<Leaving, 'subsets' | 'consumers'> {
  const isThere = (ref: { name: string; namespace: string }): boolean =>
    clones.some((clone) => keyOf(clone.metadata) === keyOf(ref));
  const inSpec = (key: string, consumer: boolean): boolean =>
    items.some((item) => item.consumer === consumer && item.key === key);
  const subsets: Record<string, SubsetStatus> = {};
  for (const [key, entry] of Object.entries(env.status?.subsetsStatus ?? {})) {
    if (inSpec(key, false) || !isThere(entry.deployment)) continue;
    subsets[key] = { ...entry, deployment: { ...entry.deployment, status: 'removing' } };
  }
  const consumers: Record<string, ConsumerStatus> = {};
  for (const [key, entry] of Object.entries(env.status?.consumersStatus ?? {})) {
    if (inSpec(key, true) || !isThere(entry)) continue;
    consumers[key] = { ...entry, status: 'removing' };
  }
  return { subsets, consumers };
}
