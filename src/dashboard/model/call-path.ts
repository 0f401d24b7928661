// Follows requests from their callers, call by call: where each goes, and by which rule. The picture of an environment
// is two paths from the same callers, without its key and with it.
import { ruleText } from '../../traffic/describe/decision-text.ts';
import { routerOf } from '../../traffic/index.ts';
import type { Decision, Request, Router, Rule } from '../../traffic/index.ts';
import { workloadCaller } from './calls.ts';
import type { Call, Caller } from './calls.ts';
import type { Scope } from './scope.ts';

export interface Step {
  readonly from: string;
  readonly call: Call;
  readonly request: Request;
  readonly decision: Decision;
  /** The workloads that receive it, as `NAMESPACE/KIND/NAME`. */
  readonly to: readonly string[];
}

/** What all requests of a path have in common. */
export interface CallPath {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The subset of an environment: requests are adapted to match its routes, if there are any. */
  readonly version?: string;
}

const MAX_STEPS = 2_000;

/** A router that decides like the cluster's mesh. */
export function routerIn({ facts, settings: { clusterDomain } }: Scope): Router {
  return routerOf(facts, { clusterDomain });
}

/** All steps that start from the callers; each caller is visited once. */
export function followCalls(scope: Scope, starts: readonly Caller[], by: CallPath): readonly Step[] {
  const router = routerIn(scope);
  const steps: Step[] = [];
  const seen = new Set<string>();
  for (const queue = [...starts]; queue.length > 0 && steps.length < MAX_STEPS;) {
    const caller = queue.shift()!;
    if (seen.has(caller.id)) continue;
    seen.add(caller.id);
    for (const call of caller.calls) {
      const step = stepOf(router, caller, call, by);
      steps.push(step);
      for (const key of step.to) {
        const next = seen.has(key) ? undefined : workloadCaller(scope, key);
        if (next !== undefined) queue.push(next);
      }
    }
  }
  return steps;
}

function stepOf(router: Router, { id, source }: Caller, call: Call, { headers, version }: CallPath): Step {
  const plain: Request = { host: call.host, port: call.port, path: '/', headers, source };
  const own = version === undefined ? undefined : ruleOf(router, plain, version);
  const request = own === undefined ? plain : fitting(plain, own);
  const decision = router.decide(request);
  return { from: id, call, request, decision, to: reachedBy(decision) };
}

/** The first route of an environment for a host. */
function ruleOf(router: Router, { source, host, port }: Request, version: string): Rule | undefined {
  const rules = router.rulesFor(source, host, port).tiers.flatMap((tier) => tier.rules);
  return rules.find(
    ({ action }) => action.kind === 'route' && action.destinations.some(({ subset }) => subset === version),
  );
}

/** A request that also matches a route's path and further headers. */
function fitting(request: Request, { match: { path, headers } }: Rule): Request {
  const { exact, prefix } = path?.value ?? {};
  const own = headers.flatMap(({ name, value, negated }) => {
    const required = value.exact ?? value.prefix;
    return negated || name.startsWith(':') || required === undefined ? [] : [[name, required] as const];
  });
  const method = headers.find(({ name }) => name === ':method')?.value.exact;
  return {
    ...request,
    path: exact ?? prefix ?? request.path,
    headers: { ...Object.fromEntries(own), ...request.headers },
    ...(method !== undefined && { method }),
  };
}

/** The workloads that receive a request. */
export function reachedBy(decision: Decision): readonly string[] {
  return decision.kind === 'route' ? [...new Set(decision.destinations.flatMap(({ workloads }) => workloads))] : [];
}

/** The rule behind a decision, in words. */
export function behind({ rule }: Decision): string {
  return rule === undefined ? 'no rule' : ruleText(rule);
}
