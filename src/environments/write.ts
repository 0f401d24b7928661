// What is written for an environment after the decisions: steps in order, its status, and Events. It reads
// nothing itself: see plan.ts.
import type { ResourceStatus } from '../api/dynamicenv.ts';
import { edit, keyOf, make, own, withAnnotations } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import type { Plan, PlannedCondition, View } from '../controller/index.ts';
import { refusedParts, unusable } from '../traffic/istio/unusable.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import { hasDuplicateListKeys } from './clone/clone.ts';
import { conflictTexts } from './requests/conflicts.ts';
import type { Conflict } from './requests/conflicts.ts';
import type { Decision } from './decision.ts';
import { atTime, dueRoutes } from './routes/due.ts';
import { NO_ROUTES, observeRoutes, timeForProxies } from './routes/observe.ts';
import type { ObservedRoutes } from './routes/observe.ts';
import { eventsOf } from './status/events.ts';
import type { EnvironmentFacts } from './facts.ts';
import { matchTitle } from './requests/matches.ts';
import { isPaused, pausedPruning } from './lifecycle/paused.ts';
import { ASLEEP, isFallingAsleep, scaledDown, sleepSteps, wakingSteps } from './lifecycle/sleep.ts';
import { messages } from './status/messages.ts';
import { Deployment } from './objects.ts';
import { WATCH_ANNOTATION } from './identity/ownership.ts';
import { prune, withLeftBehind } from './prune.ts';
import { unreachedOf } from './status/reachability.ts';
import type { Unreached } from './status/reachability.ts';
import type { Settings } from './settings.ts';
import { statusOf, statusOfDeletion } from './status/status.ts';

/** How long a status waits for routes that are about to be written, so that it is not written twice. */
const ROUTES_WITHIN_MS = 3_000;

type Time = Pick<View, 'now' | 'heldFor'>;

/** Whether an environment affects requests of others, and which others want its requests. */
export interface Verdicts {
  readonly isolated: PlannedCondition | undefined;
  readonly conflicts: readonly Conflict[];
}

/** The plan of an environment from its decisions. `verdicts` is called only if a status is written. */
export function writeEnvironment(
  time: Time,
  facts: EnvironmentFacts,
  decided: readonly Decision[],
  verdicts: () => Verdicts,
  settings: Settings,
): Plan {
  const { env } = facts;
  const now = time.now();
  const decisions = decided.map((decision) => ({
    ...atTime(decision, now),
    due: dueRoutes(decision, now, settings),
  }));
  const routes = observeRoutes(facts, decisions, now, settings);
  const pruned = isPaused(env) ? pausedPruning(env, decisions, now) : prune(facts, decisions, routes, now, settings);
  const pruning = withLeftBehind(pruned, env, settings);
  // Make before break: routes come after clone and rule, and unneeded objects are removed after their routes.
  const making = isPaused(env) ? [] : decisions.flatMap((decision) => stepsOf(decision, pruning.isDrained));
  const steps = [...making, ...pruning.steps];
  const loops = decisions.flatMap(({ loop }) => (loop === undefined ? [] : [loop.until - now])).filter((ms) => ms > 0);
  const waits = [...decisions.map(({ due }) => due.waitMs), pruning.waitMs, ...loops].filter((ms) => ms !== undefined);
  // Ready means that requests reach the clone.
  const routesWithin = timeForRoutes(time, routes) || timeForProxies(time, routes.newlyRouted, settings);
  if (routesWithin > 0) return { steps, requeueAfterMs: Math.min(routesWithin, ...waits) };
  const warnings = [
    ...facts.unserved.map(messages.notServed),
    ...unusableMatches(facts),
    ...decisions.flatMap(({ routeWarnings }) => routeWarnings),
    ...routes.warnings,
  ];
  const unreached = new Map<Decision, Unreached>();
  for (const decision of decisions) {
    const cause = decision.consumer ? undefined : unreachedOf(decision, facts, routes, warnings, settings);
    if (cause !== undefined) unreached.set(decision, cause);
  }
  const { isolated, conflicts } = verdicts();
  const overall = { decisions, pruning, routes: routes.statuses, unreached, warnings, conflicts, isolated };
  const status = statusOf(env, overall, now, settings);
  return {
    steps,
    status,
    events: eventsOf(env, status, {
      conflicts: conflictTexts(conflicts).texts,
      warnings: [...warnings, ...decisions.flatMap((each) => each.workloadWarnings), ...pruning.refusals],
      routes: routes.newRouteTexts,
      early: (settings.routeAfterMs > 0 ? decisions : [])
        .filter((each) => isEarly(facts, each, routes))
        .map((each) => earlyNote(each, settings)),
    }),
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  };
}

