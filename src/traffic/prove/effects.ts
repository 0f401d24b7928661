// Compares the outcome of a request in two worlds: the same, the same except for the version, or something else.
import type { IstioMatch } from '../../api/dynamicenv.ts';
import type { Ref } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import type { Decision } from '../decide.ts';
import { RESPONSE_HEADER } from '../istio/insert-routes.ts';
import type { Destination, Rule } from '../rules.ts';

/** The parts of an environment that affect routing. */
export interface ProvenEnvironment {
  /** The subset that its routes lead to. */
  readonly version: string;
  /** A request that matches one of these carries its key. */
  readonly matches: readonly IstioMatch[];
  /** The full names of all Services and ServiceEntries that select its pods. */
  readonly hosts: readonly string[];
  readonly workloads: readonly {
    /** The full names of the Services that select the base workload. */
    readonly hosts: readonly string[];
    /** The subset of the base workload. */
    readonly defaultVersion: string;
  }[];
  /** The VirtualServices that differ between the two worlds. */
  readonly virtualServices: readonly Ref[];
}

export interface Effect {
  /** Equal for rules that have the same effect on every request. */
  readonly id: string;
  readonly rule?: Rule;
}

/** The effect of a rule on every request that it takes. */
export function effectOf(rule: Rule): Effect {
  const { action } = rule;
  const abort = action.fault?.abort;
  if (abort?.status !== undefined && abort.percentage >= 100 && action.kind !== 'route') {
    return { id: JSON.stringify([abort.status, action.responseHeaders]), rule };
  }
  return { id: JSON.stringify([action, replacedPath(rule)]), rule };
}

/** The part of the path that a rule replaces; null if it replaces nothing. */
function replacedPath({ action, match: { path } }: Rule): unknown {
  const isReplacing =
    (action.kind === 'route' && action.rewrite?.path !== undefined) ||
    (action.kind === 'redirect' && action.prefixRewrite !== undefined);
  return isReplacing ? (path === undefined ? '/' : (path.value.prefix ?? null)) : null;
}

/** How an outcome changes. Requests with the key of an environment may change version; `other` is a violation. */
export type Change = 'same' | 'version' | 'other';

/** How the effect of a rule changes between the two worlds. */
export function changeOf(before: Effect, after: Effect, environment: ProvenEnvironment): Change {
  if (before.id === after.id) return 'same';
  if (before.rule === undefined || after.rule === undefined) return 'other';
  return isVersionOf(before.rule, after.rule, environment) ? 'version' : 'other';
}

const INSERTED = /dynamic-environment-.+-[\da-f]{10}/;

/** Whether some environment inserted the route of a rule. */
export function isInsertedRule(rule: Rule | undefined): boolean {
  return rule !== undefined && INSERTED.test(rule.name);
}

/** Whether a rule has the effect of another one, with the environment's version in place of the previous version. */
function isVersionOf(before: Rule, after: Rule, environment: ProvenEnvironment): boolean {
  const [was, is] = [before.action, after.action];
  if (was.kind !== 'route' || is.kind !== 'route') return false;
  const { destinations: all, ...rest } = was;
  const { destinations: clones, ...others } = is;
  if (!jsonEqual(rest, others) || !jsonEqual(replacedPath(before), replacedPath(after))) return false;
  // A request with the keys of two environments goes to the one whose route comes first.
  const isAnothers = isInsertedRule(before);
  const bases = isAnothers ? all : all.filter((each) => isBase(each, environment));
  return (
    bases.length > 0 &&
    bases.length === clones.length &&
    bases.every((base, i) => isCloneOf(base, clones[i]!, environment.version))
  );
}

/** Whether a destination is the base workload of an environment. */
export function isBase({ host, subset }: Destination, { workloads }: ProvenEnvironment): boolean {
  return workloads.some(({ hosts, defaultVersion }) => subset === defaultVersion && hosts.includes(host));
}

/** A clone without endpoints or without a subset does not affect other requests: a note mentions it. */
function isCloneOf(base: Destination, clone: Destination, version: string): boolean {
  const comparable = ({
    responseHeaders,
    subset: _subset,
    outcome: _outcome,
    workloads: _workloads,
    weight: _weight,
    ...rest
  }: Destination) => ({
    ...rest,
    responseHeaders: responseHeaders.filter(({ name }) => name !== RESPONSE_HEADER),
  });
  return clone.subset === version && jsonEqual(comparable(base), comparable(clone));
}

/** The part of a decision that a caller can observe. */
function observable(decision: Decision): unknown {
  const { considered: _considered, rule: _rule, superseded: _superseded, ...rest } = decision;
  return rest;
}

/** How the decision about one request changes between the two worlds. */
export function decidedChange(before: Decision, after: Decision, environment: ProvenEnvironment): Change {
  if (jsonEqual(observable(before), observable(after))) return 'same';
  if (before.rule === undefined || after.rule === undefined) return 'other';
  if (before.kind === 'response' && after.kind === 'response' && before.reason === 'FaultAbort') {
    return isVersionOf(before.rule, after.rule, environment) ? 'version' : 'other';
  }
  if (before.kind !== 'route' || after.kind !== 'route' || before.path !== after.path) return 'other';
  return isVersionOf(before.rule, after.rule, environment) ? 'version' : 'other';
}
