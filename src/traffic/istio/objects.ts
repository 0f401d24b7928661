// The Istio objects that route requests, with the fields that are read or edited here. Other fields are preserved.
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';

type Labels = Readonly<Record<string, string>>;

/** All Istio kinds in the version that every supported Istio serves. */
const VERSION = 'networking.istio.io/v1beta1';

export interface RuleSubset {
  readonly name: string;
  readonly labels?: Labels;
  readonly trafficPolicy?: unknown;
}

export interface DestinationRule extends KubeObject {
  readonly spec?: {
    readonly host?: string;
    readonly subsets?: readonly RuleSubset[];
    readonly exportTo?: readonly string[];
    readonly workloadSelector?: { readonly matchLabels?: Labels };
    readonly [field: string]: unknown;
  };
}
export const DestinationRule = defineKind<DestinationRule>(VERSION, 'DestinationRule', 'destinationrules');

export interface Destination {
  readonly host?: string;
  readonly subset?: string;
  readonly port?: { readonly number?: number };
}

export interface HeaderOperations {
  readonly set?: Labels;
  readonly add?: Labels;
  readonly remove?: readonly string[];
  readonly [field: string]: unknown;
}

export interface RouteHeaders {
  readonly request?: HeaderOperations;
  readonly response?: HeaderOperations;
  readonly [field: string]: unknown;
}

export interface RouteDestination {
  readonly destination?: Destination;
  readonly weight?: number;
  readonly headers?: RouteHeaders;
}

/** The conditions of a match entry of a route. */
export interface HttpMatch {
  readonly name?: string;
  readonly headers?: Readonly<Record<string, HeaderMatch>>;
  readonly withoutHeaders?: Readonly<Record<string, HeaderMatch>>;
  readonly uri?: HeaderMatch;
  readonly ignoreUriCase?: boolean;
  readonly scheme?: HeaderMatch;
  readonly method?: HeaderMatch;
  readonly authority?: HeaderMatch;
  readonly queryParams?: Readonly<Record<string, HeaderMatch>>;
  readonly port?: number;
  readonly sourceLabels?: Labels;
  readonly sourceNamespace?: string;
  readonly gateways?: readonly string[];
  readonly [field: string]: unknown;
}

export interface HeaderMatch {
  readonly exact?: string;
  readonly prefix?: string;
  readonly regex?: string;
}

interface Percent {
  readonly value?: number;
}

export interface HttpRoute {
  readonly name?: string;
  readonly match?: readonly HttpMatch[];
  readonly route?: readonly RouteDestination[];
  readonly delegate?: { readonly name?: string; readonly namespace?: string };
  readonly redirect?: {
    readonly uri?: string;
    readonly authority?: string;
    readonly scheme?: string;
    readonly port?: number;
    readonly derivePort?: string;
    readonly redirectCode?: number;
    readonly prefixRewrite?: string;
  };
  readonly directResponse?: {
    readonly status?: number;
    readonly body?: { readonly string?: string; readonly bytes?: string };
  };
  readonly rewrite?: {
    readonly uri?: string;
    readonly authority?: string;
    readonly uriRegexRewrite?: { readonly match?: string; readonly rewrite?: string };
  };
  readonly timeout?: string;
  readonly retries?: { readonly attempts?: number; readonly retryOn?: string; readonly perTryTimeout?: string };
  readonly fault?: {
    readonly delay?: { readonly fixedDelay?: string; readonly percentage?: Percent; readonly percent?: number };
    readonly abort?: { readonly httpStatus?: number; readonly grpcStatus?: string; readonly percentage?: Percent };
  };
  readonly mirror?: Destination;
  readonly mirrorPercentage?: Percent;
  readonly mirrorPercent?: number;
  readonly mirrors?: readonly { readonly destination?: Destination; readonly percentage?: Percent }[];
  readonly headers?: RouteHeaders;
  readonly [field: string]: unknown;
}

/** A route for TLS or TCP connections. */
export interface StreamRoute {
  readonly route?: readonly Omit<RouteDestination, 'headers'>[];
  readonly [field: string]: unknown;
}

export interface VirtualService extends KubeObject {
  readonly spec?: {
    readonly hosts?: readonly string[];
    readonly gateways?: readonly string[];
    readonly http?: readonly HttpRoute[];
    readonly tls?: readonly StreamRoute[];
    readonly tcp?: readonly StreamRoute[];
    readonly exportTo?: readonly string[];
    readonly [field: string]: unknown;
  };
}
export const VirtualService = defineKind<VirtualService>(VERSION, 'VirtualService', 'virtualservices');

export interface GatewayServer {
  readonly port?: { readonly number?: number; readonly name?: string; readonly protocol?: string };
  readonly hosts?: readonly string[];
  readonly tls?: { readonly mode?: string; readonly httpsRedirect?: boolean };
  readonly [field: string]: unknown;
}

export interface Gateway extends KubeObject {
  readonly spec?: { readonly selector?: Labels; readonly servers?: readonly GatewayServer[] };
}
export const Gateway = defineKind<Gateway>(VERSION, 'Gateway', 'gateways');

export interface Sidecar extends KubeObject {
  readonly spec?: {
    readonly workloadSelector?: { readonly labels?: Labels };
    readonly egress?: readonly {
      readonly port?: { readonly number?: number };
      readonly hosts?: readonly string[];
      readonly [field: string]: unknown;
    }[];
    readonly outboundTrafficPolicy?: { readonly mode?: string };
    readonly [field: string]: unknown;
  };
}
export const Sidecar = defineKind<Sidecar>(VERSION, 'Sidecar', 'sidecars');

export interface ServiceEntry extends KubeObject {
  readonly spec?: {
    readonly hosts?: readonly string[];
    readonly ports?: readonly { readonly number: number; readonly name?: string; readonly protocol?: string }[];
    readonly resolution?: string;
    readonly endpoints?: readonly { readonly address?: string; readonly labels?: Labels }[];
    readonly workloadSelector?: { readonly labels?: Labels };
    readonly exportTo?: readonly string[];
    readonly [field: string]: unknown;
  };
}
export const ServiceEntry = defineKind<ServiceEntry>(VERSION, 'ServiceEntry', 'serviceentries');
