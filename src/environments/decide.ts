// Plans one subset or consumer: its clone first, then the way to it.
import type { DynamicEnv, ResourceStatus } from '../api/dynamicenv.ts';
import type { View } from '../controller/index.ts';
import { edit, make, own } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import { jsonEqual } from '../watchable/index.ts';
import { bystanders, leaveScale } from './shared-selectors.ts';
import { buildClone, hasTwins, OverrideError } from './clone.ts';
import { cloneProblem, cloneState, isAvailable, withoutRepeating } from './clone-state.ts';
import { subsetHash } from './hash.ts';
import { fail, newItem } from './decision.ts';
import type { Item } from './decision.ts';
import { isCloneOf, WATCH_ANNOTATION } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { refusedRegexes, unusable } from '../traffic/istio/matches.ts';
import { messages } from './messages.ts';
import { cloneName, itemsOf } from './names.ts';
import { Deployment } from './objects.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import { planReach } from './reach.ts';
import type { Settings } from './settings.ts';

/** All items of an environment, subsets first. A Deployment that is named again is planned once, with an error. */
export function planItems(view: View, env: DynamicEnv, owner: Owner, settings: Settings): readonly Item[] {
  const { subsets, consumers } = itemsOf(env);
  const items = new Map<string, Item>();
  const all = [...subsets.map((subset) => [subset, false] as const), ...consumers.map((each) => [each, true] as const)];
  for (const [subset, consumer] of all) {
    const item = newItem(env, subset, consumer);
    const known = items.get(item.key);
    if (known === undefined) items.set(item.key, planItem(view, env, owner, item, settings));
    else fail(known, known.consumer ? 'deployment' : 'subset', messages.duplicate(item.key), true);
  }
  return [...items.values()];
}

function planItem(view: View, env: DynamicEnv, owner: Owner, item: Item, settings: Settings): Item {
  const { subset } = item;
  const ref = { name: cloneName(env.metadata, subset), namespace: subset.namespace };
  const found = view.get(Deployment, ref);
  const clone = found !== undefined && isCloneOf(env, found) ? found : undefined;
  const base = view.get(Deployment, subset);
  // Nothing is known about what an item without its base should be; what is there stays as it is.
  if (clone !== undefined) item.routes = 'untouched';
  if (clone !== undefined || base !== undefined) {
    item.problem = withoutRepeating(env, item.key, cloneProblem(view, clone));
    const message = item.problem && { message: item.problem.message };
    item.clone = { ...ref, status: cloneState(clone, isUpdated(item, clone)), ...message };
    if (!isAvailable(clone, item.clone.status)) item.unanswered = messages.noPod(item.problem?.message);
  }
  if (!item.consumer) failForRegexes(env, item);
  if (base === undefined) {
    fail(item, 'deployment', messages.noBaseDeployment(subset), true);
  } else if (found !== clone) {
    fail(item, 'deployment', messages.foreign('Deployment', ref), true);
  } else if (planClone(view, env, item, base, clone, settings) && !item.consumer) {
    planReach(view, env, owner, item, base, clone, settings);
  }
  if (!item.consumer && (item.routes === 'untouched' || item.outdated) && item.rules.length === 0) {
    item.rules.push(...knownRules(view, env, item));
  }
  return item;
}

/** A match that a proxy would refuse gets no route: it would end all changes of routes, also those of others. */
function failForRegexes(env: DynamicEnv, item: Item): void {
  for (const [i, match] of (env.spec?.istioMatches ?? []).entries()) {
    if (refusedRegexes(match).length > 0) fail(item, 'virtualServices', messages.leftOut(i, unusable(match)!));
  }
}

/** The rules that the status tells of, for an item of which it can't be told what rules it should have. */
function knownRules(view: View, env: DynamicEnv, { key }: Item): readonly ResourceStatus[] {
  const { destinationRules = [] } = env.status?.subsetsStatus[key] ?? {};
  return destinationRules.map((rule) => ({
    ...rule,
    status: view.get(DestinationRule, rule) === undefined ? 'missing' : 'running',
  }));
}

/** Whether a clone has been changed since it was made, or is about to be. */
function isUpdated({ hash, subset }: Item, clone: Deployment | undefined): boolean {
  return (hash !== undefined && hash !== subsetHash(subset)) || (clone?.metadata.generation ?? 1) > 1;
}

/** Whether the clone can be made. */
function planClone(
  view: View,
  env: DynamicEnv,
  item: Item,
  base: Deployment,
  clone: Deployment | undefined,
  settings: Settings,
): boolean {
  const hash = subsetHash(item.subset);
  let wanted: Deployment;
  try {
    wanted = buildClone(env, item.subset, base, settings, clone);
  } catch (error) {
    if (!(error instanceof OverrideError)) throw error;
    fail(item, 'deployment', error.message);
    return false;
  }
  const refusal = view.refusal(Deployment, item.clone);
  if (refusal !== undefined) {
    const message = clone === undefined ? refusal : messages.cloneNotUpdated(item.clone.name, refusal);
    fail(item, 'deployment', message);
    return false;
  }
  // What a Deployment selects its pods by can't be changed: an outdated one has to make room first, and its routes before.
  if (clone !== undefined && !jsonEqual(clone.spec.selector, wanted.spec.selector)) {
    item.clone.status = 'updating';
    item.outdated = true;
    item.routes = 'wait';
    return false;
  }
  item.steps.push(cloneStep(leaveScale(view, wanted, clone), clone));
  item.workloadWarnings = bystanders(view, env, item, base, settings);
  const isChanged = item.hash !== undefined && item.hash !== hash;
  if (clone === undefined) item.clone.status = 'initializing';
  else if (item.clone.status === 'running' && isChanged) item.clone.status = 'updating';
  item.hash = hash;
  return true;
}

/** How a clone comes to be what is wanted: applied, or written as a whole where the server would not take it so. */
function cloneStep(wanted: Deployment, clone: Deployment | undefined): Step {
  if (!hasTwins(wanted)) return own(Deployment, wanted, { heirBy: WATCH_ANNOTATION });
  if (clone === undefined) return make(Deployment, wanted);
  const { labels, annotations } = wanted.metadata;
  const metadata = {
    ...clone.metadata,
    labels: { ...clone.metadata.labels, ...labels },
    annotations: { ...clone.metadata.annotations, ...annotations },
  };
  return edit(Deployment, clone, { ...clone, metadata, spec: wanted.spec });
}
