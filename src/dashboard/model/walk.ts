// Follows requests from those who send them, call by call: where each goes, and by which rule. The picture of an
// environment is two walks over the same callers, without its key and with it.
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
  /** The workloads that get it, as `NAMESPACE/KIND/NAME`. */
  readonly to: readonly string[];
}

/** What is the same for all requests of a walk. */
export interface Walk {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The subset of an environment: requests are made to fit its routes, where there are any. */
  readonly version?: string;
}

const MOST_STEPS = 2_000;

/** Decides as the mesh of the cluster does. */
export function routerIn({ facts, settings: { clusterDomain } }: Scope): Router {
  return routerOf(facts, { clusterDomain });
}

/** All steps from some callers on, each caller once. */
export function walk(scope: Scope, starts: readonly Caller[], by: Walk): readonly Step[] {
  const router = routerIn(scope);
  const steps: Step[] = [];
  const seen = new Set<string>();
  for (const queue = [...starts]; queue.length > 0 && steps.length < MOST_STEPS;) {
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

function stepOf(router: Router, { id, source }: Caller, call: Call, { headers, version }: Walk): Step {
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

/** A request that also fits what a route asks of the path, and of headers beside the key. */
function fitting(request: Request, { match: { path, headers } }: Rule): Request {
  const { exact, prefix } = path?.value ?? {};
  const own = headers.flatMap(({ name, value, negated }) => {
    const wanted = value.exact ?? value.prefix;
    return negated || name.startsWith(':') || wanted === undefined ? [] : [[name, wanted] as const];
  });
  const method = headers.find(({ name }) => name === ':method')?.value.exact;
  return {
    ...request,
    path: exact ?? prefix ?? request.path,
    headers: { ...Object.fromEntries(own), ...request.headers },
    ...(method !== undefined && { method }),
  };
}

/** The workloads that get a request. */
export function reachedBy(decision: Decision): readonly string[] {
  return decision.kind === 'route' ? [...new Set(decision.destinations.flatMap(({ workloads }) => workloads))] : [];
}

/** The rule behind a decision, in words. */
export function behind({ rule }: Decision): string {
  return rule === undefined ? 'no rule' : ruleText(rule);
}
