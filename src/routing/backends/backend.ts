// The interface of a back end: a table of its capabilities, and a pure function from a plan to configuration.
import type { Problem } from '../errors.ts';
import type { MeshPlan, Mode, RouteCount, Workload } from '../model.ts';
import type { RulePlan, RuleProblem } from '../resolve/rule.ts';

/** The features of rules. */
export const FEATURES = {
  pathPrefix: 'path by prefix',
  pathExact: 'exact path',
  pathRegex: 'path by regular expression',
  headerExact: 'header with a value',
  headerRegex: 'header by regular expression',
  headerPresence: 'header that is there',
  queryExact: 'query parameter with a value',
  queryRegex: 'query parameter by regular expression',
  queryPresence: 'query parameter that is there',
  methods: 'methods',
  sourceSelector: 'source selector',
  trafficShifting: 'traffic shifting',
  subset: 'destination subset',
  faultInjection: 'fault injection',
  requestTimeout: 'request time-out',
  retries: 'retries',
  corsPolicy: 'CORS policy',
  mirror: 'mirroring',
  headerManipulation: 'header manipulation',
} as const;

export type Feature = keyof typeof FEATURES;

interface Capability {
  /** `dropped`: the rule is kept without the feature, as in SuperGloo. Only in compat mode. */
  readonly support: 'exact' | 'approximate' | 'refused' | 'dropped';
  /** How, or why not. */
  readonly note: string;
}

export type Capabilities = Readonly<Record<Feature, Capability>>;

/** The configuration for a plan, or why there is none. */
export type Emission<Output> =
  | { readonly output: Output; readonly warnings: readonly Problem[] }
  | { readonly failure: Problem };

export interface Backend<Output> {
  readonly name: string;
  /** What it writes, in one line. */
  readonly about: string;
  /** The name of the mesh in messages. */
  readonly mesh: string;
  readonly capabilities: Readonly<Record<Mode, Capabilities>>;
  /** The name of a virtual node. In strict mode, virtual nodes with the same name are left out. */
  nodeName(workload: Workload): string;
  /** The name of the router of a host. In strict mode, a rule that would make two with the same name is left out. */
  routerName(host: string): string;
  /** The limits that a rule exceeds, in strict mode. */
  limits(rule: RulePlan): readonly RuleProblem[];
  /** Why a host cannot have this many routes, in strict mode: the rule that adds the last ones is then rejected. */
  hostLimit(host: string, count: RouteCount): Problem | undefined;
  emit(plan: MeshPlan, mode: Mode): Emission<Output>;
}
