// The conditions of an environment: the same as its state says in one word, in the form that tools wait for.
import type { ResourceStatus } from '../api/dynamicenv.ts';
import type { PlannedCondition, Status } from '../controller/index.ts';
import { errorsOf } from './item.ts';
import type { Item } from './item.ts';
import { DRAINING } from './leave.ts';
import type { Leaving } from './leave.ts';

export type State = 'ready' | 'processing' | 'degraded';

/** What a whole pass found out. */
export interface Overall {
  readonly items: readonly Item[];
  readonly leaving: Leaving;
  /** By item: the VirtualServices that lead to it, as they will be after this pass. */
  readonly routes: ReadonlyMap<Item, readonly ResourceStatus[]>;
  readonly warnings: readonly string[];
}

/** Why an environment as a whole is refused. */
export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

type Conditions = NonNullable<Status['conditions']>;

/** The conditions of an environment that is made. */
export function conditionsFor(overall: Overall, state: State): Conditions {
  const { items, leaving } = overall;
  const waiting = items.filter((item) => !isRunning(item));
  const workloads = `${items.length - waiting.length} of ${items.length} workloads run`;
  const errors = [...items.flatMap((item) => errorsOf(item)), ...leaving.refusals];
  const [waits] = waiting.map(problemOf);
  const isSettling = items.some(({ routes }) => routes === 'wait');
  const rest = isSettling ? 'routes wait until proxies know the rules' : 'removing what is no longer wanted';
  const problem = errors[0] ?? waits ?? rest;
  return [
    ...states(state, capitalised(state), state === 'ready' ? workloads : problem, errors.join('; ') || problem),
    workloadsReady(items, waiting, workloads),
    routed(overall),
    ...draining(leaving),
  ];
}

/** The conditions of an environment that can't be made. */
export function conditionsOfRefusal({ reason, message }: Refusal): Conditions {
  return states('degraded', reason, message, message);
}

/** The conditions of an environment that is being deleted. */
export function conditionsOfDeletion(leaving: Leaving): Conditions {
  // The same from the last request to the last clone: the end of a deletion is not worth another write.
  const message = leaving.drainingSince === undefined ? 'removing what was made' : 'letting requests end';
  const { refusals } = leaving;
  const state = refusals.length > 0 ? 'degraded' : 'processing';
  return [...states(state, 'Deleting', refusals[0] ?? message, refusals.join('; ')), ...draining(leaving)];
}

/** `Ready`, and the two that tell tools which do not know us whether to wait or to give up. */
function states(state: State, reason: string, message: string, stalled: string): PlannedCondition[] {
  const isStalled = state === 'degraded';
  return [
    condition('Ready', state === 'ready', reason, message),
    condition('Reconciling', state === 'processing', reason, state === 'processing' ? message : ''),
    condition('Stalled', isStalled, reason, isStalled ? stalled : ''),
  ];
}

function routed({ items, routes, warnings }: Overall): PlannedCondition {
  const subsets = items.filter((item) => !item.consumer);
  const isThere = (resources: readonly ResourceStatus[] = []): boolean =>
    resources.some(({ status }) => status === 'running');
  const unrouted = subsets.filter(
    (item) => item.routes === 'wait' || item.notReady || !isThere(item.rules) || !isThere(routes.get(item)),
  );
  const keys = unrouted.map(({ key }) => key).join(', ');
  const routedText = warnings.length > 0 ? 'every subset has routes' : 'every subset receives its requests';
  const routedOrNone = subsets.length === 0 ? 'there are no subsets' : routedText;
  const text = unrouted.length === 0 ? routedOrNone : `${keys} not routed yet`;
  return condition(
    'Routed',
    unrouted.length === 0,
    routedReason(subsets, unrouted, warnings),
    [text, ...warnings].join('; '),
  );
}

function routedReason(subsets: readonly Item[], unrouted: readonly Item[], warnings: readonly string[]): string {
  if (subsets.length === 0) return 'NothingToRoute';
  if (unrouted.some((item) => item.routes === 'wait' && !item.failed)) return 'WaitingForWorkloads';
  if (unrouted.length > 0) return 'RoutesMissing';
  return warnings.length > 0 ? 'RoutedWithWarnings' : 'Routed';
}

/** Since when requests may still be under way to what leaves: later plans read the time here. */
function draining({ drainingSince }: Leaving): Conditions {
  if (drainingSince === undefined) return [];
  const message = 'clones and rules that nothing leads to any more are removed when requests on their way have ended';
  const lastTransitionTime = new Date(drainingSince).toISOString().replace('.000Z', 'Z');
  return [{ ...condition(DRAINING, true, 'RoutesRemoved', message), lastTransitionTime }];
}

function condition(type: string, is: boolean, reason: string, message: string): PlannedCondition {
  return { type, status: is ? 'True' : 'False', reason, message };
}

function workloadsReady(items: readonly Item[], waiting: readonly Item[], workloads: string): PlannedCondition {
  const warnings = items.flatMap((item) => item.workloadWarnings);
  const told = (text: string): string => [text, ...warnings].join('; ');
  if (waiting.length > 0) {
    return condition('WorkloadsReady', false, reasonOf(waiting), told(waiting.map(problemOf).join('; ')));
  }
  return condition('WorkloadsReady', true, warnings.length > 0 ? 'RunningWithWarnings' : 'AllRunning', told(workloads));
}

/** Whether the clone of an item does its work: one that came up once may have fallen since. */
export function isRunning({ clone, problem }: Item): boolean {
  return clone.status === 'running' && problem === undefined;
}

function problemOf({ key, clone, problem }: Item): string {
  if (problem === undefined) return `${key}: ${clone.status}`;
  return clone.status === 'running' ? `${key}: ${problem.message}` : `${key}: ${clone.status} (${problem.message})`;
}

/** The first that is known. */
function reasonOf(waiting: readonly Item[]): string {
  return waiting.find(({ problem }) => problem !== undefined)?.problem?.reason ?? 'NotRunning';
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
