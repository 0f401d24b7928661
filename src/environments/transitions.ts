// What the change from the present status of an environment to the planned one means to people: its Events.
import type { CloneStatus, DynamicEnv, DynamicEnvStatus } from '../api/dynamicenv.ts';
import { conditionsOf } from '../controller/index.ts';
import type { PlannedEvent } from '../controller/index.ts';
import { capitalised } from './conditions.ts';
import type { EnvironmentStatus } from './status.ts';

type Statuses = Pick<DynamicEnvStatus, 'subsetsStatus' | 'consumersStatus'>;

/** The Events of a planned status; of warnings only those that are new. */
export function transitions(
  env: DynamicEnv,
  next: EnvironmentStatus,
  warnings: readonly string[] = [],
): PlannedEvent[] {
  const before = env.status;
  const told = conditionsOf(env).map(({ message }) => message);
  return [
    ...warnings
      .filter((note) => !told.some((message) => message.includes(note)))
      .map((note) => ({ type: 'Warning', reason: 'Warning', note }) as const),
    ...cloneEvents(before, next),
    ...[...allErrors(next)]
      .filter((note) => !allErrors(before).has(note))
      .map((note) => ({ type: 'Warning', reason: 'Error', note }) as const),
    ...readyEvents(env, next),
  ];
}

/** The environment as a whole: its state, or why it has none of the usual ones. */
function readyEvents(env: DynamicEnv, { state = '', totalReady, totalCount = 0, ...next }: EnvironmentStatus) {
  const ready = next.conditions?.find(({ type }) => type === 'Ready');
  const before = conditionsOf(env).find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.reason === before?.reason) return [];
  const counts = `${totalReady} of ${totalCount} subsets and consumers are ready`;
  const type = state === 'degraded' ? 'Warning' : 'Normal';
  return [{ type, reason: ready.reason, note: ready.reason === capitalised(state) ? counts : ready.message } as const];
}

function cloneEvents(before: Statuses | undefined, next: Statuses): PlannedEvent[] {
  const [old, now] = [clonesOf(before), clonesOf(next)];
  const changed = [...now]
    .filter(([name, { status }]) => status !== old.get(name)?.status && status !== 'unknown')
    .map(([name, { status }]) => [name, status] as const);
  const gone = [...old].filter(([name]) => !now.has(name));
  const stuck = [...now].filter(([name, { message }]) => message !== undefined && message !== old.get(name)?.message);
  return [
    ...[...changed, ...gone.map(([name]) => [name, 'removed'] as const)].map(([name, status]) => ({
      type: status === 'failed' || status === 'missing' ? ('Warning' as const) : ('Normal' as const),
      reason: `Clone${capitalised(status)}`,
      note: `Deployment ${name}: ${status}`,
    })),
    ...stuck.map(([name, { message }]) => ({
      type: 'Warning' as const,
      reason: 'CloneNotRunning',
      note: `Deployment ${name}: ${message}`,
    })),
  ];
}

/** The state of each clone, by namespace and name. */
function clonesOf({ subsetsStatus = {}, consumersStatus = {} }: Partial<Statuses> = {}): Map<string, CloneStatus> {
  const clones: CloneStatus[] = [
    ...Object.values(subsetsStatus).map(({ deployment }) => deployment),
    ...Object.values(consumersStatus),
  ];
  return new Map(clones.filter(({ name }) => name !== '').map((clone) => [`${clone.namespace}/${clone.name}`, clone]));
}

function allErrors({ subsetsStatus = {}, consumersStatus = {} }: Partial<Statuses> = {}): Set<string> {
  const lists = [
    ...Object.entries(subsetsStatus).map(([key, { subsetErrors }]) => ({
      key,
      errors: Object.values(subsetErrors ?? {}).flatMap((list) => list ?? []),
    })),
    ...Object.entries(consumersStatus).map(([key, { errors = [] }]) => ({ key, errors })),
  ];
  return new Set(lists.flatMap(({ key, errors }) => errors.map(({ error }) => `${key}: ${error}`)));
}
