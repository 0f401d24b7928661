// A decision as programs read it: `offshoot explain -o json`.
import type { Considered, Decision, Redirected, Responded, Routed } from '../decide.ts';
import type { Mismatch } from '../fits.ts';
import type { Fault, HeaderStep, Retries, Rule, Target } from '../rules.ts';
import { mismatchText } from './mismatch-text.ts';

export interface DecisionData {
  readonly kind: Decision['kind'];
  /** What the proxy answers; absent where a workload does. */
  readonly status?: number;
  /** `NAMESPACE/NAME` of the VirtualService that decided. */
  readonly virtualService?: string;
  /** Of the route that decided. */
  readonly delegate?: string;
  readonly route?: string;
  readonly destinations: readonly DestinationData[];
  /** Why the proxy answers itself, or passes the request through. */
  readonly reason?: string;
  readonly location?: string;
  readonly body?: string;
  /** The path that the workload gets. */
  readonly path?: string;
  readonly timeout?: string;
  readonly retries?: Retries;
  readonly fault?: Fault;
  readonly mirrors?: readonly (TargetData & { readonly percentage: number })[];
  readonly responseHeaders?: readonly HeaderStep[];
  /** VirtualServices for the host that do not count. */
  readonly superseded?: readonly string[];
}

interface TargetData {
  readonly host: string;
  readonly subset?: string;
  readonly port: number;
  readonly outcome: Target['outcome'];
  readonly workloads: readonly string[];
}

interface DestinationData extends TargetData {
  readonly weight: number;
  readonly authority?: string;
  readonly requestHeaders?: readonly HeaderStep[];
  readonly responseHeaders?: readonly HeaderStep[];
}

export interface RuleData {
  readonly virtualService?: string;
  readonly delegate?: string;
  readonly route: string;
}

export interface ConsideredData extends RuleData {
  readonly matched: boolean;
  /** Why it did not take the request, in words. */
  readonly reason?: string;
  /** The condition that the request does not fit, as the VirtualService has it, and what the request has. */
  readonly mismatch?: Mismatch;
}

/** A decision without what led to it. */
export function decisionData(decision: Decision): DecisionData {
  const { rule, superseded } = decision;
  const by = { ...(rule && ruleData(rule)), ...(superseded.length > 0 && { superseded }) };
  switch (decision.kind) {
    case 'route':
      return routedData(decision, by);
    case 'redirect': {
      const { kind, status, location } = decision;
      return { kind, status, ...by, destinations: [], location, ...answerData(decision) };
    }
    case 'response': {
      const { kind, status, reason, body } = decision;
      const text = body === undefined ? {} : { body };
      return { kind, status, ...by, destinations: [], reason, ...text, ...answerData(decision) };
    }
    case 'passthrough': {
      const { kind, reason } = decision;
      return { kind, ...by, destinations: [], reason };
    }
  }
}

function routedData(
  { kind, status, destinations, path, timeout, retries, fault, mirrors }: Routed,
  by: Partial<DecisionData>,
): DecisionData {
  return {
    kind,
    ...(status && { status }),
    ...by,
    destinations: destinations.map((each) => ({
      ...targetData(each),
      weight: each.weight,
      ...(each.authority && { authority: each.authority }),
      ...(each.requestHeaders.length > 0 && { requestHeaders: each.requestHeaders }),
      ...(each.responseHeaders.length > 0 && { responseHeaders: each.responseHeaders }),
    })),
    path,
    ...(timeout && { timeout }),
    retries,
    ...(fault && { fault }),
    ...(mirrors.length > 0 && {
      mirrors: mirrors.map((each) => ({ ...targetData(each), percentage: each.percentage })),
    }),
  };
}

/** What else there is to an answer of the proxy itself. */
function answerData({
  fault,
  responseHeaders,
}: Redirected | Responded): Pick<DecisionData, 'fault' | 'responseHeaders'> {
  return { ...(fault && { fault }), ...(responseHeaders.length > 0 && { responseHeaders }) };
}

function targetData({ host, subset, port, outcome, workloads }: Target): TargetData {
  return { host, ...(subset && { subset }), port, outcome, workloads };
}

/** The rules that were looked at, in order, and why those before the last did not take the request. */
export function consideredData(considered: readonly Considered[]): readonly ConsideredData[] {
  return considered.map(({ rule, mismatch }) => ({
    ...ruleData(rule),
    matched: mismatch === undefined,
    ...(mismatch && { reason: mismatchText(mismatch), mismatch }),
  }));
}

/** Where a rule is written. */
export function ruleData(rule: Rule): RuleData {
  const { virtualService, delegate } = rule;
  return { ...(virtualService && { virtualService }), ...(delegate && { delegate }), route: routeLabel(rule) };
}

/** The name of a route, or its place where it has none. */
export function routeLabel({ name, index }: Rule): string {
  return name === '' ? `http[${index}]` : name;
}
