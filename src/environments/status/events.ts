// The Events of an environment: what the change from its current status to the planned one means to users.
import type { CloneStatus, DynamicEnv, DynamicEnvStatus } from '../../api/dynamicenv.ts';
import { conditionsOf } from '../../controller/index.ts';
import type { PlannedEvent } from '../../controller/index.ts';
import { messages } from './messages.ts';
import type { EnvironmentStatus } from './status.ts';

type Statuses = Pick<DynamicEnvStatus, 'subsetsStatus' | 'consumersStatus'>;

/** What a reconcile finds that is not in the status as such. */
interface Findings {
  readonly warnings?: readonly string[];
  /** Other environments that ask for some of the same requests. */
  readonly conflicts?: readonly string[];
  /** Routes that lead to the environment now. */
  readonly routes?: readonly string[];
  /** Routes that are added although their clone does not run. */
  readonly early?: readonly string[];
}

/**
 * The Events of a planned status: one for each transition that users care about. Progress is only in the status. What
 * the Event of the state already says is not repeated, and the rest only if it is new.
 */
export function eventsOf(env: DynamicEnv, next: EnvironmentStatus, findings: Findings = {}): PlannedEvent[] {
  const { warnings = [], conflicts = [], routes = [], early = [] } = findings;
  const state = stateEvent(env, next, routes);
  const told = state?.note ?? '';
  const reported = [...conditionsOf(env).map(({ message }) => message), told];
  const isNew = (text: string): boolean => !reported.some((message) => message.includes(text));
  // Of clones and errors the status knows which are new; two of them may have the same text.
  const before = errorsOf(env.status);
  const errors = [...errorsOf(next)].filter(([note, error]) => !before.has(note) && !told.includes(error));
  return [
    ...eventOf('Warning', 'Warning', warnings.filter(isNew)),
    ...eventOf('Warning', 'Conflicted', conflicts.filter(isNew)),
    ...problems(env.status, next).flatMap(([text, note]) =>
      told.includes(text) ? [] : eventOf('Warning', 'CloneNotRunning', [note]),
    ),
    ...eventOf('Warning', 'RoutedWithoutClone', early),
    ...eventOf(
      'Warning',
      'Error',
      errors.map(([note]) => note),
    ),
    ...(state === undefined ? [] : [state]),
  ];
}

/** One Event for all notes with the same reason. */
function eventOf(type: PlannedEvent['type'], reason: string, notes: readonly string[]): PlannedEvent[] {
  return notes.length === 0 ? [] : [{ type, reason, note: notes.join('; ') }];
}

/** The Event for a new state of the environment. The first `Processing` gets none. */
function stateEvent(env: DynamicEnv, next: EnvironmentStatus, routes: readonly string[]): PlannedEvent | undefined {
  const [ready, stalled] = ['Ready', 'Stalled'].map((name) => next.conditions?.find(({ type }) => type === name));
  const before = conditionsOf(env).find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.reason === before?.reason) return undefined;
  const { reason, message } = ready;
  if (stalled?.status === 'True') return { type: 'Warning', reason, note: stalled.message };
  if (reason === 'Processing' && before?.status !== 'True') return undefined;
  return { type: 'Normal', reason, note: [message, ...(ready.status === 'True' ? routes : [])].join('; ') };
}

/** A clone with a held-back change still runs; one whose pods are not ready yet may only have woken up. */
const WITHOUT_EVENT = new Set([messages.changeHeldBack, messages.noPod(undefined)]);

/** New reasons why clones do not run: the message, and the note with the name of the clone. */
function problems(before: Statuses | undefined, next: Statuses): readonly (readonly [string, string])[] {
  const old = clonesOf(before);
  return [...clonesOf(next)]
    .filter(([, { message }]) => message !== undefined && !WITHOUT_EVENT.has(message))
    .filter(([name, { message }]) => message !== old.get(name)?.message)
    .map(([name, { message = '' }]) => [message, `Deployment ${name}: ${message}`]);
}

/** The state of each clone, by namespace and name. */
function clonesOf({ subsetsStatus = {}, consumersStatus = {} }: Partial<Statuses> = {}): Map<string, CloneStatus> {
  const clones: CloneStatus[] = [
    ...Object.values(subsetsStatus).map(({ deployment }) => deployment),
    ...Object.values(consumersStatus),
  ];
  return new Map(clones.filter(({ name }) => name !== '').map((clone) => [`${clone.namespace}/${clone.name}`, clone]));
}

/** The errors of a status, by workload and message. */
function errorsOf({ subsetsStatus = {}, consumersStatus = {} }: Partial<Statuses> = {}): Map<string, string> {
  const lists = [
    ...Object.entries(subsetsStatus).map(([key, { subsetErrors }]) => ({
      key,
      errors: Object.values(subsetErrors ?? {}).flatMap((list) => list ?? []),
    })),
    ...Object.entries(consumersStatus).map(([key, { errors = [] }]) => ({ key, errors })),
  ];
  return new Map(lists.flatMap(({ key, errors }) => errors.map(({ error }) => [`${key}: ${error}`, error])));
}
