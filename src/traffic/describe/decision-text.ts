// A decision in words, rule by rule: the output of `offshoot explain`.
import type { Considered, Decision, Responded } from '../decide.ts';
import type { Destination, Fault, Rule, Target } from '../rules.ts';
import { routeLabel } from './decision-data.ts';
import { mismatchText } from './mismatch-text.ts';

/** Where a request goes and which rule decided it, in a few lines. */
export function decisionLines(decision: Decision): string[] {
  const by = decision.rule === undefined ? [] : [`by ${ruleText(decision.rule)}`];
  return [...outcomeLines(decision), ...by];
}

/** The rules that were evaluated, in order, each with whether it matched and why not. */
export function consideredLines({ considered, superseded }: Decision): string[] {
  const inOrder = considered.map(
    ({ rule, mismatch }) => `${mismatch === undefined ? '✓' : '✗'} ${ruleText(rule)}: ${verdictText(mismatch)}`,
  );
  const others = superseded.map((each) => `- VirtualService ${each} is ignored: another one comes first for this host`);
  return [...inOrder, ...others];
}

function verdictText(mismatch: Considered['mismatch']): string {
  return mismatch === undefined ? 'takes the request' : mismatchText(mismatch);
}

/** A rule by its source: `route "canary" of VirtualService shop/reviews`. */
export function ruleText(rule: Rule): string {
  const { virtualService, delegate, name } = rule;
  if (virtualService === undefined) {
    return name === 'default' ? 'the Service itself, without a VirtualService' : `${name} of the Gateway`;
  }
  const from = delegate === undefined ? '' : `, in its delegate ${delegate}`;
  const label = name === '' ? `route ${routeLabel(rule)}` : `route "${name}"`;
  return `${label} of VirtualService ${virtualService}${from}`;
}

const RESPONSES: Readonly<Record<Responded['reason'], string>> = {
  DirectResponse: 'as the route says (directResponse)',
  FaultAbort: 'as the route aborts every request (fault)',
  NoRoute: 'as no route of the VirtualService takes the request',
  UnknownHost: 'as the gateway has no such host',
  BlackHole: 'as the mesh only lets callers reach known hosts (REGISTRY_ONLY)',
  NoListener: 'as the gateway does not listen on this port for this host',
};

function outcomeLines(decision: Decision): string[] {
  switch (decision.kind) {
    case 'route': {
      const { destinations, status, path, rule, mirrors, timeout, fault } = decision;
      const isRewritten = rule.action.kind === 'route' && rule.action.rewrite !== undefined;
      const all = destinations.map((each) => `→ ${shareText(each, destinations.length)}${targetText(each)}`);
      return [
        ...(status === undefined ? [] : [`is answered with ${status}: no destination can answer`]),
        ...all,
        ...(isRewritten ? [`with the path ${path}`] : []),
        ...mirrors.map((each) => `a copy of ${each.percentage}% → ${targetText(each)}`),
        ...(timeout === undefined ? [] : [`within ${timeout}`]),
        ...faultLines(fault),
      ];
    }
    case 'redirect':
      return [`is redirected with ${decision.status} to ${decision.location}`, ...faultLines(decision.fault)];
    case 'response': {
      const { status, reason, body } = decision;
      const answer = status === 0 ? 'gets no connection' : `is answered with ${status}`;
      return [`${answer}, ${RESPONSES[reason]}${body === undefined ? '' : `: ${body}`}`, ...faultLines(decision.fault)];
    }
    case 'passthrough':
      return [
        decision.reason === 'NotHttp'
          ? 'passes through: the port is not HTTP, so no route applies'
          : 'passes through to where it is addressed: the mesh knows no such host on this port',
      ];
  }
}

function shareText({ weight }: Destination, count: number): string {
  return count > 1 ? `${weight}% ` : '';
}

const LOST: Readonly<Record<Exclude<Target['outcome'], 'Reached'>, string>> = {
  External: 'outside of the cluster',
  UnknownHost: '503, as there is no such host',
  MissingSubset: '503, as no DestinationRule has this subset',
  NoEndpoints: '503, as no pod of it is ready',
};

/** A destination and the workloads that answer there. */
export function targetText({ host, subset, port, outcome, workloads }: Target): string {
  const who = outcome === 'Reached' ? workloads.join(', ') : LOST[outcome];
  return `${host}:${port}${subset === undefined ? '' : `, subset ${subset}`}: ${who}`;
}

function faultLines(fault: Fault | undefined): string[] {
  const { abort, delay } = fault ?? {};
  return [
    ...(abort === undefined ? [] : [`${abort.percentage}% are answered with ${abort.status ?? abort.grpcStatus}`]),
    ...(delay === undefined ? [] : [`${delay.percentage}% are delayed by ${delay.time}`]),
  ];
}
