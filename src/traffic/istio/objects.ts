// The objects of Istio that decide about requests, as far as they are read and edited here. Whatever else they hold is kept.
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';

type Labels = Readonly<Record<string, string>>;

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
    readonly [field: string]: unknown;
  };
}
/** Both Istio kinds in the version that every supported Istio serves. */
export const DestinationRule = defineKind<DestinationRule>(
  'networking.istio.io/v1beta1',
  'DestinationRule',
  'destinationrules',
);

export interface RouteDestination {
  readonly destination?: { readonly host?: string; readonly subset?: string; readonly port?: unknown };
  readonly weight?: number;
  readonly headers?: {
    readonly response?: { readonly add?: Labels; readonly [field: string]: unknown };
    readonly [field: string]: unknown;
  };
}

export interface HttpMatch {
  readonly headers?: Readonly<Record<string, HeaderMatch>>;
  readonly withoutHeaders?: Readonly<Record<string, HeaderMatch>>;
  readonly sourceLabels?: Labels;
  readonly uri?: HeaderMatch;
  readonly gateways?: readonly string[];
  readonly [field: string]: unknown;
}

export interface HeaderMatch {
  readonly exact?: string;
  readonly prefix?: string;
  readonly regex?: string;
}

export interface HttpRoute {
  readonly name?: string;
  readonly match?: readonly HttpMatch[];
  readonly route?: readonly RouteDestination[];
  readonly delegate?: { readonly name?: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

export interface VirtualService extends KubeObject {
  readonly spec?: {
    readonly hosts?: readonly string[];
    readonly gateways?: readonly string[];
    readonly http?: readonly HttpRoute[];
    readonly [field: string]: unknown;
  };
}
export const VirtualService = defineKind<VirtualService>(
  'networking.istio.io/v1beta1',
  'VirtualService',
  'virtualservices',
);
