// Objects that are about the base and, by their selectors, about its clone too: a budget that counts the clone's pods
// lets too many of the base go. Environments leave them alone, and say which they are. Called by decide.ts.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { keyOf, matches, selectorOf } from '../kube/index.ts';
import type { KubeObject, LabelSelector } from '../kube/index.ts';
import { ownedPart } from '../kube/write/owned.ts';
import { clonePodLabels, hasTwins } from './clone.ts';
import type { Item } from './decision.ts';
import { messages } from './messages.ts';
import { CONTROLLER } from './names.ts';
import { NetworkPolicy, PodDisruptionBudget } from './objects.ts';
import type { Deployment, HorizontalPodAutoscaler, Labels } from './objects.ts';
import type { Settings } from './settings.ts';
import { findAutoscalers, findSelecting } from './lookup.ts';

/** What counts or selects the pods of the base and those of the clone alike, in words. */
export function bystanders(
  view: View,
  env: DynamicEnv,
  { subset, clone }: Item,
  base: Deployment,
  settings: Settings,
): readonly string[] {
  const ofBase = base.spec.template.metadata?.labels ?? {};
  const ofClone = clonePodLabels(env, subset, base, settings);
  const isShared = (selector: LabelSelector | undefined): boolean =>
    selects(selector, ofBase) && selects(selector, ofClone);
  const shared = <T extends KubeObject>(found: readonly T[], of: (object: T) => LabelSelector | undefined): string[] =>
    found.filter((object) => isShared(of(object))).map(({ metadata }) => keyOf(metadata));
  const budgets = findSelecting(view, PodDisruptionBudget, base);
  // A policy for all pods of a namespace is not about this workload.
  const policies = findSelecting(view, NetworkPolicy, base).filter(({ spec }) => !isEmpty(spec?.podSelector));
  // An autoscaler measures the pods that the Deployment selects, whoever owns them.
  const scalers = isShared(base.spec.selector) ? findAutoscalers(view, base.metadata).filter(measuresPods) : [];
  return [
    ...shared(budgets, ({ spec }) => spec?.selector).map((name) => messages.budgetOfBoth(name, clone)),
    ...scalers.map(({ metadata }) => messages.autoscalerOfBoth(keyOf(metadata), clone)),
    ...shared(policies, ({ spec }) => spec?.podSelector).map((name) => messages.policyOfBoth(name, clone)),
  ];
}

/**
 * A clone as it is to be applied: where an autoscaler names it, without the number of its pods. As long as we are the
 * one who set it, the present number is kept: to give it up would let the server set 1.
 */
export function leaveScale(view: View, wanted: Deployment, live: Deployment | undefined): Deployment {
  if (live === undefined || findAutoscalers(view, wanted.metadata).length === 0) return wanted;
  const { replicas: _asked, ...spec } = wanted.spec;
  const owned = ownedPart(live, `offshoot-${CONTROLLER}`) as Partial<Deployment> | undefined;
  const isKept = hasTwins(wanted) || owned?.spec?.replicas !== undefined;
  return { ...wanted, spec: isKept ? { ...spec, replicas: live.spec.replicas ?? 1 } : spec };
}

/** A selector that is not there selects nothing; one that can't be read neither. */
function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  try {
    return selector !== undefined && matches(selectorOf(selector), labels);
  } catch {
    return false;
  }
}

function isEmpty({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Whether an autoscaler goes by anything that pods report; without metrics it goes by their CPU. */
function measuresPods({ spec }: HorizontalPodAutoscaler): boolean {
  const { metrics = [{ type: 'Resource' }] } = spec ?? {};
  return metrics.some(({ type }) => type !== 'External' && type !== 'Object');
}
