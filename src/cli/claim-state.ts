// How a claim or a target is, in one word and as a verdict. Read by every command that shows or waits for one.
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { conditionsOf } from '../controller/conditions.ts';
import type { Condition } from '../controller/conditions.ts';

/** One word: the phase, or what is to be said of one that has none or is on its way out. */
export function phaseOf({ metadata, status }: DeploymentTargetClaim | DeploymentTarget): string {
  const isGoing = metadata.deletionTimestamp !== undefined && status?.phase !== 'Failed';
  return isGoing ? 'Deleting' : status?.phase || 'Pending';
}

/** What a claim or target says is wrong with it. Of provisioning that only takes its time, nothing. */
export function complaintOf(object: DeploymentTargetClaim | DeploymentTarget): string | undefined {
  const conditions = conditionsOf(object);
  const error = conditions.find(({ type, status }) => type === 'ErrorOccurred' && status === 'True');
  const provisioned = conditions.find(({ type }) => type === 'Provisioned');
  // Where both say the same, this one has the better word for it.
  return error?.message === provisioned?.message ? provisioned && saying(provisioned) : error?.message;
}

/** A condition as `Reason: message`. */
export function saying({ reason, message }: Partial<Pick<Condition, 'reason' | 'message'>>): string {
  return [reason, message].filter(Boolean).join(': ');
}

export type ClaimVerdict =
  | { readonly is: 'bound' }
  /** Nothing will change by itself. */
  | { readonly is: 'stuck'; readonly reason: string }
  | { readonly is: 'open' };

/** Why provisioning stopped, where the claim must be made anew, or nobody is at work on it any more. */
const FINAL: ReadonlySet<string> = new Set([
  'DeadlineExceeded',
  'InvalidNamespaceName',
  'InvalidParameters',
  'NameTooLong',
]);

/** Whether waiting for a claim is over. */
export function verdictOf(claim: DeploymentTargetClaim): ClaimVerdict {
  if (claim.metadata.deletionTimestamp !== undefined) return { is: 'stuck', reason: 'it is being deleted' };
  const phase = claim.status?.phase;
  if (phase === 'Bound') return { is: 'bound' };
  if (phase === 'Lost') return { is: 'stuck', reason: complaintOf(claim) ?? 'its target is gone' };
  const provisioned = conditionsOf(claim).find(({ type }) => type === 'Provisioned');
  if (provisioned?.status !== 'False' || !FINAL.has(provisioned.reason)) return { is: 'open' };
  return { is: 'stuck', reason: saying(provisioned) };
}
