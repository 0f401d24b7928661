// One subset or consumer while its environment is planned: what it needs, how far it is, and what is wrong with it.
// decide.ts and reach.ts fill it in; plan.ts and status.ts read it.
import type { CloneStatus, DynamicEnv, ResourceStatus, Subset } from '../api/dynamicenv.ts';
import type { Step } from '../kube/index.ts';
import type { CloneState } from './clone-state.ts';
import { statusKey } from './names.ts';
import type { VirtualService } from '../traffic/istio/objects.ts';
import type { Problem } from './pods.ts';

/** Errors by the part of the status that lists them. */
interface ItemErrors {
  readonly deployment: string[];
  readonly destinationRule: string[];
  readonly virtualServices: string[];
  readonly subset: string[];
}

/** A VirtualService with the hosts for which it leads to the clone, and those whose rule proxies may not know yet. */
interface Entrance {
  readonly service: VirtualService;
  readonly hosts: string[];
  readonly settling: string[];
}

export interface Item {
  readonly key: string;
  readonly subset: Subset;
  readonly consumer: boolean;
  readonly steps: Step[];
  clone: CloneStatus & { status: CloneState };
  /** Whether the clone has to go before it can be made anew. */
  outdated: boolean;
  /** Why the clone does not run. */
  problem: Problem | undefined;
  /** Digest of the subset that the clone is made from; undefined as long as there is none. */
  hash: bigint | undefined;
  readonly rules: ResourceStatus[];
  /** VirtualServices that shall lead to the clone. */
  readonly virtualServices: Map<string, Entrance>;
  /** What becomes of the routes: put in, kept out until clone and rule are there, or left as they are for an error. */
  routes: 'insert' | 'wait' | 'untouched';
  /** Why requests that are led to the clone get no answer from it. */
  unanswered: string | undefined;
  /** How long the routes still wait for the clone, or for proxies to know its rule. */
  waitMs: number | undefined;
  readonly errors: ItemErrors;
  readonly warnings: string[];
  /** Warnings about the clone, not about the way to it. */
  workloadWarnings: readonly string[];
  /** An error that the environment must not be called healthy with. */
  failed: boolean;
  notReady: boolean;
}

/** An item of which nothing is known but what the environment says and what its status told before. */
export function newItem(env: DynamicEnv, subset: Subset, consumer: boolean): Item {
  const key = statusKey(subset);
  const before = (consumer ? env.status?.consumersStatus : env.status?.subsetsStatus)?.[key]?.hash;
  return {
    key,
    subset,
    consumer,
    steps: [],
    clone: { name: '', namespace: '', status: 'unknown' },
    outdated: false,
    problem: undefined,
    hash: before === undefined ? undefined : BigInt(before),
    rules: [],
    virtualServices: new Map(),
    routes: 'wait',
    unanswered: undefined,
    waitMs: undefined,
    errors: { deployment: [], destinationRule: [], virtualServices: [], subset: [] },
    warnings: [],
    workloadWarnings: [],
    failed: false,
    notReady: false,
  };
}

/** Notes an error that the environment can't be healthy with. */
export function fail(item: Item, part: keyof ItemErrors, message: string, notReady = false): void {
  item.errors[part].push(message);
  item.failed = true;
  item.notReady ||= notReady;
}

/** All errors of an item. */
export function errorsOf({ errors }: Item): readonly string[] {
  return [...errors.deployment, ...errors.destinationRule, ...errors.virtualServices, ...errors.subset];
}
