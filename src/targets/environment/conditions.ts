// The conditions of an environment: none if all is well; a pair in a fixed order while there is a problem, and for a
// while after it is solved. Their reasons and messages are contract.
import { timestamp } from '../../kube/index.ts';
import type { Environment } from '../../api/targets.ts';
import type { Condition, Status } from '../../controller/index.ts';
import type { EnvironmentReason, UnboundReason } from '../reasons.ts';

/** A problem of an environment. */
export interface EnvironmentProblem {
  readonly reason: EnvironmentReason;
  readonly message: string;
}

/** Why an environment has no target yet: its claim waits for one, or has lost it. */
export type Unbound = UnboundReason;

const RESOLVED = 'Resolved';
const PAIR: ReadonlySet<string> = new Set(['ErrorOccurred', 'Reconciled']);
const OURS: ReadonlySet<string> = new Set([...PAIR, 'Bound', 'Stalled']);

/** What there is to report about an environment. */
interface Findings {
  readonly problem?: EnvironmentProblem | undefined;
  readonly unbound?: Unbound | undefined;
  /** Whether a solved problem has been reported as resolved for long enough. */
  readonly isOver: boolean;
}

/** The status of an environment; undefined when there is nothing to report and nothing was ever reported. */
export function environmentStatus(
  { status }: Environment,
  { problem, unbound, isOver }: Findings,
  now: number,
): Status | undefined {
  const before = status?.conditions ?? [];
  const of = (type: string): Condition | undefined => before.find((each) => each.type === type);
  const time = timestamp(now);
  const upsert = (next: Omit<Condition, 'lastTransitionTime'>): Condition => {
    const old = of(next.type);
    const isSame = old?.status === next.status && old.reason === next.reason && old.message === next.message;
    return isSame ? old : { ...next, lastTransitionTime: time };
  };
  const solved = isOver ? [] : resolved(of('ErrorOccurred'), of('Reconciled'));
  const pair = problem === undefined ? solved : failed(problem).map(upsert);
  const waiting = unbound === undefined ? [] : [upsert(waitingFor(unbound))];
  const others = before.filter(({ type }) => !OURS.has(type));
  const conditions = [...pair, ...waiting, ...others];
  return before.length === 0 && conditions.length === 0 ? undefined : { ...status, conditions };
}

/** Whether the conditions of an environment say that a problem is resolved. */
export function isReportedResolved({ status }: Environment): boolean {
  return (status?.conditions ?? []).some(({ type, reason }) => PAIR.has(type) && reason.endsWith(RESOLVED));
}

function failed({ reason, message }: EnvironmentProblem): Omit<Condition, 'lastTransitionTime'>[] {
  return [
    { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message },
    { type: 'Reconciled', status: 'False', reason, message },
  ];
}

/** Marks the conditions of a problem as resolved. Their time stays the one at which the problem occurred. */
function resolved(error: Condition | undefined, reconciled: Condition | undefined): Condition[] {
  const resolve = (condition: Condition | undefined, status: 'True' | 'False'): Condition[] => {
    if (condition === undefined) return [];
    const reason = condition.reason.endsWith(RESOLVED) ? condition.reason : `${condition.reason}${RESOLVED}`;
    return [{ ...condition, status, reason, message: '' }];
  };
  return [...resolve(error, 'False'), ...resolve(reconciled, 'True')];
}

function waitingFor(reason: Unbound): Omit<Condition, 'lastTransitionTime'> {
  const message =
    reason === 'DeploymentTargetClaimLost' ? 'the claim has lost its target' : 'the claim is not bound to a target yet';
  return { type: 'Bound', status: 'False', reason, message };
}
