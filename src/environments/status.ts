// The status of an environment: the words that the original publishes, and conditions beside them.
import type {
  ConsumerStatus,
  DynamicEnv,
  DynamicEnvStatus,
  ResourceStatus,
  StatusError,
  SubsetStatus,
} from '../api/dynamicenv.ts';
import type { PlannedCondition, PlannedEvent, Status } from '../controller/index.ts';
import type { Item, ItemErrors } from './item.ts';

/** What a whole pass found out, beyond the items. */
export interface Overall {
  readonly items: readonly Item[];
  /** Status entries of what is no longer in the spec and still going away. */
  readonly leaving: LeavingEntries;
  /** By item: the VirtualServices that lead to it, as they will be after this pass. */
  readonly routes: ReadonlyMap<Item, readonly ResourceStatus[]>;
  /** Why the environment as a whole is refused. */
  readonly refusal?: { readonly reason: string; readonly message: string };
  readonly warnings: readonly string[];
}

export interface LeavingEntries {
  readonly subsets: Readonly<Record<string, SubsetStatus>>;
  readonly consumers: Readonly<Record<string, ConsumerStatus>>;
}

type State = 'ready' | 'processing' | 'degraded';

/** The whole status that an environment shall have. */
export function statusOf(env: DynamicEnv, overall: Overall, now: number): Status & DynamicEnvStatus {
  const subsetsStatus: Record<string, SubsetStatus> = {};
  const consumersStatus: Record<string, ConsumerStatus> = {};
  for (const item of overall.items) {
    const stamp = stamper(env, item, now);
    const hash = written(item.hash);
    if (item.consumer) {
      const errors = Object.values(item.errors)
        .flat()
        .map((text) => stamp(text));
      consumersStatus[item.key] = { ...item.clone, ...(hash !== 0 && { hash }), ...(errors.length > 0 && { errors }) };
    } else {
      const routes = overall.routes.get(item) ?? [];
      const subsetErrors = errorLists(item.errors, stamp);
      subsetsStatus[item.key] = {
        deployment: item.clone,
        ...(item.rules.length > 0 && { destinationRules: item.rules }),
        ...(routes.length > 0 && { virtualServices: [...routes] }),
        ...(subsetErrors && { subsetErrors }),
        ...(hash !== 0 && { hash }),
      };
    }
  }
  const consumers = { ...consumersStatus, ...overall.leaving.consumers };
  const notReady = overall.refusal ? overall.items.length : overall.items.filter(isNotReady).length;
  const totalCount = overall.items.length;
  return {
    subsetsStatus: { ...subsetsStatus, ...overall.leaving.subsets },
    ...(Object.keys(consumers).length > 0 && { consumersStatus: consumers }),
    state: stateOf(overall),
    ...(totalCount > 0 && { totalCount }),
    totalReady: totalCount - notReady,
    ...(env.metadata.generation !== undefined && { observedGeneration: env.metadata.generation }),
    conditions: conditionsOf(overall),
  } as Status & DynamicEnvStatus;
}

/** A hash as JSON holds it when it is read again: a number where that is exact. */
function written(hash: bigint): number | bigint {
  const number = Number(hash);
  return Number.isSafeInteger(number) ? number : hash;
}

function errorLists(errors: ItemErrors, stamp: (text: string) => StatusError): SubsetStatus['subsetErrors'] {
  const lists = Object.entries(errors).filter(([, texts]) => (texts as string[]).length > 0);
  if (lists.length === 0) return undefined;
  return Object.fromEntries(lists.map(([part, texts]) => [part, (texts as string[]).map(stamp)]));
}

/** Gives an error its time: the one that it has, if it holds already, so that repeating it is no change. */
function stamper(env: DynamicEnv, item: Item, now: number): (text: string) => StatusError {
  const { subsetErrors } = env.status?.subsetsStatus?.[item.key] ?? {};
  const { errors = [] } = env.status?.consumersStatus?.[item.key] ?? {};
  const known = [...Object.values(subsetErrors ?? {}).flat(), ...errors];
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  return (error) => ({ error, lastOccurrence: known.find((each) => each?.error === error)?.lastOccurrence ?? time });
}

