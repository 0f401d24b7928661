// Objects for the base whose selectors match its clone too: a PodDisruptionBudget that counts the clone's pods lets too
// many pods of the base be evicted. Environments leave them alone and report them. Called by decide.ts.
import { keyOf, matches, selectorOf } from '../../kube/index.ts';
import type { KubeObject, LabelSelector } from '../../kube/index.ts';
import type { WorkloadFacts } from '../facts.ts';
import { messages } from '../status/messages.ts';
import type { Deployment, HorizontalPodAutoscaler, Labels } from '../objects.ts';

/** Warnings for objects that select the pods of both the base and the clone. */
export function sharedSelectors(
  { ref, ofBase }: WorkloadFacts,
  base: Deployment,
  clone: Deployment,
): readonly string[] {
  const [basePods, clonePods] = [base, clone].map(({ spec }) => spec.template.metadata?.labels ?? {}) as [
    Labels,
    Labels,
  ];
  const isShared = (selector: LabelSelector | undefined): boolean =>
    selects(selector, basePods) && selects(selector, clonePods);
  const shared = <T extends KubeObject>(found: readonly T[], of: (object: T) => LabelSelector | undefined): string[] =>
    found.filter((object) => isShared(of(object))).map(({ metadata }) => keyOf(metadata));
  // A policy for all pods of a namespace is not specific to this workload.
  const policies = ofBase.policies.filter(({ spec }) => !isEmpty(spec?.podSelector));
  // An autoscaler measures all pods that the selector of the Deployment matches.
  const scalers = isShared(base.spec.selector) ? ofBase.autoscalers.filter(measuresPods) : [];
  return [
    ...shared(ofBase.budgets, ({ spec }) => spec?.selector).map((name) => messages.budgetOfBoth(name, ref)),
    ...scalers.map(({ metadata }) => messages.autoscalerOfBoth(keyOf(metadata), ref)),
    ...shared(policies, ({ spec }) => spec?.podSelector).map((name) => messages.policyOfBoth(name, ref)),
  ];
}

/** A missing or invalid selector selects nothing. */
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

/** Whether an autoscaler uses metrics of pods; by default it uses their CPU. */
function measuresPods({ spec }: HorizontalPodAutoscaler): boolean {
  const { metrics = [{ type: 'Resource' }] } = spec ?? {};
  return metrics.some(({ type }) => type !== 'External' && type !== 'Object');
}
