// What a decided environment writes: the steps that make it so, in their order, its status, and Events.
import { edit, keyOf, make, own } from '../kube/index.ts';
import type { Step } from '../kube/index.ts';
import type { Plan } from '../controller/index.ts';
import { refusedRegexes, unusable } from '../traffic/istio/matches.ts';
import { DestinationRule } from '../traffic/istio/objects.ts';
import { hasTwins } from './clone.ts';
import type { Decision } from './decision.ts';
import { atMoment, dueRoutes } from './routes/due.ts';
import type { DueDecision } from './routes/due.ts';
import { noEdits, planEdits } from './routes/edit.ts';
import type { Edits } from './routes/edit.ts';
import { eventsOf } from './events.ts';
import type { EnvironmentFacts } from './facts.ts';
import { messages } from './messages.ts';
import { Deployment } from './objects.ts';
import { WATCH_ANNOTATION } from './ownership.ts';
import { prune } from './prune.ts';
import { unreachedOf } from './reachability.ts';
import type { Unreached } from './reachability.ts';
import type { Settings } from './settings.ts';
import { statusOf, statusOfDeletion } from './status.ts';

/** The plan of an environment that is made as it was decided. */
export function writeEnvironment(
  facts: EnvironmentFacts,
  decided: readonly Decision[],
  now: number,
  settings: Settings,
): Plan {
  const { env } = facts;
  const decisions = decided.map((decision) => ({
    ...atMoment(decision, now),
    due: dueRoutes(decision, now, settings),
  }));
  const edits = planEdits(facts, decisions, settings);
  const pruning = prune(facts, decisions, edits, now, settings);
  const warnings = [
    ...facts.unserved.map(messages.notServed),
    ...unusableMatches(facts),
    ...decisions.flatMap(({ routeWarnings }) => routeWarnings),
    ...edits.warnings,
  ];
  const unreached = new Map<Decision, Unreached>();
  for (const decision of decisions) {
    const cause = decision.consumer ? undefined : unreachedOf(decision, facts, edits.services, warnings);
    if (cause !== undefined) unreached.set(decision, cause);
  }
  const status = statusOf(env, { decisions, pruning, routes: edits.statuses, unreached, warnings }, now);
  const loops = decisions.flatMap(({ loop }) => (loop === undefined ? [] : [loop.until - now])).filter((ms) => ms > 0);
  const waits = [...decisions.map(({ due }) => due.waitMs), pruning.waitMs].filter((ms) => ms !== undefined);
  const again = [...waits, ...loops];
  return {
    // Make before break: a clone and its rule are there before a route leads to them, and go after it is gone.
    steps: [...decisions.flatMap(stepsOf), ...edits.steps, ...pruning.steps],
    status,
    events: eventsOf(env, status, {
      warnings: [...warnings, ...decisions.flatMap((each) => each.workloadWarnings), ...pruning.refusals],
      routes: edits.notes,
      early: (settings.routeAfterMs > 0 ? decisions : [])
        .filter((each) => isEarly(each, edits))
        .map((each) => earlyNote(each, settings)),
    }),
    ...(again.length > 0 && { requeueAfterMs: Math.min(...again) }),
  };
}

/**
 * The plan of an environment that is being deleted: routes go first; rules and clones follow once nobody is sent there
 * any more. Routes with the version of one that was refused for it are those of the other one.
 */
export function writeDeletion(facts: EnvironmentFacts, isCollision: boolean, now: number, settings: Settings): Plan {
  const { env } = facts;
  const edits = isCollision ? noEdits() : planEdits(facts, [], settings);
  const pruning = prune(facts, [], edits, now, settings);
  const steps = [...edits.steps, ...pruning.steps];
  if (steps.length === 0 && pruning.gone && pruning.refusals.length === 0) return { finished: true };
  const status = statusOfDeletion(env, pruning);
  return {
    steps,
    status,
    events: eventsOf(env, status, { warnings: pruning.refusals, routes: edits.notes }),
    ...(pruning.waitMs !== undefined && { requeueAfterMs: pruning.waitMs }),
  };
}

/** Whether routes come now, because the time to wait for their clone is up. */
function isEarly(decision: DueDecision, { statuses }: Edits): boolean {
  if (decision.action !== 'route' || decision.startsAt === undefined || decision.due.wait) return false;
  return (statuses.get(decision) ?? []).some(({ status }) => status === 'running');
}

function earlyNote({ cloneStatus, problem }: Decision, { routeAfterMs }: Settings): string {
  return messages.routedEarly(keyOf(cloneStatus), routeAfterMs / 1_000, problem?.message);
}

/** Matches that ask for nothing. Those that a proxy would refuse are errors of the subsets. */
function unusableMatches({ env }: EnvironmentFacts): readonly string[] {
  return (env.spec?.istioMatches ?? []).flatMap((match, i) => {
    const problem = refusedRegexes(match).length > 0 ? undefined : unusable(match);
    return problem === undefined ? [] : [messages.leftOut(i, problem)];
  });
}

/** The steps that make clone and rules what was decided. */
function stepsOf(decision: Decision): readonly Step[] {
  if (decision.action !== 'clone' && decision.action !== 'route') return [];
  const { clone, live, rules } = decision;
  return [
    cloneStep(clone, live),
    ...rules.map((rule) => own(DestinationRule, rule, { takeOverAnnotation: WATCH_ANNOTATION })),
  ];
}

/** How a clone comes to be what is wanted: applied, or written as a whole where the server would not take it so. */
function cloneStep(wanted: Deployment, live: Deployment | undefined): Step {
  if (!hasTwins(wanted)) return own(Deployment, wanted, { takeOverAnnotation: WATCH_ANNOTATION });
  if (live === undefined) return make(Deployment, wanted);
  const { labels, annotations } = wanted.metadata;
  const metadata = {
    ...live.metadata,
    labels: { ...live.metadata.labels, ...labels },
    annotations: { ...live.metadata.annotations, ...annotations },
  };
  return edit(Deployment, live, { ...live, metadata, spec: wanted.spec });
}
