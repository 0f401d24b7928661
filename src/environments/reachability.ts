// Whether requests reach the clone of a subset, by the routes as they will be: what `Routed` says of it.
import { isRunning } from './clone-state.ts';
import { keepsRoutes } from './decision.ts';
import type { Decision } from './decision.ts';
import type { DueDecision } from './due.ts';
import { isRouteOfSubset } from './ownership.ts';
import type { Owner } from './ownership.ts';
import { messages } from './messages.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import { takerOf, titleOf } from './shadow.ts';

/** Why no request reaches a clone. */
export interface Unreached {
  readonly reason: 'WaitingForWorkloads' | 'WaitingForRules' | 'RoutesMissing' | 'Shadowed' | 'NotAnswered';
  readonly message: string;
}

/** Why no request reaches the clone of a subset; undefined if requests do. */
export function unreachedOf(
  decision: DueDecision,
  owner: Owner,
  services: ReadonlyMap<string, VirtualService>,
): Unreached | undefined {
  const takers = [...services].flatMap(([key, service]) => takersIn(decision, owner, key, service));
  if (takers.length === 0) return notRouted(decision);
  // One that nobody takes from is enough.
  if (!takers.includes(undefined)) {
    return { reason: 'Shadowed', message: messages.gotNothing([...new Set(takers as string[])]) };
  }
  // Of what is left alone, and nobody has told of before, rules are not known.
  const isUnknown = keepsRoutes(decision) && decision.ruleStatuses.length === 0;
  const isRuled = isUnknown || decision.ruleStatuses.some(({ status }) => status === 'running');
  const unanswered = decision.unanswered ?? (isRuled ? undefined : 'no DestinationRule declares its version');
  return unanswered === undefined ? undefined : { reason: 'NotAnswered', message: messages.unanswered(unanswered) };
}

/** For each route of a VirtualService to the clone: which one takes all of its requests, if any. */
function takersIn({ subset }: Decision, owner: Owner, key: string, service: VirtualService): (string | undefined)[] {
  const http = service.spec?.http ?? [];
  return http.flatMap((route, i) => {
    if (!isRouteOfSubset(owner, subset, service, route)) return [];
    const earlier = http.slice(0, i).filter((each) => !isRouteOfSubset(owner, subset, service, each));
    const taker = takerOf(earlier, route.match ?? [{}]);
    return [taker?.isCertain ? `${titleOf(service, taker.route)} in VirtualService ${key}` : undefined];
  });
}

function notRouted(decision: DueDecision): Unreached {
  const { action, due } = decision;
  const isWaiting = action === 'replace' || (action === 'route' && due.wait);
  if (!isWaiting) return { reason: 'RoutesMissing', message: 'no route leads to it' };
  return isRunning(decision)
    ? { reason: 'WaitingForRules', message: 'not routed yet: its routes wait until proxies know the rules' }
    : { reason: 'WaitingForWorkloads', message: 'not routed yet: its routes wait for the clone' };
}
