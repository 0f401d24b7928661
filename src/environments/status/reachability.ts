// Whether requests reach the clone of a subset with the current routes, for the condition `Routed`.
import { isRunning } from '../clone/clone-state.ts';
import { errorsOf, keepsRoutes } from '../decision.ts';
import type { DueDecision } from '../routes/due.ts';
import type { ObservedRoutes } from '../routes/observe.ts';
import { isRouteOfSubset } from '../../traffic/istio/inserted-routes.ts';
import type { EnvironmentFacts } from '../facts.ts';
import { isAsleep } from '../lifecycle/sleep.ts';
import { isPaused } from '../lifecycle/paused.ts';
import { messages } from './messages.ts';
import type { ReasonOf } from '../reasons.ts';
import type { Settings } from '../settings.ts';
import { obstaclesIn } from '../routes/obstacles.ts';
import type { Obstacle } from '../routes/obstacles.ts';

type RouteDeadline = Pick<Settings, 'routeAfterMs'>;

/** Why no request reaches a clone. */
export interface Unreached {
  readonly reason: Exclude<ReasonOf<'Routed'>, 'Routed' | 'RoutedWithWarnings' | 'NothingToRoute'>;
  readonly message: string;
}

/** Why no request reaches the clone of a subset; undefined if requests do. */
export function unreachedOf(
  decision: DueDecision,
  { env, owner, roots }: Pick<EnvironmentFacts, 'env' | 'owner' | 'roots'>,
  { services, pending }: Pick<ObservedRoutes, 'services' | 'pending'>,
  warnings: readonly string[],
  settings: RouteDeadline,
): Unreached | undefined {
  const { subset } = decision;
  const obstacles = [...services].flatMap(([key, service]) =>
    obstaclesIn(service, (route) => isRouteOfSubset(owner, subset, service, route), roots.get(key)),
  );
  if (obstacles.length === 0 && isPaused(env)) return { reason: 'Paused', message: 'not routed: it is paused' };
  if (obstacles.length === 0 && isAsleep(env)) return { reason: 'Asleep', message: 'not routed: it is asleep' };
  if (obstacles.length === 0) return notRouted(decision, pending, warnings, settings);
  // One route without an obstacle is enough.
  if (!obstacles.includes(undefined)) return outcomeOf(obstacles as readonly Obstacle[]);
  // If the subset is left alone and has no rules in the status, they are not known.
  const isUnknown = keepsRoutes(decision) && decision.ruleStatuses.length === 0;
  const isRuled = isUnknown || decision.ruleStatuses.some(({ status }) => status === 'running');
  const unanswered = decision.unanswered ?? (isRuled ? undefined : 'no DestinationRule declares its version');
  return unanswered === undefined ? undefined : { reason: 'NotAnswered', message: messages.unanswered(unanswered) };
}

function outcomeOf(obstacles: readonly Obstacle[]): Unreached {
  const [takers, ignored] = [
    [...new Set(obstacles.flatMap((each) => ('taker' in each ? [each.taker] : [])))],
    [...new Set(obstacles.flatMap((each) => ('ignored' in each ? [each.ignored] : [])))],
  ];
  if (ignored.length === 0) return { reason: 'Shadowed', message: messages.gotNothing(takers) };
  return { reason: 'RoutesIgnored', message: messages.withoutEffect([...ignored, ...takers.map(messages.takenBy)]) };
}

function notRouted(
  decision: DueDecision,
  pending: ReadonlySet<string>,
  warnings: readonly string[],
  settings: RouteDeadline,
): Unreached {
  const { action, due, key } = decision;
  if (!due.wait && pending.size > 0) {
    return { reason: 'WaitingForRoutes', message: 'not routed yet: its routes are about to be written' };
  }
  const isWaiting = action === 'replace' || (action === 'route' && due.wait);
  if (!isWaiting) {
    const why = [...errorsOf(decision), ...warnings].find(
      (text) => text.startsWith('istioMatches[') || text.endsWith(`(${key})`),
    );
    return { reason: 'RoutesMissing', message: messages.notRouted(why) };
  }
  return isRunning(decision) && decision.unanswered === undefined
    ? {
        reason: 'WaitingForRules',
        message: 'not routed yet: its routes wait until proxies have picked up its rules and pods',
      }
    : { reason: 'WaitingForWorkloads', message: messages.waitsForClone(settings.routeAfterMs / 1_000) };
}
