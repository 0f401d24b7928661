// How a claim or a target is: in one word, what is wrong with it, and as a verdict for whoever waits for it.
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import type { Condition } from '../../controller/conditions.ts';

/** One word: the phase, or what is to be said of one that has none or is on its way out. */
export function phaseOf({ metadata, status }: DeploymentTargetClaim | DeploymentTarget): string {
  const isGoing = metadata.deletionTimestamp !== undefined && status?.phase !== 'Failed';
  return isGoing ? 'Deleting' : status?.phase || 'Pending';
}

/** What a claim or target says is wrong with it. Of provisioning that only takes its time, nothing. */
export function problemOf(object: DeploymentTargetClaim | DeploymentTarget): string | undefined {
  const conditions = conditionsOf(object);
  const of = (name: string): Condition | undefined => conditions.find(({ type }) => type === name);
  const stalled = of('Stalled');
  if (stalled?.status === 'True') return reasonText(stalled);
  const error = of('ErrorOccurred');
  if (error?.status !== 'True') return undefined;
  // Where another condition says the same, that one has a word for it.
  const better = [of('Provisioned'), of('Ready')].find((each) => each?.message && error.message.endsWith(each.message));
  return better === undefined ? error.message : reasonText(better);
}

/** What to be warned of though a claim or target may be of use: told by conditions that are there only then. */
export function warningsOf(object: DeploymentTargetClaim | DeploymentTarget): readonly string[] {
  const conditions = conditionsOf(object);
  const isBound = object.status?.phase === 'Bound';
  // Of a Secret that is missing its own line tells.
  const isWarning = ({ type, status }: Condition): boolean =>
    status === 'False' && (['ClassMatches', 'Expires', 'Reserved'].includes(type) || (isBound && type === 'Ready'));
  return conditions.filter(isWarning).map(reasonText);
}

/** A condition as `Reason: message`. */
export function reasonText({ reason, message }: Partial<Pick<Condition, 'reason' | 'message'>>): string {
  return [reason, message].filter(Boolean).join(': ');
}

export type ClaimVerdict =
  | { readonly is: 'bound' }
  /** Nothing will change by itself. */
  | { readonly is: 'stuck'; readonly reason: string }
  | { readonly is: 'open' };

/** Why provisioning stopped, where the claim must be recreated, or nobody is at work on it any more. */
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
  if (phase === 'Lost') return { is: 'stuck', reason: problemOf(claim) ?? 'its target is gone' };
  const provisioned = conditionsOf(claim).find(({ type }) => type === 'Provisioned');
  if (provisioned?.status !== 'False' || !FINAL.has(provisioned.reason)) return { is: 'open' };
  return { is: 'stuck', reason: reasonText(provisioned) };
}
