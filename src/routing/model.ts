// The model of routing: the decoded input, and the plan that all back ends emit.
import type { Diagnostic, Problem } from './errors.ts';

/** `compat`: the exact results of SuperGloo. `strict`: nothing is dropped silently; a bad object affects no other. */
export type Mode = 'compat' | 'strict';

/** The name of an object. In a reference, an empty namespace means any namespace. */
export interface Ref {
  readonly name: string;
  readonly namespace: string;
}

/** The name of an object in messages. A reference without a namespace has only a name. */
export const keyOf = ({ namespace, name }: Ref): string => (namespace === '' ? name : `${namespace}.${name}`);

export type Labels = Readonly<Record<string, string>>;

export interface Mesh {
  readonly ref: Ref;
  /** The field of its spec that determines the type. */
  readonly type: string | undefined;
  readonly isAppMesh: boolean;
  readonly awsName: string | undefined;
  /** The creation time; empty if not known. */
  readonly createdAt: string;
  /** The guards for writes, or their defaults. */
  readonly adopt: boolean;
  readonly allowEmpty: boolean;
  readonly maxDeleteFraction: number;
  /** The AWS region, and the Secret with the credentials. */
  readonly region: string | undefined;
  readonly secret: Ref | undefined;
}

export interface MeshGroup {
  readonly ref: Ref;
  readonly meshes: readonly (Ref | null)[];
}

/** Selects upstreams. */
export type Selector =
  | { readonly by: 'labels'; readonly labels: Labels }
  | { readonly by: 'upstreams'; readonly refs: readonly Ref[] }
  | { readonly by: 'services'; readonly refs: readonly Ref[] }
  | { readonly by: 'namespaces'; readonly namespaces: readonly string[] }
  | { readonly by: 'nothing' };

type PathKind = 'prefix' | 'exact' | 'regex';

/** A header or query parameter; without a value it only has to be present. */
export interface ValueMatch {
  readonly name: string;
  readonly value: string;
  readonly regex: boolean;
}

/** The conditions on a request; all of them must hold. */
export interface Match {
  readonly path: { readonly kind: PathKind; readonly value: string };
  readonly headers: readonly ValueMatch[];
  readonly query: readonly ValueMatch[];
  /** Any method if empty. */
  readonly methods: readonly string[];
}

export type Matcher = Omit<Match, 'path'> & { readonly path: Match['path'] | undefined };

export interface WeightedDestination {
  readonly weight: number;
  /** Absent if the destination is empty. */
  readonly to?: {
    readonly upstream?: Ref;
    readonly subset?: Labels;
    readonly hasSpec: boolean;
  };
}

/** Actions that no back end supports; their fields are not decoded. */
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
        /** An absent selector differs from an empty one. */
        readonly selector: Labels | undefined;
      }
    | { readonly kind: 'static'; readonly addr: string | undefined; readonly port: number | undefined }
    | { readonly kind: 'aws' | 'azure' | 'consul' | 'none' };
}

export interface Pod {
  readonly ref: Ref;
  readonly labels: Labels;
  /** The values of the environment variables of its containers, in order. */
  readonly nodeNames: readonly string[];
  readonly arns: readonly string[];
  /** The values of the environment variable of its init containers, in order. */
  readonly portLists: readonly string[];
  readonly portsAnnotation: string | undefined;
  /** The named ports of its containers. */
  readonly namedPorts: Readonly<Record<string, number>>;
}

export interface Service {
  readonly ref: Ref;
  readonly selector: Labels | undefined;
  /** The target ports: numbers, or names of container ports. */
  readonly targetPorts: readonly (number | string)[];
}

/** The input of a translation. All lists are sorted by namespace and name, except rules, which keep their order. */
export interface Snapshot {
  readonly meshes: readonly Mesh[];
  readonly groups: readonly MeshGroup[];
  readonly rules: readonly Rule[];
  readonly upstreams: readonly Upstream[];
  readonly pods: readonly Pod[];
  readonly services: readonly Service[];
}

/** Pods that share a virtual node. Without a host they are only clients. */
export interface Workload {
  readonly id: string;
  readonly host: string | undefined;
  readonly ports: readonly number[];
  readonly namespace: string;
  /** The common part of the selectors of its services. */
  readonly selector: Labels;
}

/** A host of the mesh: a service with pods in the mesh. */
export interface ServiceHost {
  readonly host: string;
  readonly service: Ref;
  readonly ports: readonly number[];
  readonly upstreams: readonly Ref[];
  /** The workload behind it, if there is exactly one that could be resolved. */
  readonly workload: string | undefined;
}

/** A weighted destination of a route. Weights are those of the user. */
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

/** The number of routes of a host, and whether they need priorities. */
export interface RouteCount {
  readonly matchers: number;
  /** One for each matcher, and one more for each further method of a matcher. */
  readonly routes: number;
  /** Whether all match by prefix, without other conditions. */
  readonly arePlainPrefixes: boolean;
}

/** The outcome of a rule in a mesh. */
export interface RuleOutcome {
  readonly rule: Ref;
  readonly hosts: readonly string[];
  /** Absent if the rule was accepted. */
  readonly rejected?: Problem;
}

/** The desired state of a mesh, independent of its type. */
export interface MeshPlan {
  readonly mesh: Ref;
  /** The name of the mesh at AWS. */
  readonly name: string;
  /** By id. */
  readonly workloads: readonly Workload[];
  /** By host. */
  readonly services: readonly ServiceHost[];
  /** By host; only hosts with routes. */
  readonly hostRoutes: readonly HostRoutes[];
  /** The services that each workload may call: all of them, or only those with routes. */
  readonly connectivity: 'all' | 'routed';
  readonly rules: readonly RuleOutcome[];
  /** Workloads that pods name but that could not be resolved: their existing resources must not be deleted. */
  readonly unresolved: readonly string[];
  /** Hosts with rules that lead to such workloads: their existing routes must not change. */
  readonly unresolvedHosts: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  /** Why the mesh is rejected. */
  readonly failure?: Problem;
  /** The whole mesh was rejected. Otherwise the plan contains the valid part. */
  readonly isRejected?: boolean;
}
