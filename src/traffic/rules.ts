// What istiod tells a proxy about one host, as data: tiers of ordered rules, each with a match and what it does. Made by
// compile/, read by decide.ts; a proof intersects the matches of two of them.
import type { HeaderMatch } from './istio/objects.ts';

type Labels = Readonly<Record<string, string>>;

/** The rules for one host and port, as seen from one namespace or gateway. */
export interface CompiledHost {
  readonly host: string;
  readonly port: number;
  /**
   * A VirtualService each, and at last the Service itself. A proxy goes by the first tier with a rule that it is told
   * of: the others do not exist for it. Within it, the first rule that fits decides, and none means 404.
   */
  readonly tiers: readonly Tier[];
  /** What happens when there is no tier for the caller. */
  readonly otherwise: Otherwise;
}

/**
 * `UnknownHost`: no such host at this gateway, 404. `Passthrough`: the request goes where it was addressed to. `NotHttp`:
 * the same, as the port is not one of HTTP. `BlackHole`: 502, as only known hosts are allowed. `NoListener`: nobody
 * answers.
 */
export type Otherwise = 'UnknownHost' | 'Passthrough' | 'NotHttp' | 'BlackHole' | 'NoListener';

export interface Tier {
  /** `NAMESPACE/NAME`; absent for what a Service gets without any, and at gateways, where the rules of several are joined. */
  readonly virtualService?: string;
  readonly rules: readonly Rule[];
}

/** One match entry of one route; a route without entries is one rule that matches everything. */
export interface Rule {
  /** `NAMESPACE/NAME` of the VirtualService with the hosts; absent for what a Service gets without any. */
  readonly virtualService?: string;
  /** `NAMESPACE/NAME` of the delegate that the route is from. */
  readonly delegate?: string;
  /** The name of the route; with that of the match entry, if it has one. */
  readonly name: string;
  /** Where the route is among those of its VirtualService or delegate. */
  readonly index: number;
  readonly match: RuleMatch;
  /** Why the proxy is not told of it: it is for another port or gateway. */
  readonly excluded?: string;
  /** Why Envoy refuses it, and with it every update of its port. */
  readonly refused?: string;
  readonly action: Action;
}

/** All of it must hold. */
export interface RuleMatch {
  /** What istiod looks at: who is told of the rule. */
  readonly source?: { readonly labels?: Labels; readonly namespace?: string };
  readonly path?: PathCondition;
  /** Method, scheme and authority are among them, as `:method`, `:scheme` and `:authority`. Names are in lower case. */
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
  /** Without any form it asks only that the header is there. */
  readonly value: HeaderMatch;
  /** Must not hold. A header that is not there counts as empty then, unless only its presence is asked for. */
  readonly negated: boolean;
}

export interface QueryCondition {
  readonly name: string;
  /** Without any form it asks only that the parameter is there. */
  readonly value: HeaderMatch;
}

export type Action = RouteAction | RedirectAction | ResponseAction;

export interface RouteAction {
  readonly kind: 'route';
  /** Those that get requests: with a weight above zero, or the only one. */
  readonly destinations: readonly Destination[];
  readonly rewrite?: Rewrite;
  readonly mirrors: readonly Mirror[];
  /** As in the route; none unless it says so. */
  readonly timeout?: string;
  readonly retries: Retries;
  readonly fault?: Fault;
}

export interface Destination extends Target {
  /** In percent. */
  readonly weight: number;
  /** What is done to the headers, in this order. */
  readonly requestHeaders: readonly HeaderStep[];
  readonly responseHeaders: readonly HeaderStep[];
  /** The host that the workload is told of instead of the request's own. */
  readonly authority?: string;
}

/** Where a request can be sent to, and who is there. */
export interface Target {
  /** In full. */
  readonly host: string;
  readonly subset?: string;
  readonly port: number;
  /** `External`: outside the cluster. All but it and `Reached` answer with 503. */
  readonly outcome: 'Reached' | 'External' | 'UnknownHost' | 'MissingSubset' | 'NoEndpoints';
  /** Those that answer, as `NAMESPACE/KIND/NAME`. */
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
  /** Takes the place of what the match on the path fits. */
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
  /** Takes the place of the path; or of what the match on the path fits. */
  readonly path?: string;
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
