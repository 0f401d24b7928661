// What a decided environment writes: the steps that make it so, in their order, its status, and Events.
import type { ResourceStatus } from '../api/dynamicenv.ts';
import { edit, keyOf, make, own, withAnnotations } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import type { Plan, View } from '../controller/index.ts';
import { refusedHeaders, unusable } from '../traffic/istio/matches.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import { hasTwins } from './clone.ts';
import { conflictsIn, conflictTexts } from './conflicts.ts';
import type { Decision } from './decision.ts';
import { atMoment, dueRoutes } from './routes/due.ts';
import { NO_ROUTES, observeRoutes } from './routes/observe.ts';
import type { ObservedRoutes } from './routes/observe.ts';
import { timeForProxies } from './routes/proxies.ts';
import { eventsOf } from './events.ts';
import type { EnvironmentFacts } from './facts.ts';
import { matchTitle } from './matches.ts';
import { isPaused, pausedPruning } from './lifecycle/paused.ts';
import { ASLEEP, isFallingAsleep, scaledDown, sleepSteps, wakingSteps } from './lifecycle/sleep.ts';
import { messages } from './messages.ts';
import { Deployment } from './objects.ts';
import { WATCH_ANNOTATION } from './ownership.ts';
import { isolatedIn } from './proofs/isolated.ts';
import { prune, withLeftBehind } from './prune.ts';
import { unreachedOf } from './reachability.ts';
import type { Unreached } from './reachability.ts';
import type { Settings } from './settings.ts';
import { statusOf, statusOfDeletion } from './status.ts';

/** For so long a status waits for routes that are about to be written, so that it need not be written twice. */
const ROUTES_WITHIN_MS = 3_000;

/** The plan of an environment that is made as it was decided. */
export function writeEnvironment(
  view: View,
  facts: EnvironmentFacts,
  decided: readonly Decision[],
  settings: Settings,
): Plan {
  const { env } = facts;
  const now = view.now();
  const decisions = decided.map((decision) => ({
    ...atMoment(decision, now),
    due: dueRoutes(decision, now, settings),
  }));
  const routes = observeRoutes(facts, decisions, now, settings);
  const pruned = isPaused(env) ? pausedPruning(env, decisions, now) : prune(facts, decisions, routes, now, settings);
  const pruning = withLeftBehind(pruned, env, settings);
  // Make before break: routes are wished for once clone and rule are there, and what is unwanted goes after its routes.
  const making = isPaused(env) ? [] : decisions.flatMap((decision) => stepsOf(decision, pruning.isDrained));
  const steps = [...making, ...pruning.steps];
  const loops = decisions.flatMap(({ loop }) => (loop === undefined ? [] : [loop.until - now])).filter((ms) => ms > 0);
  const waits = [...decisions.map(({ due }) => due.waitMs), pruning.waitMs, ...loops].filter((ms) => ms !== undefined);
  // Ready means that requests get there.
  const routesWithin = timeForRoutes(view, routes) || timeForProxies(view, routes.newlyRouted, settings);
  if (routesWithin > 0) return { steps, requeueAfterMs: Math.min(routesWithin, ...waits) };
  const warnings = [
    ...facts.unserved.map(messages.notServed),
    ...unusableMatches(facts),
    ...decisions.flatMap(({ routeWarnings }) => routeWarnings),
    ...routes.warnings,
  ];
  const unreached = new Map<Decision, Unreached>();
  for (const decision of decisions) {
    const cause = decision.consumer ? undefined : unreachedOf(decision, facts, routes, warnings);
    if (cause !== undefined) unreached.set(decision, cause);
  }
  const isolated = isolatedIn(view, env.metadata, settings);
  const conflicts = conflictsIn(view, keyOf(env.metadata), settings);
  const overall = { decisions, pruning, routes: routes.statuses, unreached, warnings, conflicts, isolated };
  const status = statusOf(env, overall, now, settings);
  return {
    steps,
    status,
    events: eventsOf(env, status, {
      conflicts: conflictTexts(conflicts).told,
      warnings: [...warnings, ...decisions.flatMap((each) => each.workloadWarnings), ...pruning.refusals],
      routes: routes.news,
      early: (settings.routeAfterMs > 0 ? decisions : [])
        .filter((each) => isEarly(facts, each, routes))
        .map((each) => earlyNote(each, settings)),
    }),
    ...(waits.length > 0 && { requeueAfterMs: Math.min(...waits) }),
  };
}

/**
 * The plan of an environment that is being deleted: routes go first; rules and clones follow once nobody is sent there
 * any more. Routes with the version of one that was refused for it are those of the other one.
 */
export function writeDeletion(view: View, facts: EnvironmentFacts, isCollision: boolean, settings: Settings): Plan {
  const { env } = facts;
  const now = view.now();
  const routes = isCollision ? NO_ROUTES : observeRoutes(facts, [], now, settings);
  const pruning = withLeftBehind(prune(facts, [], routes, now, settings), env, settings);
  const routesWithin = timeForRoutes(view, routes);
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

/** Whether routes have come although their clone does not run, because the time to wait for it was up. */
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
function timeForRoutes(view: View, { pending }: ObservedRoutes): number {
  return pending.size === 0 ? 0 : Math.max(0, ROUTES_WITHIN_MS - view.heldFor('routes are about to be written'));
}

/** Matches that ask for nothing. Those that a proxy would refuse are errors of the subsets. */
function unusableMatches({ env }: EnvironmentFacts): readonly string[] {
  return (env.spec?.istioMatches ?? []).flatMap((match, i) => {
    const problem = refusedHeaders(match).length > 0 ? undefined : unusable(match);
    return problem === undefined ? [] : [messages.leftOut(matchTitle(env.spec, i), problem)];
  });
}

/** The steps that make clone and rules what was decided. `isDrained`: what should sleep gets no requests any more. */
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

/** How a clone becomes what it should be: applied, or written as a whole where the server would not take it so. */
function cloneStep(desired: Deployment, live: Deployment | undefined): Step {
  if (!hasTwins(desired)) return own(Deployment, desired, { takeOverAnnotation: WATCH_ANNOTATION });
  if (live === undefined) return make(Deployment, desired);
  const { labels, annotations } = desired.metadata;
  const metadata = {
    ...live.metadata,
    labels: { ...live.metadata.labels, ...labels },
    annotations: withAnnotations(live, { [ASLEEP]: undefined, ...annotations }).metadata.annotations ?? {},
  };
  return edit(Deployment, live, { ...live, metadata, spec: desired.spec });
}