/**
 * The plan of an environment that is being deleted: routes first; rules and clones once in-flight requests have
 * drained. After a name collision, routes with its version belong to the other environment.
 */
export function writeDeletion(time: Time, facts: EnvironmentFacts, isCollision: boolean, settings: Settings): Plan {
  const { env } = facts;
  const now = time.now();
  const routes = isCollision ? NO_ROUTES : observeRoutes(facts, [], now, settings);
  const pruning = withLeftBehind(prune(facts, [], routes, now, settings), env, settings);
  const routesWithin = timeForRoutes(time, routes);
  if (routesWithin > 0) return { requeueAfterMs: routesWithin };
  const isDone = pruning.gone && pruning.refusals.length === 0 && routes.pending.size === 0;
  if (isDone) return { finished: true };
  const status = statusOfDeletion(env, pruning);
  return {
    steps: pruning.steps,
    status,
    events: eventsOf(env, status, { warnings: pruning.refusals }),
    ...(pruning.waitMs !== undefined && { requeueAfterMs: pruning.waitMs }),
  };
}

/** Whether routes were added although their clone does not run, because the deadline was over. */
function isEarly({ env }: EnvironmentFacts, decision: Decision, { statuses }: ObservedRoutes): boolean {
  const isRouted = (list: readonly ResourceStatus[] = []): boolean => list.some(({ status }) => status === 'running');
  const before = env.status?.subsetsStatus[decision.key]?.virtualServices;
  const isNew = decision.action === 'route' && isRouted(statuses.get(decision)) && !isRouted(before);
  return isNew && decision.cloneStatus.status !== 'running';
}

function earlyNote({ cloneStatus, problem }: Decision, { routeAfterMs }: Settings): string {
  return messages.routedEarly(keyOf(cloneStatus), routeAfterMs / 1_000, problem?.message);
}

/** How much longer the status may wait for routes that are about to be written; 0 if there are none. */
function timeForRoutes(time: Time, { pending }: ObservedRoutes): number {
  return pending.size === 0 ? 0 : Math.max(0, ROUTES_WITHIN_MS - time.heldFor('routes are about to be written'));
}

/** Warnings for matches without conditions, or that no request fits. Those that would be rejected are errors of the subsets. */
function unusableMatches({ env }: EnvironmentFacts): readonly string[] {
  return (env.spec?.istioMatches ?? []).flatMap((match, i) => {
    const problem = refusedParts(match).length > 0 ? undefined : unusable(match);
    return problem === undefined ? [] : [messages.leftOut(matchTitle(env.spec, i), problem)];
  });
}

/** The steps for clone and rules of a decision. `isDrained`: no request is in flight to what should sleep. */
function stepsOf(decision: Decision, isDrained: boolean): readonly Step[] {
  if (decision.action === 'keep') return sleepSteps(decision, isDrained);
  if (decision.action !== 'clone' && decision.action !== 'route') return [];
  const { clone, live, rules } = decision;
  const sleeps = decision.isAsleep && (isDrained || !isFallingAsleep(decision));
  return [
    cloneStep(sleeps ? scaledDown(clone) : clone, live),
    ...wakingSteps(decision),
    ...rules.map((rule) => own(DestinationRule, rule, { takeOverAnnotation: WATCH_ANNOTATION })),
  ];
}

/** Applies a clone, or writes it as a whole if server-side apply would fail. */
function cloneStep(desired: Deployment, live: Deployment | undefined): Step {
  if (!hasDuplicateListKeys(desired)) return own(Deployment, desired, { takeOverAnnotation: WATCH_ANNOTATION });
  if (live === undefined) return make(Deployment, desired);
  const { labels, annotations } = desired.metadata;
  const metadata = {
    ...live.metadata,
    labels: { ...live.metadata.labels, ...labels },
    annotations: withAnnotations(live, { [ASLEEP]: undefined, ...annotations }).metadata.annotations ?? {},
  };
  return edit(Deployment, live, { ...live, metadata, spec: desired.spec });
}
