// What a back end is: a table of what it can express, and a pure function from a plan to configuration. Observing what is
// there and applying what differs join this interface with the first writer.
import type { Problem } from '../errors.ts';
import type { MeshPlan, Mode, RouteCount, Workload } from '../model.ts';
import type { RulePlan, RuleProblem } from '../resolve/rule.ts';

/** What a rule may ask for. */
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
  /** `dropped` is what the original does: the rule is kept without it. Only compat mode has it. */
  readonly support: 'exact' | 'approximate' | 'refused' | 'dropped';
  /** How, or why not. */
  readonly note: string;
}

export type Capabilities = Readonly<Record<Feature, Capability>>;

/** What was made of a plan, or why nothing could be made of it. */
export type Emission<Output> =
  | { readonly output: Output; readonly warnings: readonly Problem[] }
  | { readonly failure: Problem };

export interface Backend<Output> {
  readonly name: string;
  /** What it writes, in one line. */
  readonly about: string;
  /** How messages call the mesh. */
  readonly mesh: string;
  readonly capabilities: Readonly<Record<Mode, Capabilities>>;
  /** Under which name a virtual node is kept. Two of one name are left out, in strict mode. */
  nodeName(workload: Workload): string;
  /** Under which name the routes of a host are kept. A rule that would make two of one name is left out, in strict mode. */
  routerName(host: string): string;
  /** Limits that a rule breaks, in strict mode. */
  limits(rule: RulePlan): readonly RuleProblem[];
  /** Why a host cannot have these routes together, in strict mode: the rule of the last ones is then rejected. */
  hostLimit(host: string, count: RouteCount): Problem | undefined;
  emit(plan: MeshPlan, mode: Mode): Emission<Output>;
}
