// Where a request goes, and why: evaluates the rules of a host in order, as Envoy does.
import { exclusionFor, mismatchOf } from './fits.ts';
import type { Mismatch } from './fits.ts';
import { normalized, splitPath } from './request.ts';
import type { Request } from './request.ts';
import { locationOf, rewrittenPath } from './rewrite.ts';
import type { CompiledHost, Destination, Fault, HeaderStep, Mirror, Otherwise, Retries, Rule, Tier } from './rules.ts';

export type Decision = Routed | Redirected | Responded | PassedThrough;

/** How the decision was made. */
interface Reasons {
  /** Every rule that was evaluated, in order; the last is the one that matched, if any. */
  readonly considered: readonly Considered[];
  /** The rule that matched. */
  readonly rule?: Rule;
  /** VirtualServices for the host that are ignored, as another takes precedence: `NAMESPACE/NAME`. */
  readonly superseded: readonly string[];
}

export interface Considered {
  readonly rule: Rule;
  /** Why it did not match; absent for the rule that did. */
  readonly mismatch?: Mismatch;
}

export interface Routed extends Reasons {
  readonly kind: 'route';
  readonly rule: Rule;
  readonly destinations: readonly Destination[];
  /** Set if no destination can answer. */
  readonly status?: 503;
  /** The path that the workload gets, with the query. */
  readonly path: string;
  readonly mirrors: readonly Mirror[];
  readonly timeout?: string;
  readonly retries: Retries;
  /** A fault that is injected into some of the requests. */
  readonly fault?: Fault;
}

export interface Redirected extends Reasons {
  readonly kind: 'redirect';
  readonly rule: Rule;
  readonly status: number;
  readonly location: string;
  readonly responseHeaders: readonly HeaderStep[];
  readonly fault?: Fault;
}

/** The proxy answers the request itself. */
export interface Responded extends Reasons {
  readonly kind: 'response';
  readonly reason: 'DirectResponse' | 'FaultAbort' | 'NoRoute' | Exclude<Otherwise, 'Passthrough' | 'NotHttp'>;
  /** 0 if nothing listens on the port. */
  readonly status: number;
  readonly body?: string;
  readonly responseHeaders: readonly HeaderStep[];
  readonly fault?: Fault;
}

/** The request goes to its original destination, as if there were no mesh. */
export interface PassedThrough extends Reasons {
  readonly kind: 'passthrough';
  readonly reason: 'UnknownHost' | 'NotHttp';
}

/** Evaluates a request against the rules for its host, port and source. */
export function decide({ tiers, otherwise }: CompiledHost, sent: Request): Decision {
  const request = normalized(sent);
  const considered: Considered[] = [];
  for (const [at, tier] of tiers.entries()) {
    if (tier.rules.some((rule) => exclusionFor(rule, request) === undefined)) {
      const superseded = tiers.slice(at + 1).flatMap(({ virtualService }) => virtualService ?? []);
      return decideInTier(tier, request, considered, superseded);
    }
    for (const rule of tier.rules) considered.push({ rule, mismatch: exclusionFor(rule, request)! });
  }
  return withoutRules(otherwise, { considered, superseded: [] });
}

/** Applies the first rule of a tier that matches. */
function decideInTier(
  { rules }: Tier,
  request: Request,
  considered: Considered[],
  superseded: readonly string[],
): Decision {
  const parts = splitPath(request.path);
  for (const rule of rules) {
    const mismatch = exclusionFor(rule, request) ?? mismatchOf(rule, request, parts);
    considered.push(mismatch === undefined ? { rule } : { rule, mismatch });
    if (mismatch === undefined) return applyRule(rule, request, { considered, superseded });
  }
  return { kind: 'response', reason: 'NoRoute', status: 404, responseHeaders: [], considered, superseded };
}

const STATUS = { UnknownHost: 404, BlackHole: 502, NoListener: 0 } as const;

function withoutRules(otherwise: Otherwise, reasons: Reasons): Decision {
  if (otherwise === 'Passthrough') return { kind: 'passthrough', reason: 'UnknownHost', ...reasons };
  if (otherwise === 'NotHttp') return { kind: 'passthrough', reason: otherwise, ...reasons };
  return { kind: 'response', reason: otherwise, status: STATUS[otherwise], responseHeaders: [], ...reasons };
}

/** Applies the action of a rule to a request. */
function applyRule(rule: Rule, request: Request, from: Reasons): Decision {
  const { action, match } = rule;
  const reasons = { ...from, rule };
  const abort = action.fault?.abort;
  if (abort?.status !== undefined && abort.percentage >= 100) {
    const { status } = abort;
    const responseHeaders = action.kind === 'route' ? commonSteps(action.destinations) : action.responseHeaders;
    return { kind: 'response', reason: 'FaultAbort', status, responseHeaders, ...reasons };
  }
  const fault = action.fault && { fault: action.fault };
  switch (action.kind) {
    case 'redirect': {
      const { status, responseHeaders } = action;
      const location = locationOf(action, request, match.path);
      return { kind: 'redirect', status, location, responseHeaders, ...fault, ...reasons };
    }
    case 'response': {
      const { kind, status, body, responseHeaders } = action;
      return { kind, reason: 'DirectResponse', status, ...(body && { body }), responseHeaders, ...fault, ...reasons };
    }
    case 'route': {
      const { kind, destinations, mirrors, timeout, retries, rewrite } = action;
      return {
        kind,
        destinations,
        ...(destinations.every(isUnavailable) && { status: 503 as const }),
        path: rewrittenPath(request.path, rewrite, match.path),
        mirrors,
        ...(timeout && { timeout }),
        retries,
        ...fault,
        ...reasons,
      };
    }
  }
}

function isUnavailable({ outcome }: Destination): boolean {
  return outcome !== 'Reached' && outcome !== 'External';
}

/** The header operations on the response that all destinations have in common. */
function commonSteps([first, ...others]: readonly Destination[]): readonly HeaderStep[] {
  const steps = first?.responseHeaders ?? [];
  return steps.filter((step) =>
    others.every(({ responseHeaders }) =>
      responseHeaders.some(({ op, name, value }) => op === step.op && name === step.name && value === step.value),
    ),
  );
}