function isNotReady(item: Item): boolean {
  return item.notReady || item.clone.status !== 'running' || item.rules.some(({ status }) => status === 'failed');
}

function stateOf(overall: Overall): State {
  const { items, leaving, refusal } = overall;
  if (refusal || items.some((item) => item.failed || item.clone.status === 'failed')) return 'degraded';
  const isLeaving = Object.keys(leaving.subsets).length + Object.keys(leaving.consumers).length > 0;
  return isLeaving || items.some((item) => isNotReady(item) || item.routes === 'wait') ? 'processing' : 'ready';
}

function conditionsOf(overall: Overall): PlannedCondition[] {
  const { items, refusal, warnings } = overall;
  const state = stateOf(overall);
  const waiting = items.filter((item) => item.clone.status !== 'running');
  const errors = refusal ? [refusal.message] : items.flatMap((item) => Object.values(item.errors).flat() as string[]);
  const subsets = items.filter((item) => !item.consumer);
  const unrouted = subsets.filter((item) => item.routes !== 'insert' || item.notReady);
  const condition = (type: string, is: boolean, reason: string, message: string): PlannedCondition => ({
    type,
    status: is ? 'True' : 'False',
    reason,
    message,
  });
  const workloads = `${items.length - waiting.length} of ${items.length} workloads run`;
  const problem = errors[0] ?? firstProblem(waiting);
  return [
    condition('Ready', state === 'ready', refusal?.reason ?? capitalised(state), problem ?? workloads),
    condition(
      'WorkloadsReady',
      waiting.length === 0,
      waiting.length === 0 ? 'AllRunning' : 'NotRunning',
      waiting.length === 0 ? workloads : (firstProblem(waiting) ?? workloads),
    ),
    condition(
      'Routed',
      unrouted.length === 0,
      routedReason(subsets, unrouted, warnings),
      unrouted.length === 0
        ? [`${subsets.length} subsets receive their requests`, ...warnings].join('; ')
        : `${unrouted.map(({ key }) => key).join(', ')} not routed yet`,
    ),
    condition('Reconciling', state === 'processing', capitalised(state), workloads),
    condition(
      'Stalled',
      state === 'degraded',
      refusal?.reason ?? capitalised(state),
      errors.join('; ') || (problem ?? ''),
    ),
  ];
}

function routedReason(subsets: readonly Item[], unrouted: readonly Item[], warnings: readonly string[]): string {
  if (subsets.length === 0) return 'NothingToRoute';
  if (unrouted.some((item) => item.routes === 'wait')) return 'WaitingForWorkloads';
  if (unrouted.length > 0) return 'RoutesMissing';
  return warnings.length > 0 ? 'RoutedWithWarnings' : 'Routed';
}

function firstProblem(waiting: readonly Item[]): string | undefined {
  const [item] = waiting;
  return item && `${item.key}: ${item.clone.status}${item.problem === undefined ? '' : ` (${item.problem})`}`;
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** What a change from the present status to the planned one means to people. */
export function transitions(env: DynamicEnv, next: DynamicEnvStatus): PlannedEvent[] {
  const events: PlannedEvent[] = [];
  const before = allErrors(env.status);
  for (const error of allErrors(next)) {
    if (!before.has(error)) events.push({ type: 'Warning', reason: 'Error', note: error });
  }
  if (next.state !== env.status?.state) {
    const note = `${next.totalReady} of ${next.totalCount ?? 0} subsets and consumers are ready`;
    const type = next.state === 'degraded' ? 'Warning' : 'Normal';
    events.push({ type, reason: capitalised(next.state ?? 'processing'), note });
  }
  return events;
}

function allErrors(status: DynamicEnvStatus | undefined): Set<string> {
  const errors = new Set<string>();
  for (const [key, { subsetErrors }] of Object.entries(status?.subsetsStatus ?? {})) {
    for (const list of Object.values(subsetErrors ?? {}))
      for (const { error } of list ?? []) errors.add(`${key}: ${error}`);
  }
  for (const [key, { errors: list }] of Object.entries(status?.consumersStatus ?? {})) {
    for (const { error } of list ?? []) errors.add(`${key}: ${error}`);
  }
  return errors;
}
