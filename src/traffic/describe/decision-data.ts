// A decision as data: `offshoot explain -o json`.
import type { Considered, Decision, Redirected, Responded, Routed } from '../decide.ts';
import type { Mismatch } from '../fits.ts';
import type { Fault, HeaderStep, Retries, Rule, Target } from '../rules.ts';
import { mismatchText } from './mismatch-text.ts';

export interface DecisionData {
  readonly kind: Decision['kind'];
  /** The status that the proxy answers with; absent if a workload answers. */
  readonly status?: number;
  /** `NAMESPACE/NAME` of the VirtualService of the route. */
  readonly virtualService?: string;
  /** `NAMESPACE/NAME` of the delegate that the route is from. */
  readonly delegate?: string;
  readonly route?: string;
  readonly destinations: readonly DestinationData[];
  /** Why the proxy answers the request itself, or passes it through. */
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
  /** VirtualServices for the host that are ignored. */
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
  /** Why it did not match, in words. */
  readonly reason?: string;
  /** The condition of the VirtualService that failed, and what the request has. */
  readonly mismatch?: Mismatch;
}

/** A decision without the rules that were evaluated. */
export function decisionData(decision: Decision): DecisionData {
  const { rule, superseded } = decision;
  const by = { ...(rule && ruleData(rule)), ...(superseded.length > 0 && { superseded }) };
  switch (decision.kind) {
    case 'route':
      return routedData(decision, by);
    case 'redirect': {
      const { kind, status, location } = decision;
      return { kind, status, ...by, destinations: [], location, ...responseData(decision) };
    }
    case 'response': {
      const { kind, status, reason, body } = decision;
      const text = body === undefined ? {} : { body };
      return { kind, status, ...by, destinations: [], reason, ...text, ...responseData(decision) };
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

/** The fault and the response headers of an answer of the proxy. */
function responseData({
  fault,
  responseHeaders,
}: Redirected | Responded): Pick<DecisionData, 'fault' | 'responseHeaders'> {
  return { ...(fault && { fault }), ...(responseHeaders.length > 0 && { responseHeaders }) };
}

function targetData({ host, subset, port, outcome, workloads }: Target): TargetData {
  return { host, ...(subset && { subset }), port, outcome, workloads };
}

/** The rules that were evaluated, in order, and why each of them did not match. */
export function consideredData(considered: readonly Considered[]): readonly ConsideredData[] {
  return considered.map(({ rule, mismatch }) => ({
    ...ruleData(rule),
    matched: mismatch === undefined,
    ...(mismatch && { reason: mismatchText(mismatch), mismatch }),
  }));
}

/** The VirtualService, delegate and route of a rule. */
export function ruleData(rule: Rule): RuleData {
  const { virtualService, delegate } = rule;
  return { ...(virtualService && { virtualService }), ...(delegate && { delegate }), route: routeLabel(rule) };
}

/** The name of a route, or its index if it has none. */
export function routeLabel({ name, index }: Rule): string {
  return name === '' ? `http[${index}]` : name;
}
