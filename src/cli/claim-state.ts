// How a claim or a target is, in one word and as a verdict. Read by every command that shows or waits for one.
import type { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { conditionsOf } from '../controller/conditions.ts';
import type { Condition } from '../controller/conditions.ts';

/** One word: the phase, or what is to be said of one that has none or is on its way out. */
export function phaseOf({ metadata, status }: DeploymentTargetClaim | DeploymentTarget): string {
  return metadata.deletionTimestamp === undefined ? status?.phase || 'Pending' : 'Deleting';
}

/** What a claim or target says is wrong with it. */
export function complaintsOf(object: DeploymentTargetClaim | DeploymentTarget): string[] {
  const conditions = conditionsOf(object);
  const provisioned = conditions.find(({ type, status }) => type === 'Provisioned' && status === 'False');
  const error = conditions.find(({ type, status }) => type === 'ErrorOccurred' && status === 'True');
  return [
    ...(provisioned === undefined ? [] : [saying(provisioned)]),
    ...(error === undefined || error.message === provisioned?.message ? [] : [error.message]),
  ];
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
  if (phase === 'Lost') return { is: 'stuck', reason: complaintsOf(claim).join('; ') || 'its target is gone' };
  const provisioned = conditionsOf(claim).find(({ type }) => type === 'Provisioned');
  if (provisioned?.status !== 'False' || !FINAL.has(provisioned.reason)) return { is: 'open' };
  return { is: 'stuck', reason: saying(provisioned) };
}
