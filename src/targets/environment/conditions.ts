// The conditions of an environment: none while all is well and always was; a pair, in a fixed order, once something was
// wrong. Their words are contract.
import { timestamp } from '../../kube/index.ts';
import type { Environment } from '../../api/targets.ts';
import type { Condition, Status } from '../../controller/index.ts';
import type { EnvironmentReason, UnboundReason } from '../reasons.ts';

/** What is wrong with an environment. */
export interface EnvironmentProblem {
  readonly reason: EnvironmentReason;
  readonly message: string;
}

/** Why an environment has no target yet: its claim waits for one, or has lost it. */
export type Unbound = UnboundReason;

const RESOLVED = 'Resolved';
const OURS: ReadonlySet<string> = new Set(['ErrorOccurred', 'Reconciled', 'Bound', 'Stalled']);

/** The status of an environment; undefined when there is nothing to say and nothing was ever said. */
export function environmentStatus(
  { status }: Environment,
  found: { readonly problem?: EnvironmentProblem | undefined; readonly unbound?: Unbound | undefined },
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
  const { problem, unbound } = found;
  const pair = problem === undefined ? resolved(of('ErrorOccurred'), of('Reconciled')) : failed(problem).map(upsert);
  const waiting = unbound === undefined ? [] : [upsert(waitingFor(unbound))];
  const others = before.filter(({ type }) => !OURS.has(type));
  const conditions = [...pair, ...waiting, ...others];
  return before.length === 0 && conditions.length === 0 ? undefined : { ...status, conditions };
}

function failed({ reason, message }: EnvironmentProblem): Omit<Condition, 'lastTransitionTime'>[] {
  return [
    { type: 'ErrorOccurred', status: 'True', reason: 'ErrorOccurred', message },
    { type: 'Reconciled', status: 'False', reason, message },
  ];
}

/** What was wrong stays told, as something that is over. Its time stays the one at which it went wrong. */
function resolved(error: Condition | undefined, reconciled: Condition | undefined): Condition[] {
  const over = (condition: Condition | undefined, status: 'True' | 'False'): Condition[] => {
    if (condition === undefined) return [];
    const reason = condition.reason.endsWith(RESOLVED) ? condition.reason : `${condition.reason}${RESOLVED}`;
    return [{ ...condition, status, reason, message: '' }];
  };
  return [...over(error, 'False'), ...over(reconciled, 'True')];
}

function waitingFor(reason: Unbound): Omit<Condition, 'lastTransitionTime'> {
  const message =
    reason === 'DeploymentTargetClaimLost' ? 'the claim has lost its target' : 'the claim is not bound to a target yet';
  return { type: 'Bound', status: 'False', reason, message };
}
