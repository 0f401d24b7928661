// What an environment no longer wants: clones and rules that carry its mark and are in no item. They go once the
// requests that were on their way have had time to end.
import type { ConsumerStatus, DynamicEnv, SubsetStatus } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { keyOf, remove } from '../kube/index.ts';
import type { KubeObject, Step } from '../kube/index.ts';
import type { Item } from './item.ts';
import { cloneName, CONTROLLER, ruleName, statusKey } from './names.ts';
import { Deployment, DestinationRule, VirtualService } from './objects.ts';
import type { Settings } from './settings.ts';
import type { LeavingEntries } from './status.ts';

export interface Leaving {
  readonly steps: readonly Step[];
  /** Status entries of subsets and consumers of which something is still there. */
  readonly entries: LeavingEntries;
  /** Until when removing waits. */
  readonly waitMs?: number;
  /** Whether nothing unwanted is left. */
  readonly gone: boolean;
}

/** Plans the removal of what is no longer wanted. `routesChange`: routes are being taken out in this very pass. */
export function leave(
  view: View,
  env: DynamicEnv,
  items: readonly Item[],
  routesChange: boolean,
  settings: Settings,
): Leaving {
  const wantedClones = new Set(items.map(({ subset }) => `${subset.namespace}/${cloneName(env.metadata, subset)}`));
  const wantedRules = new Set(items.flatMap(({ rules }) => rules.map(keyOf)));
  const keepsRules = items.filter(({ consumer, routes }) => !consumer && routes === 'untouched');
  const clones = view
    .index(Deployment, 'environment', keyOf(env.metadata))
    .filter((clone) => !wantedClones.has(keyOf(clone.metadata)));
  const rules = view
    .index(DestinationRule, 'environment', keyOf(env.metadata))
    .filter((rule) => !wantedRules.has(keyOf(rule.metadata)) && !keepsRules.some((item) => isRuleOf(env, item, rule)));
  const entries = entriesOf(env, items, clones);
  const leaving = clones.length + rules.length;
  if (leaving === 0) return { steps: [], entries, gone: true };
  const waitMs = routesChange ? settings.drainMs : drainLeft(view, env, items, settings);
  if (waitMs > 0) return { steps: [], entries, waitMs, gone: false };
  const steps = [
    ...rules.map((rule) => remove(DestinationRule, rule)),
    ...clones.map((clone) => remove(Deployment, clone)),
  ];
  return { steps, entries, gone: false };
}

function isRuleOf(env: DynamicEnv, { subset }: Item, rule: KubeObject): boolean {
  return (
    rule.metadata.namespace === subset.namespace && rule.metadata.name.startsWith(ruleName(env.metadata, subset, ''))
  );
}

/** How long requests may still be under way to what left: since we last edited a VirtualService that led there. */
function drainLeft(view: View, env: DynamicEnv, items: readonly Item[], settings: Settings): number {
  const kept = new Set(items.map(({ key }) => key));
  let latest = -Infinity;
  for (const [key, { virtualServices = [] }] of Object.entries(env.status?.subsetsStatus ?? {})) {
    if (kept.has(key)) continue;
    for (const ref of virtualServices) {
      const entries = view.get(VirtualService, ref)?.metadata.managedFields ?? [];
      for (const { manager, time } of entries) {
        if (manager === `offshoot-${CONTROLLER}`) latest = Math.max(latest, Date.parse(time ?? ''));
      }
    }
  }
  // Times are written in whole seconds.
  return Number.isFinite(latest) ? latest + 1_000 + settings.drainMs - view.now() : 0;
}

/** Status entries that are in no list of the spec any more, as long as their clone is there. */
function entriesOf(env: DynamicEnv, items: readonly Item[], clones: readonly Deployment[]): LeavingEntries {
  const isThere = (ref: { name: string; namespace: string }): boolean =>
    clones.some((clone) => keyOf(clone.metadata) === keyOf(ref));
  const inSpec = (key: string, consumer: boolean): boolean =>
    items.some((item) => item.consumer === consumer && statusKey(item.subset) === key);
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
