// What becomes of one subset or consumer of an environment. decide.ts makes it from the facts; write.ts, status.ts and
// prune.ts carry it out and tell of it.
import type { CloneStatus, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { CloneState } from './clone-state.ts';
import type { Deployment } from './objects.ts';
import type { Loop, Problem } from './pods.ts';
import type { DestinationRule } from '../traffic/istio/objects.ts';

/** The lists of the status that errors are in, in the order in which they are told. */
export const ERROR_LISTS = ['deployment', 'destinationRule', 'virtualServices', 'subset'] as const;

export interface WorkloadError {
  readonly list: (typeof ERROR_LISTS)[number];
  readonly message: string;
  /** A notice leaves the environment healthy; a failure does not; with the worst the workload is not ready either. */
  readonly severity: 'notice' | 'failure' | 'not-ready';
}

/** A host that a VirtualService leads to, whose requests are for the clone. */
export interface RoutedHost {
  readonly host: string;
  /** When proxies know the rule and the pods of a new route, in milliseconds; Infinity while there is no rule; absent: no wait. */
  readonly settledAt?: number;
}

/** A VirtualService that should lead requests to the clone. */
export interface Entrance {
  readonly service: VirtualService;
  readonly hosts: readonly RoutedHost[];
}

/** What is done about a subset or consumer. */
export type Action =
  /** For an error it can't be told what it should be, or it can't be made so: what is there stays as it is. */
  | { readonly action: 'keep' }
  /** The same where nothing is there. */
  | { readonly action: 'none' }
  /** The clone selects its pods by other labels than it should, which can't be changed: it makes room for a new one. */
  | { readonly action: 'replace' }
  /** The clone is as it should be after this plan; there are no routes to it, or those that are there stay. */
  | { readonly action: 'clone'; readonly clone: Deployment; readonly rules: readonly DestinationRule[] }
  /** So it is, and VirtualServices lead to it. */
  | {
      readonly action: 'route';
      readonly clone: Deployment;
      readonly rules: readonly DestinationRule[];
      readonly entrances: ReadonlyMap<string, Entrance>;
      /** When routes no longer wait for the clone to run; Infinity while there is none; absent: they do not wait. */
      readonly startsAt?: number;
    };

/** What is known and told of a subset or consumer, whatever is done about it. */
interface Workload {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  /** Whether it should have no routes and no pods. */
  readonly isAsleep: boolean;
  /** The clone as it is now. */
  readonly live: Deployment | undefined;
  /** What the status says of the clone. */
  readonly cloneStatus: CloneStatus & { readonly status: CloneState };
  /** Why the clone does not run. */
  readonly problem: Problem | undefined;
  /** A crash loop that its pods may be in, though they are up: the problem for some time. */
  readonly loop: Loop | undefined;
  /** Digest of the subset that the clone is made from; undefined as long as there is none. */
  readonly hash: bigint | undefined;
  /** What the status says of the rules. */
  readonly ruleStatuses: readonly ResourceStatus[];
  /** Why requests that are led to the clone get no answer from it. */
  readonly unanswered: string | undefined;
  readonly errors: readonly WorkloadError[];
  readonly routeWarnings: readonly string[];
  readonly workloadWarnings: readonly string[];
}

export type Decision = Workload & Action;

/** Errors in the order in which people are told of them. */
export function errorsOf({ errors }: Pick<Workload, 'errors'>): readonly string[] {
  return ERROR_LISTS.flatMap((list) => errors.filter((each) => each.list === list)).map(({ message }) => message);
}

/** Whether the environment can't be called healthy. */
export function hasFailed({ errors }: Decision): boolean {
  return errors.some(({ severity }) => severity !== 'notice');
}

/** Whether the routes of a subset stay as they are. */
export function keepsRoutes(decision: Decision): boolean {
  if (decision.consumer || decision.isAsleep || decision.live === undefined) return false;
  return decision.action === 'keep' || decision.action === 'clone';
}
