// The configuration of a proxy for one host, as data: tiers of ordered rules, each with a match and an action. Made by
// compile/, read by decide.ts; a proof intersects the matches of two rules.
import type { HeaderMatch } from './istio/objects.ts';

type Labels = Readonly<Record<string, string>>;

/** The rules for one host and port, as seen from one namespace or gateway. */
export interface CompiledHost {
  readonly host: string;
  readonly port: number;
  /**
   * One tier for each VirtualService, and a last one for the Service itself. A proxy uses the first tier with a rule
   * that is not excluded for it, and ignores the others. Within it, the first rule that matches decides; without one it
   * is 404.
   */
  readonly tiers: readonly Tier[];
  /** What happens if no tier applies to the caller. */
  readonly otherwise: Otherwise;
}

/**
 * `UnknownHost`: no such host at this gateway, 404. `Passthrough`: the request goes to its original destination.
 * `NotHttp`: the same, as the port is not HTTP. `BlackHole`: 502, as only known hosts are allowed. `NoListener`:
 * nothing listens on the port.
 */
export type Otherwise = 'UnknownHost' | 'Passthrough' | 'NotHttp' | 'BlackHole' | 'NoListener';

export interface Tier {
  /** `NAMESPACE/NAME`; absent for the tier of a Service, and at gateways, where the rules of several are merged. */
  readonly virtualService?: string;
  readonly rules: readonly Rule[];
}

/** One match entry of one route; a route without entries is one rule that matches everything. */
export interface Rule {
  /** `NAMESPACE/NAME` of the root VirtualService; absent for the default rule of a Service. */
  readonly virtualService?: string;
  /** `NAMESPACE/NAME` of the delegate that the route is from. */
  readonly delegate?: string;
  /** The name of the route; with that of the match entry, if it has one. */
  readonly name: string;
  /** The index of the route in its VirtualService or delegate. */
  readonly index: number;
  readonly match: RuleMatch;
  /** Why istiod does not send it to the proxy: it is for another port or gateway. */
  readonly excluded?: string;
  /** Why Envoy refuses it, and with it every update of its port. */
  readonly refused?: string;
  readonly action: Action;
}

/** All conditions must hold. */
export interface RuleMatch {
  /** The callers that istiod sends the rule to. */
  readonly source?: { readonly labels?: Labels; readonly namespace?: string };
  readonly path?: PathCondition;
  /** Includes method, scheme and authority, as `:method`, `:scheme` and `:authority`. Names are in lower case. */
  readonly headers: readonly HeaderCondition[];
  readonly query: readonly QueryCondition[];
}

/** A condition on the path without its query: exact, prefix or regex. */
export interface PathCondition {
  readonly value: HeaderMatch;
  readonly ignoreCase: boolean;
}

export interface HeaderCondition {
  readonly name: string;
  /** If empty, the header only has to be present. */
  readonly value: HeaderMatch;
  /** The condition must not hold. An absent header then counts as empty, unless only presence is excluded. */
  readonly negated: boolean;
}

export interface QueryCondition {
  readonly name: string;
  /** If empty, the parameter only has to be present. */
  readonly value: HeaderMatch;
}

export type Action = RouteAction | RedirectAction | ResponseAction;

export interface RouteAction {
  readonly kind: 'route';
  /** The destinations that get requests: those with a weight above zero, or the only one. */
  readonly destinations: readonly Destination[];
  readonly rewrite?: Rewrite;
  readonly mirrors: readonly Mirror[];
  /** The timeout of the route, if it has one. */
  readonly timeout?: string;
  readonly retries: Retries;
  readonly fault?: Fault;
}

export interface Destination extends Target {
  /** In percent. */
  readonly weight: number;
  /** The header operations, in the order in which they are applied. */
  readonly requestHeaders: readonly HeaderStep[];
  readonly responseHeaders: readonly HeaderStep[];
  /** The Host header that replaces the one of the request. */
  readonly authority?: string;
}

/** A resolved destination, and the workloads that answer there. */
export interface Target {
  /** The full name. */
  readonly host: string;
  readonly subset?: string;
  readonly port: number;
  /** `External`: outside the cluster. All outcomes except `Reached` and `External` are answered with 503. */
  readonly outcome: 'Reached' | 'External' | 'UnknownHost' | 'MissingSubset' | 'NoEndpoints';
  /** The workloads that answer, as `NAMESPACE/KIND/NAME`. */
  readonly workloads: readonly string[];
}

export interface Mirror extends Target {
  readonly percentage: number;
}

export interface HeaderStep {
  readonly op: 'remove' | 'set' | 'add';
  readonly name: string;
  readonly value?: string;
}

export interface Rewrite {
  /** Replaces the part of the path that matched. */
  readonly path?: string;
  readonly regex?: { readonly match: string; readonly rewrite: string };
}

export interface Retries {
  readonly attempts: number;
  readonly on: string;
  readonly perTryTimeout?: string;
}

export interface Fault {
  readonly abort?: { readonly status?: number; readonly grpcStatus?: string; readonly percentage: number };
  readonly delay?: { readonly time: string; readonly percentage: number };
}

export interface RedirectAction {
  readonly kind: 'redirect';
  readonly status: number;
  readonly scheme?: string;
  readonly authority?: string;
  readonly port?: number;
  /** Replaces the whole path. */
  readonly path?: string;
  /** Replaces the part of the path that matched. */
  readonly prefixRewrite?: string;
  readonly responseHeaders: readonly HeaderStep[];
  readonly fault?: Fault;
}

export interface ResponseAction {
  readonly kind: 'response';
  readonly status: number;
  readonly body?: string;
  readonly responseHeaders: readonly HeaderStep[];
  readonly fault?: Fault;
}
