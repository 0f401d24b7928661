// The words of this room: what is read, and the plan that all back ends are written from.
import type { Diagnostic, Problem } from './errors.ts';

/** `compat`: the original's results to the letter. `strict`: nothing is dropped in silence, and one bad object stops no other. */
export type Mode = 'compat' | 'strict';

/** Names an object. In a reference, an empty namespace stands for any. */
export interface Ref {
  readonly name: string;
  readonly namespace: string;
}

/** How messages name an object. A reference without a namespace has only a name. */
export const keyOf = ({ namespace, name }: Ref): string => (namespace === '' ? name : `${namespace}.${name}`);

export type Labels = Readonly<Record<string, string>>;

export interface Mesh {
  readonly ref: Ref;
  /** The field of its spec that says what it is. */
  readonly type: string | undefined;
  readonly isAppMesh: boolean;
  readonly awsName: string | undefined;
  /** When it was made; empty if that is not known. */
  readonly createdAt: string;
  /** How far a controller may go; defaults where nothing is said. */
  readonly adopt: boolean;
  readonly allowEmpty: boolean;
  readonly maxDeleteFraction: number;
  /** Where it is, and the Secret with the credentials. */
  readonly region: string | undefined;
  readonly secret: Ref | undefined;
}

export interface MeshGroup {
  readonly ref: Ref;
  readonly meshes: readonly (Ref | null)[];
}

/** Which upstreams are meant. */
export type Selector =
  | { readonly by: 'labels'; readonly labels: Labels }
  | { readonly by: 'upstreams'; readonly refs: readonly Ref[] }
  | { readonly by: 'services'; readonly refs: readonly Ref[] }
  | { readonly by: 'namespaces'; readonly namespaces: readonly string[] }
  | { readonly by: 'nothing' };

type PathKind = 'prefix' | 'exact' | 'regex';

/** A header or query parameter; without a value it must only be there. */
export interface ValueMatch {
  readonly name: string;
  readonly value: string;
  readonly regex: boolean;
}

/** Which requests: all of these conditions. */
export interface Match {
  readonly path: { readonly kind: PathKind; readonly value: string };
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
  /** Any when empty. */
  readonly methods: readonly string[];
}

export type Matcher = Omit<Match, 'path'> & { readonly path: Match['path'] | undefined };

export interface WeightedDestination {
  readonly weight: number;
  /** Absent when nothing was written at all. */
  readonly to?: {
    readonly upstream?: Ref;
    readonly subset?: Labels;
    readonly hasSpec: boolean;
  };
}

/** Actions that no back end here knows; what they say is not kept. */
export const OTHER_ACTIONS = [
  'faultInjection',
  'requestTimeout',
  'retries',
  'corsPolicy',
  'mirror',
  'headerManipulation',
] as const;

export type Action =
  | { readonly kind: 'trafficShifting'; readonly destinations: readonly WeightedDestination[] }
  | { readonly kind: (typeof OTHER_ACTIONS)[number] };

export interface Rule {
  readonly ref: Ref;
  readonly targetMesh: Ref | undefined;
  readonly source: Selector | undefined;
  readonly destination: Selector | undefined;
  readonly matchers: readonly Matcher[];
  readonly action: Action | undefined;
}

export interface Upstream {
  readonly ref: Ref;
  readonly labels: Labels;
  readonly spec:
    | {
        readonly kind: 'kube';
        readonly service: Ref;
        readonly port: number;
        /** Absent is not the same as empty. */
        readonly selector: Labels | undefined;
      }
    | { readonly kind: 'static'; readonly addr: string | undefined; readonly port: number | undefined }
    | { readonly kind: 'aws' | 'azure' | 'consul' | 'none' };
}

export interface Pod {
  readonly ref: Ref;
  readonly labels: Labels;
  /** Values of the variables of its containers, in order. */
  readonly nodeNames: readonly string[];
  readonly arns: readonly string[];
  /** Values of the variable of its init containers, in order. */
  readonly portLists: readonly string[];
  readonly portsAnnotation: string | undefined;
  /** Ports of its containers that have a name. */
  readonly namedPorts: Readonly<Record<string, number>>;
}

export interface Service {
  readonly ref: Ref;
  readonly selector: Labels | undefined;
  /** What its ports lead to: numbers, or names of ports of the pods. */
  readonly targetPorts: readonly (number | string)[];
}

/** All that a translation reads. Every list but the rules is sorted by namespace and name; rules are in their order. */
export interface Snapshot {
  readonly meshes: readonly Mesh[];
  readonly groups: readonly MeshGroup[];
  readonly rules: readonly Rule[];
  readonly upstreams: readonly Upstream[];
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
}

/** Pods that share a virtual node. Without a host they only call others. */
export interface Workload {
  readonly id: string;
  readonly host: string | undefined;
  readonly ports: readonly number[];
  readonly namespace: string;
  /** Labels that all its pods have by their services. */
  readonly selector: Labels;
}

/** A host of the mesh: a service with pods in it. */
export interface ServiceHost {
  readonly host: string;
  readonly service: Ref;
  readonly ports: readonly number[];
  readonly upstreams: readonly Ref[];
  /** The workload behind it, if there is exactly one that could be made. */
  readonly workload: string | undefined;
}

/** One of the places that requests of a route go to. Weights are those of the user. */
export interface Target {
  readonly workload: string;
  readonly host: string;
  readonly port: number;
  readonly weight: number;
}

export interface Route {
  readonly rule: Ref;
  readonly matcher: number;
  readonly match: Match;
  readonly split: readonly Target[];
}

/** The routes of a host, in the order of rules and matchers. */
export interface HostRoutes {
  readonly host: string;
  readonly service: Ref;
  readonly port: number;
  readonly routes: readonly Route[];
}

/** How many routes a host has, and of which kind. */
export interface RouteCount {
  readonly matchers: number;
  /** As many as matchers, and one more for each further method of a matcher. */
  readonly routes: number;
  /** All are for prefixes, without other conditions. */
  readonly arePlainPrefixes: boolean;
}

/** What became of a rule in a mesh. */
export interface RuleOutcome {
  readonly rule: Ref;
  readonly hosts: readonly string[];
  /** Absent when it was accepted. */
  readonly rejected?: Problem;
}

/** What a mesh should do, in words that are not those of any mesh. */
export interface MeshPlan {
  readonly mesh: Ref;
  /** The name that the mesh has for itself. */
  readonly name: string;
  /** By id. */
  readonly workloads: readonly Workload[];
  /** By host. */
  readonly services: readonly ServiceHost[];
  /** By host; only hosts with routes. */
  readonly hostRoutes: readonly HostRoutes[];
  /** Whom each workload may call: all services, or only those with routes. */
  readonly connectivity: 'all' | 'routed';
  readonly rules: readonly RuleOutcome[];
  /** Workloads that pods name and that could not be made: what there is of them must not be deleted for that. */
  readonly unresolved: readonly string[];
  /** Hosts whose rules lead to such workloads: their routes must not change for that. */
  readonly unresolvedHosts: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** Why the mesh is rejected. */
  readonly failure?: Problem;
  /** Nothing of it could be planned. Otherwise the plan has what is sound. */
  readonly isRejected?: boolean;
}
