// The decision about one subset or consumer of an environment. decide.ts makes it from the facts; write.ts, prune.ts
// and status/status.ts apply and report it.
import type { CloneStatus, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { CloneState } from './clone/clone-state.ts';
import type { Deployment } from './objects.ts';
import type { Loop, Problem } from './clone/pods.ts';
import type { DestinationRule } from '../traffic/istio/objects.ts';

/** The error lists of the status, in the order in which they are reported. */
export const ERROR_LISTS = ['deployment', 'destinationRule', 'virtualServices', 'subset'] as const;

export interface WorkloadError {
  readonly list: (typeof ERROR_LISTS)[number];
  readonly message: string;
  /** A notice leaves the environment healthy; a failure does not; `not-ready` also makes the workload not ready. */
  readonly severity: 'notice' | 'failure' | 'not-ready';
}

/** A host that a VirtualService leads to, whose requests are for the clone. */
export interface RoutedHost {
  readonly host: string;
  /** When proxies know the rule and pods of a new route, in milliseconds; Infinity without a rule; absent: no wait. */
  readonly settledAt?: number;
}

/** A VirtualService that should lead requests to the clone. */
export interface Entrance {
  readonly service: VirtualService;
  readonly hosts: readonly RoutedHost[];
}

/** What to do about a subset or consumer. */
export type Action =
  /** Because of an error, the desired state is not known or can't be applied: existing objects are kept as they are. */
  | { readonly action: 'keep' }
  /** The same, if no objects exist. */
  | { readonly action: 'none' }
  /** The selector of the clone is outdated and immutable: the clone is deleted, and then recreated. */
  | { readonly action: 'replace' }
  /** The clone is applied; it has no routes, or existing routes are kept. */
  | { readonly action: 'clone'; readonly clone: Deployment; readonly rules: readonly DestinationRule[] }
  /** The clone is applied, and VirtualServices lead to it. */
  | {
      readonly action: 'route';
      readonly clone: Deployment;
      readonly rules: readonly DestinationRule[];
      readonly entrances: ReadonlyMap<string, Entrance>;
      /** When routes no longer wait for the clone to run; Infinity without a clone; absent: they do not wait. */
      readonly startsAt?: number;
    };

/** What is known and reported about a subset or consumer, whatever the action. */
interface Workload {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  /** Whether it should have no routes and no pods. */
  readonly isAsleep: boolean;
  /** The current clone. */
  readonly live: Deployment | undefined;
  /** The clone in the status. */
  readonly cloneStatus: CloneStatus & { readonly status: CloneState };
  /** Why the clone does not run. */
  readonly problem: Problem | undefined;
  /** A crash loop that its pods may be in though they are up; reported as a problem for some time. */
  readonly loop: Loop | undefined;
  /** Digest of the subset that the clone is made from; undefined without a clone. */
  readonly hash: bigint | undefined;
  /** The rules in the status. */
  readonly ruleStatuses: readonly ResourceStatus[];
  /** Why requests that are routed to the clone get no response from it. */
  readonly unanswered: string | undefined;
  readonly errors: readonly WorkloadError[];
  readonly routeWarnings: readonly string[];
  readonly workloadWarnings: readonly string[];
}

export type Decision = Workload & Action;

/** Errors in the order in which they are reported. */
export function errorsOf({ errors }: Pick<Workload, 'errors'>): readonly string[] {
  return ERROR_LISTS.flatMap((list) => errors.filter((each) => each.list === list)).map(({ message }) => message);
}

/** Whether the environment is not healthy. */
export function hasFailed({ errors }: Decision): boolean {
  return errors.some(({ severity }) => severity !== 'notice');
}

/** Whether the routes of a subset are left alone. */
export function keepsRoutes(decision: Decision): boolean {
  if (decision.consumer || decision.isAsleep || decision.live === undefined) return false;
  return decision.action === 'keep' || decision.action === 'clone';
}
