// The conditions of an environment, which tools can wait for.
import { timestamp } from '../../kube/times.ts';
import type { DynamicEnv, ResourceStatus } from '../../api/dynamicenv.ts';
import type { PlannedCondition, Status } from '../../controller/index.ts';
import { isRunning } from '../clone/clone-state.ts';
import { conflictTexts } from '../requests/conflicts.ts';
import type { Conflict } from '../requests/conflicts.ts';
import { errorsOf } from '../decision.ts';
import type { Decision } from '../decision.ts';
import type { IdentityRefusal } from '../identity/identity.ts';
import { leftBehindAdvised, leftBehindCondition } from './unwatched-namespaces.ts';
import { isAsleep, wakeText } from '../lifecycle/sleep.ts';
import { isPaused, PAUSED } from '../lifecycle/paused.ts';
import { DRAINING } from '../prune.ts';
import type { Pruning } from '../prune.ts';
import { messages } from './messages.ts';
import type { Unreached } from './reachability.ts';
import type { ConditionType, ReasonOf } from '../reasons.ts';

export type State = 'ready' | 'processing' | 'degraded';

/** What a reconcile found about all workloads. */
export interface Overall {
  readonly decisions: readonly Decision[];
  readonly pruning: Pruning;
  /** By subset: the status of the VirtualServices that lead to it. */
  readonly routes: ReadonlyMap<Decision, readonly ResourceStatus[]>;
  /** The subsets that no request reaches, and why. */
  readonly unreached: ReadonlyMap<Decision, Unreached>;
  readonly warnings: readonly string[];
  /** Whether other requests are routed as before. */
  readonly isolated?: PlannedCondition | undefined;
  readonly conflicts: readonly Conflict[];
}

type Conditions = NonNullable<Status['conditions']>;

const STATE_REASONS = { ready: 'Ready', processing: 'Processing', degraded: 'Degraded' } as const;

/** The conditions of an environment. */
export function conditionsFor(env: DynamicEnv, overall: Overall, state: State): Conditions {
  const { decisions, pruning, isolated } = overall;
  const waiting = decisions.filter((decision) => !isRunning(decision));
  const workloads = `${decisions.length - waiting.length} of ${decisions.length} workloads run`;
  const errors = [...decisions.flatMap((decision) => errorsOf(decision)), ...pruning.refusals];
  const [waits] = waiting.map(problemOf);
  const leaving = isPaused(env)
    ? 'objects that are no longer needed are kept'
    : withHeld('removing objects that are no longer needed', pruning);
  const problem = errors[0] ?? waits ?? unreachedTexts(overall.unreached)[0] ?? leaving;
  const stalled = state === 'degraded' ? errors.join('; ') || problem : '';
  return [
    ...(heldStates(env, overall, state, problem, stalled) ??
      states(state, STATE_REASONS[state], state === 'ready' ? workloads : problem, stalled)),
    workloadsReady(decisions, waiting, workloads),
    routed(overall),
    ...(isolated === undefined ? [] : [isolated]),
    ...conflicted(overall),
    ...draining(pruning),
    ...leftBehindCondition(pruning.leftBehind),
    ...(isPaused(env) ? [PAUSED] : []),
  ];
}

/** The conditions of an environment that is refused as a whole. */
export function conditionsOfRefusal({ reason, message }: IdentityRefusal, left: string | undefined): Conditions {
  const stalled = [message, ...(left === undefined ? [] : [leftBehindAdvised(left)])].join('; ');
  return [...states('degraded', reason, message, stalled), ...leftBehindCondition(left)];
}

/** The conditions of an environment that is being deleted. */
export function conditionsOfDeletion(pruning: Pruning): Conditions {
  // The same message until the last clone is gone: the end of a deletion is not worth another write.
  const { refusals, drainingSince, held = [] } = pruning;
  const isDraining = drainingSince !== undefined && held.length === 0;
  const message = isDraining ? 'draining requests' : withHeld(messages.removing, pruning);
  const state = refusals.length > 0 ? 'degraded' : 'processing';
  return [
    ...states(state, 'Deleting', refusals[0] ?? message, refusals.join('; ')),
    ...draining(pruning),
    ...leftBehindCondition(pruning.leftBehind),
  ];
}

/** Names the objects for which a removal waits. */
function withHeld(text: string, { held = [] }: Pruning): string {
  return held.length === 0 ? text : `${text}: ${held.join('; ')}`;
}

/** `Ready`, and the conditions of kstatus, by which other tools know whether to wait or to give up. */
function states(state: State, reason: ReasonOf<'Ready'>, message: string, stalled: string): PlannedCondition[] {
  const isStalled = state === 'degraded';
  return [
    condition('Ready', state === 'ready', reason, message),
    condition('Reconciling', state === 'processing', reason, state === 'processing' ? message : ''),
    condition('Stalled', isStalled, reason, isStalled ? stalled : ''),
  ];
}

