// The plan of an environment: what to make, to edit and to remove now, given what is observed. Everything that the
// controller, the command line and the tests know of environments comes from this function.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { Plan, View } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import { noEdits, planEdits } from './edits.ts';
import { leave } from './prune.ts';
import { ownerOf, shareNamespace } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { refusedRegexes, unusable } from '../traffic/istio/matches.ts';
import { messages } from './messages.ts';
import { uniqueVersion } from './names.ts';
import type { Item } from './decision.ts';
import { DestinationRule, VirtualService } from '../traffic/istio/objects.ts';
import { unreachedOf } from './reachability.ts';
import type { Unreached } from './reachability.ts';
import type { Settings } from './settings.ts';
import type { Refusal } from './conditions.ts';
import { statusOf, statusOfDeletion, statusOfRefusal } from './status.ts';
import { transitions } from './events.ts';
import { planItems } from './decide.ts';
import { findSameVersion } from './lookup.ts';

/** Plans one environment. */
export function planEnvironment(view: View, env: DynamicEnv, settings: Settings): Plan {
  const sameVersion = findSameVersion(view, env);
  const refusal = refused(env, sameVersion);
  const owner = ownerOf(env, sameVersion);
  if (env.metadata.deletionTimestamp !== undefined) {
    return planDeletion(view, env, owner, refusal?.reason === 'NameCollision', settings);
  }
  if (refusal !== undefined) {
    const status = statusOfRefusal(env, refusal);
    return { status, events: transitions(env, status) };
  }
  const items = planItems(view, env, owner, settings);
  const edits = planEdits(view, env, owner, items, settings);
  const leaving = leave(view, env, owner, items, edits, settings);
  const warnings = [
    ...unserved(view, items),
    ...unusableMatches(env),
    ...items.flatMap((item) => item.warnings),
    ...edits.warnings,
  ];
  const unreached = new Map<Item, Unreached>();
  for (const item of items) {
    const cause = item.consumer ? undefined : unreachedOf(item, owner, edits.services);
    if (cause !== undefined) unreached.set(item, cause);
  }
  const status = statusOf(env, { items, leaving, routes: edits.statuses, unreached, warnings }, view.now());
  const again = [...items.map(({ waitMs }) => waitMs), leaving.waitMs].filter((ms) => ms !== undefined);
  return {
    // Make before break: a clone and its rule are there before a route leads to them, and go after it is gone.
    steps: [...items.flatMap((item) => item.steps), ...edits.steps, ...leaving.steps],
    status,
    events: transitions(env, status, {
      warnings: [...warnings, ...items.flatMap((item) => item.workloadWarnings), ...leaving.refusals],
      routes: edits.notes,
    }),
    ...(again.length > 0 && { requeueAfterMs: Math.min(...again) }),
  };
}

/** Why an environment can't be made at all: its names would be those of another one, or no valid names. */
function refused(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): Refusal | undefined {
  const version = uniqueVersion(env.metadata);
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    return { reason: 'InvalidName', message: messages.invalidName(version) };
  }
  // Environments of one version that have nothing to do in the same namespace can't take anything from each other.
  const other = sameVersion.find((each) => isOlder(each, env) && shareNamespace(each, env));
  if (other === undefined) return undefined;
  return {
    reason: 'NameCollision',
    message: messages.collision(keyOf(other.metadata), keyOf(env.metadata), version),
  };
}

/**
 * Which of two environments was there first. Times are whole seconds: of two that came in the same one, it is the one
 * that has something already, then the one whose key comes first.
 */
function isOlder(a: DynamicEnv, b: DynamicEnv): boolean {
  const order = ({ metadata, status }: DynamicEnv): string => {
    const entries = { ...status?.subsetsStatus, ...status?.consumersStatus };
    return `${metadata.creationTimestamp ?? ''} ${Object.keys(entries).length > 0 ? 0 : 1} ${keyOf(metadata)}`;
  };
  return order(a) < order(b);
}

/** Kinds of Istio that subsets need and the cluster does not have. */
function unserved(view: View, items: readonly Item[]): readonly string[] {
  if (items.every(({ consumer }) => consumer)) return [];
  return [DestinationRule, VirtualService].filter((kind) => !view.served(kind)).map(messages.notServed);
}

/** Matches that ask for nothing. Those that a proxy would refuse are errors of the subsets. */
function unusableMatches(env: DynamicEnv): readonly string[] {
  return (env.spec?.istioMatches ?? []).flatMap((match, i) => {
    const problem = refusedRegexes(match).length > 0 ? undefined : unusable(match);
    return problem === undefined ? [] : [messages.leftOut(i, problem)];
  });
}

/** Routes go first; rules and clones follow once nobody is sent there any more. */
function planDeletion(view: View, env: DynamicEnv, owner: Owner, isCollision: boolean, settings: Settings): Plan {
  // Routes with the version of an environment that was refused for it are those of the other one.
  const edits = isCollision ? noEdits() : planEdits(view, env, owner, [], settings);
  const leaving = leave(view, env, owner, [], edits, settings);
  const steps = [...edits.steps, ...leaving.steps];
  if (steps.length === 0 && leaving.gone && leaving.refusals.length === 0) return { finished: true };
  const status = statusOfDeletion(env, leaving);
  return {
    steps,
    status,
    events: transitions(env, status, { warnings: leaving.refusals, routes: edits.notes }),
    ...(leaving.waitMs !== undefined && { requeueAfterMs: leaving.waitMs }),
  };
}
