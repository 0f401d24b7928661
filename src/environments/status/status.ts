// The status of an environment: the fields of the original, and conditions.
import { timestamp } from '../../kube/times.ts';
import type {
  ConsumerStatus,
  DynamicEnv,
  DynamicEnvStatus,
  ResourceStatus,
  StatusError,
  SubsetStatus,
} from '../../api/dynamicenv.ts';
import type { Status } from '../../controller/index.ts';
import { isRunning } from '../clone/clone-state.ts';
import { conditionsFor, conditionsOfDeletion, conditionsOfRefusal } from './conditions.ts';
import type { Overall, State } from './conditions.ts';
import type { IdentityRefusal } from '../identity/identity.ts';
import { isAsleep } from '../lifecycle/sleep.ts';
import { ERROR_LISTS, errorsOf, hasFailed } from '../decision.ts';
import type { Decision } from '../decision.ts';
import { isUnwatched, leftBehind } from './unwatched-namespaces.ts';
import type { Pruning } from '../prune.ts';
import { itemsOf } from '../names.ts';
import type { Unreached } from './reachability.ts';
import type { Settings } from '../settings.ts';

type StatusFields = Omit<DynamicEnvStatus, 'conditions'>;

/** A planned status: its conditions get their times when it is written. */
export type EnvironmentStatus = StatusFields & Pick<Status, 'conditions'>;

/** The whole planned status of an environment. */
export function statusOf(
  env: DynamicEnv,
  overall: Overall,
  now: number,
  settings: Pick<Settings, 'namespaces'>,
): EnvironmentStatus {
  const { decisions, pruning, routes, unreached } = overall;
  const subsetsStatus: Record<string, SubsetStatus> = {};
  const consumersStatus: Record<string, ConsumerStatus> = {};
  for (const decision of decisions) {
    const { key, cloneStatus, ruleStatuses } = decision;
    const stamp = timestampErrors(env, key, now);
    const hash = decision.hash ? { hash: written(decision.hash) } : {};
    if (decision.consumer) {
      const errors = errorsOf(decision).map(stamp);
      consumersStatus[key] = { ...cloneStatus, ...hash, ...(errors.length > 0 && { errors }) };
    } else {
      // Objects that can't be seen any more keep their last status.
      const unseen = (env.status?.subsetsStatus[key]?.virtualServices ?? []).filter((each) =>
        isUnwatched(each, settings),
      );
      const virtualServices = [...(routes.get(decision) ?? []), ...unseen];
      const subsetErrors = errorLists(decision, stamp);
      subsetsStatus[key] = {
        deployment: cloneStatus,
        ...(ruleStatuses.length > 0 && { destinationRules: [...ruleStatuses] }),
        ...(virtualServices.length > 0 && { virtualServices }),
        ...(unreached.has(decision) && { unreached: unreached.get(decision)!.message }),
        ...(subsetErrors && { subsetErrors }),
        ...hash,
      };
    }
  }
  const state = stateOf(overall, isAsleep(env));
  const totalReady = decisions.filter((decision) => !isNotReady(decision)).length;
  const subsets = { ...subsetsStatus, ...pruning.subsets };
  const consumers = { ...consumersStatus, ...pruning.consumers };
  const conditions = conditionsFor(env, overall, state);
  return { ...published(env, state, totalReady, subsets, consumers), conditions };
}

/** The status of an environment that is refused as a whole. Its earlier entries are kept. */
export function statusOfRefusal(
  env: DynamicEnv,
  refusal: IdentityRefusal,
  settings: Pick<Settings, 'namespaces'>,
): EnvironmentStatus {
  const { subsetsStatus = {}, consumersStatus = {} } = env.status ?? {};
  const fields = published(env, 'degraded', 0, subsetsStatus, consumersStatus);
  return { ...fields, conditions: conditionsOfRefusal(refusal, leftBehind(env, settings)) };
}

/** The status of an environment that is being deleted. */
export function statusOfDeletion(env: DynamicEnv, pruning: Pruning): EnvironmentStatus {
  const state = pruning.refusals.length > 0 ? 'degraded' : 'processing';
  const fields = published(env, state, 0, pruning.subsets, pruning.consumers);
  return { ...fields, conditions: conditionsOfDeletion(pruning) };
}

/** The fields of a status; each is present under the same conditions as in the original. */
function published(
  env: DynamicEnv,
  state: State,
  totalReady: number,
  subsetsStatus: Readonly<Record<string, SubsetStatus>>,
  consumersStatus: Readonly<Record<string, ConsumerStatus>>,
): StatusFields {
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

/** A hash as it is parsed from JSON: a number if that is exact. */
function written(hash: bigint): number | bigint {
  const number = Number(hash);
  return Number.isSafeInteger(number) ? number : hash;
}

function errorLists({ errors }: Decision, stamp: (text: string) => StatusError): SubsetStatus['subsetErrors'] {
  const lists = ERROR_LISTS.flatMap((list) => {
    const some = errors.filter((each) => each.list === list);
    return some.length === 0 ? [] : [[list, some.map(({ message }) => stamp(message))] as const];
  });
  return lists.length === 0 ? undefined : Object.fromEntries(lists);
}

/** Adds the time to an error: the existing one if the error is already in the status, so that nothing changes. */
function timestampErrors(env: DynamicEnv, key: string, now: number): (text: string) => StatusError {
  const { subsetErrors } = env.status?.subsetsStatus?.[key] ?? {};
  const { errors = [] } = env.status?.consumersStatus?.[key] ?? {};
  const known = [...Object.values(subsetErrors ?? {}).flat(), ...errors];
  const time = timestamp(now);
  return (error) => ({ error, lastOccurrence: known.find((each) => each?.error === error)?.lastOccurrence ?? time });
}

function isNotReady(decision: Decision): boolean {
  const failed = ({ status }: ResourceStatus): boolean => status === 'failed' || status === 'missing';
  const isUnfit = decision.errors.some(({ severity }) => severity === 'not-ready');
  return isUnfit || !isRunning(decision) || decision.ruleStatuses.some(failed);
}

/** Reasons that waiting does not change. */
const LASTING = new Set<Unreached['reason']>(['Shadowed', 'RoutesMissing', 'RoutesIgnored']);

function stateOf({ decisions, pruning, unreached }: Overall, isAsleep: boolean): State {
  if (pruning.refusals.length > 0) return 'degraded';
  if (decisions.some((decision) => hasFailed(decision) || decision.cloneStatus.status === 'failed')) return 'degraded';
  // Waiting does not help a subset whose requests others take, or that can't get routes.
  const causes = [...unreached.values()].map(({ reason }) => reason);
  if (causes.some((reason) => LASTING.has(reason))) return 'degraded';
  return isAsleep || !pruning.gone || causes.length > 0 || decisions.some(isNotReady) ? 'processing' : 'ready';
}