/** The same for an environment that is kept from being ready on purpose; undefined for others. */
function heldStates(
  env: DynamicEnv,
  { decisions, pruning }: Overall,
  state: State,
  problem: string,
  stalled: string,
): PlannedCondition[] | undefined {
  if (isPaused(env) && state === 'processing') return held('Paused', `paused (spec.paused): ${problem}`);
  if (isPaused(env) || !isAsleep(env)) return undefined;
  const isAtRest = pruning.gone && decisions.every(({ cloneStatus, live }) => !live || cloneStatus.status === 'asleep');
  return held(
    'Asleep',
    `asleep: ${wakeText(env)}`,
    isAtRest ? '' : 'removing routes, then scaling clones to zero',
    stalled,
  );
}

function held(reason: ReasonOf<'Ready'>, message: string, reconciling = '', stalled = ''): PlannedCondition[] {
  return [
    condition('Ready', false, reason, message),
    condition('Reconciling', reconciling !== '', reason, reconciling),
    condition('Stalled', stalled !== '', reason, stalled),
  ];
}

function routed({ decisions, unreached, warnings }: Overall): PlannedCondition {
  const subsets = decisions.filter(({ consumer }) => !consumer);
  if (subsets.length === 0)
    return condition('Routed', true, 'NothingToRoute', ['there are no subsets', ...warnings].join('; '));
  if (unreached.size > 0) {
    const causes = [...unreached.values()];
    const { reason } = causes.find((each) => each.reason.startsWith('Waiting')) ?? causes[0]!;
    const texts = unreachedTexts(unreached);
    const others = warnings.filter((warning) => !texts.some((text) => text.includes(warning)));
    return condition('Routed', false, reason, [...texts, ...others].join('; '));
  }
  // What could not be routed is also among the errors.
  const errors = subsets.flatMap((each) => each.errors.filter(({ list }) => list === 'virtualServices'));
  const texts = [...new Set([...errors.map(({ message }) => message), ...warnings])];
  if (texts.length === 0) return condition('Routed', true, 'Routed', 'every subset receives its requests');
  return condition('Routed', true, 'RoutedWithWarnings', [messages.hasRoutes, ...texts].join('; '));
}

function unreachedTexts(unreached: Overall['unreached']): readonly string[] {
  return [...unreached].map(([{ key }, { message }]) => `${key}: ${message}`);
}

/** Only while other environments may ask for the same requests. `Ready` does not change: requests go to the first. */
function conflicted({ conflicts }: Overall): Conditions {
  if (conflicts.length === 0) return [];
  const { texts, more } = conflictTexts(conflicts);
  const message = [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  const isCertain = conflicts.some(({ relation }) => relation !== 'undecided');
  if (isCertain) return [condition('Conflicted', true, 'SameRequests', message)];
  return [{ ...condition('Conflicted', false, 'Undecided', message), status: 'Unknown' }];
}

/** Since when requests are drained: later plans read the time here. */
function draining({ drainingSince }: Pruning): Conditions {
  if (drainingSince === undefined) return [];
  const message = 'clones and rules without routes are removed once in-flight requests have drained';
  const lastTransitionTime = timestamp(drainingSince);
  return [{ ...condition(DRAINING, true, 'RoutesRemoved', message), lastTransitionTime }];
}

function condition<T extends ConditionType>(
  type: T,
  is: boolean,
  reason: ReasonOf<T>,
  message: string,
): PlannedCondition {
  return { type, status: is ? 'True' : 'False', reason, message };
}

function workloadsReady(
  decisions: readonly Decision[],
  waiting: readonly Decision[],
  workloads: string,
): PlannedCondition {
  const warnings = decisions.flatMap(({ workloadWarnings }) => workloadWarnings);
  const withWarnings = (text: string): string => [text, ...warnings].join('; ');
  if (waiting.length > 0) {
    const message = withWarnings(waiting.map(problemOf).join('; '));
    return { type: 'WorkloadsReady', status: 'False', reason: reasonOf(waiting), message };
  }
  return condition(
    'WorkloadsReady',
    true,
    warnings.length > 0 ? 'RunningWithWarnings' : 'AllRunning',
    withWarnings(workloads),
  );
}

function problemOf({ key, cloneStatus: { status }, problem }: Decision): string {
  if (problem === undefined) return `${key}: ${status}`;
  return status === 'running' ? `${key}: ${problem.message}` : `${key}: ${status} (${problem.message})`;
}

/** The first reason that is known: ours, or one of Kubernetes. */
function reasonOf(waiting: readonly Decision[]): string {
  const asleep: ReasonOf<'WorkloadsReady'> = 'Asleep';
  const unknown: ReasonOf<'WorkloadsReady'> = 'NotRunning';
  if (waiting.every(({ cloneStatus }) => cloneStatus.status === 'asleep')) return asleep;
  return waiting.find(({ problem }) => problem !== undefined)?.problem?.reason ?? unknown;
}
