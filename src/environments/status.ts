// The status of an environment: the words that the original publishes, and conditions beside them.
import { timestamp } from '../kube/times.ts';
import type {
  ConsumerStatus,
  DynamicEnv,
  DynamicEnvStatus,
  ResourceStatus,
  StatusError,
  SubsetStatus,
} from '../api/dynamicenv.ts';
import type { Status } from '../controller/index.ts';
import { isRunning } from './clone-state.ts';
import { conditionsFor, conditionsOfDeletion, conditionsOfRefusal } from './conditions.ts';
import type { Overall, Refusal, State } from './conditions.ts';
import { errorsOf } from './decision.ts';
import type { Item } from './decision.ts';
import type { Leaving } from './prune.ts';
import { itemsOf } from './names.ts';

type Fields = Omit<DynamicEnvStatus, 'conditions'>;

/** A planned status: its conditions get their times when it is written. */
export type EnvironmentStatus = Fields & Pick<Status, 'conditions'>;

/** The whole status that an environment shall have. */
export function statusOf(env: DynamicEnv, overall: Overall, now: number): EnvironmentStatus {
  const { items, leaving, routes, unreached } = overall;
  const subsetsStatus: Record<string, SubsetStatus> = {};
  const consumersStatus: Record<string, ConsumerStatus> = {};
  for (const item of items) {
    const stamp = stamper(env, item, now);
    const hash = item.hash ? { hash: written(item.hash) } : {};
    if (item.consumer) {
      const errors = errorsOf(item).map(stamp);
      consumersStatus[item.key] = { ...item.clone, ...hash, ...(errors.length > 0 && { errors }) };
    } else {
      const virtualServices = [...(routes.get(item) ?? [])];
      const subsetErrors = errorLists(item, stamp);
      subsetsStatus[item.key] = {
        deployment: item.clone,
        ...(item.rules.length > 0 && { destinationRules: item.rules }),
        ...(virtualServices.length > 0 && { virtualServices }),
        ...(unreached.has(item) && { unreached: unreached.get(item)!.message }),
        ...(subsetErrors && { subsetErrors }),
        ...hash,
      };
    }
  }
  const state = stateOf(overall);
  const totalReady = items.filter((item) => !isNotReady(item)).length;
  const subsets = { ...subsetsStatus, ...leaving.subsets };
  const consumers = { ...consumersStatus, ...leaving.consumers };
  return { ...published(env, state, totalReady, subsets, consumers), conditions: conditionsFor(overall, state) };
}

/** The status of an environment that can't be made. What is told of earlier times stays. */
export function statusOfRefusal(env: DynamicEnv, refusal: Refusal): EnvironmentStatus {
  const { subsetsStatus = {}, consumersStatus = {} } = env.status ?? {};
  const fields = published(env, 'degraded', 0, subsetsStatus, consumersStatus);
  return { ...fields, conditions: conditionsOfRefusal(refusal) };
}

/** The status of an environment that is being deleted. */
export function statusOfDeletion(env: DynamicEnv, leaving: Leaving): EnvironmentStatus {
  const state = leaving.refusals.length > 0 ? 'degraded' : 'processing';
  const fields = published(env, state, 0, leaving.subsets, leaving.consumers);
  return { ...fields, conditions: conditionsOfDeletion(leaving) };
}

/** The fields of a status, each there exactly when it always was. */
function published(
  env: DynamicEnv,
  state: State,
  totalReady: number,
  subsetsStatus: Readonly<Record<string, SubsetStatus>>,
  consumersStatus: Readonly<Record<string, ConsumerStatus>>,
): Fields {
  const { subsets, consumers } = itemsOf(env);
  const totalCount = subsets.length + consumers.length;
  return {
    subsetsStatus,
    ...(Object.keys(consumersStatus).length > 0 && { consumersStatus }),
    state,
    ...(totalCount > 0 && { totalCount }),
    totalReady,
    ...(env.metadata.generation !== undefined && { observedGeneration: env.metadata.generation }),
  };
}

/** A hash as JSON holds it when it is read again: a number where that is exact. */
function written(hash: bigint): number | bigint {
  const number = Number(hash);
  return Number.isSafeInteger(number) ? number : hash;
}

function errorLists({ errors }: Item, stamp: (text: string) => StatusError): SubsetStatus['subsetErrors'] {
  const lists = Object.entries(errors).filter(([, texts]: [string, string[]]) => texts.length > 0);
  if (lists.length === 0) return undefined;
  return Object.fromEntries(lists.map(([part, texts]: [string, string[]]) => [part, texts.map(stamp)]));
}

/** Gives an error its time: the one that it has, if it holds already, so that repeating it is no change. */
function stamper(env: DynamicEnv, item: Item, now: number): (text: string) => StatusError {
  const { subsetErrors } = env.status?.subsetsStatus?.[item.key] ?? {};
  const { errors = [] } = env.status?.consumersStatus?.[item.key] ?? {};
  const known = [...Object.values(subsetErrors ?? {}).flat(), ...errors];
  const time = timestamp(now);
  return (error) => ({ error, lastOccurrence: known.find((each) => each?.error === error)?.lastOccurrence ?? time });
}

function isNotReady(item: Item): boolean {
  const failed = ({ status }: ResourceStatus): boolean => status === 'failed' || status === 'missing';
  return item.notReady || !isRunning(item) || item.rules.some(failed);
}

function stateOf({ items, leaving, unreached }: Overall): State {
  if (leaving.refusals.length > 0) return 'degraded';
  if (items.some((item) => item.failed || item.clone.status === 'failed')) return 'degraded';
  // Nothing of ours brings requests to a subset that others take them from, or that no route can lead to.
  const causes = [...unreached.values()].map(({ reason }) => reason);
  if (causes.includes('Shadowed') || causes.includes('RoutesMissing')) return 'degraded';
  return !leaving.gone || causes.length > 0 || items.some(isNotReady) ? 'processing' : 'ready';
}
