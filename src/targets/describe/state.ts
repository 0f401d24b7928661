// The state of a claim or a target: its phase, its problems, and whether waiting for it makes sense.
import type { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { conditionsOf } from '../../controller/conditions.ts';
import type { Condition } from '../../controller/conditions.ts';
import type { KubeObject } from '../../kube/objects.ts';

/** The phase; `Deleting` while it is being deleted, `Pending` if it has no phase yet. */
export function phaseOf({ metadata, status }: DeploymentTargetClaim | DeploymentTarget): string {
  const isDeleting = metadata.deletionTimestamp !== undefined && status?.phase !== 'Failed';
  return isDeleting ? 'Deleting' : status?.phase || 'Pending';
}

/** The problem that a claim or target reports; none while provisioning is only in progress. */
export function problemOf(object: DeploymentTargetClaim | DeploymentTarget): string | undefined {
  const conditions = conditionsOf(object);
  const of = (name: string): Condition | undefined => conditions.find(({ type }) => type === name);
  const stalled = of('Stalled');
  if (stalled?.status === 'True') return reasonText(stalled);
  const error = of('ErrorOccurred');
  if (error?.status !== 'True') return undefined;
  // A condition with the same message has a more exact reason.
  const better = [of('Provisioned'), of('Ready')].find((each) => each?.message && error.message.endsWith(each.message));
  return better === undefined ? error.message : reasonText(better);
}

/** Warnings of a claim or target that can be used: from conditions that exist only then. */
export function warningsOf(object: DeploymentTargetClaim | DeploymentTarget): readonly string[] {
  // A missing Secret has a line of its own.
  const types = ['ClassMatches', 'Expires', 'Reserved', ...(object.status?.phase === 'Bound' ? ['Ready'] : [])];
  return unmet(object, types).map(reasonText);
}

/**
 * Why deployments to a claim or target fail although its phase says that it can be used: what is behind it is gone, or
 * a bound target has no Secret.
 */
export function brokenOf(object: DeploymentTargetClaim | DeploymentTarget): string | undefined {
  const phase = phaseOf(object);
  if (phase !== 'Available' && phase !== 'Bound') return undefined;
  const [first] = unmet(object, ['Ready']);
  // A target may be claimed before its Secret exists.
  const isEarly = phase === 'Available' && first?.reason === 'SecretNotFound';
  return first && !isEarly ? reasonText(first) : undefined;
}

/** The conditions of these types that are false. */
function unmet(object: DeploymentTargetClaim | DeploymentTarget, types: readonly string[]): readonly Condition[] {
  return conditionsOf(object).filter(({ type, status }) => status === 'False' && types.includes(type));
}

/** Why a namespace that is being deleted still exists, as the server reports it. */
export function namespaceProblems(namespace: KubeObject): readonly string[] {
  return conditionsOf(namespace)
    .filter(({ type, status }) => type.startsWith('Namespace') && status === 'True')
    .map(reasonText);
}

/** A condition as `Reason: message`. */
export function reasonText({ reason, message }: Partial<Pick<Condition, 'reason' | 'message'>>): string {
  return [reason, message].filter(Boolean).join(': ');
}

/** The end of the message of a claim whose place is gone for good. */
export const START_AGAIN = 'delete the claim and create another';

export type ClaimVerdict =
  | { readonly is: 'bound' }
  /** Nothing will change by itself. */
  | { readonly is: 'stuck'; readonly reason: string }
  | { readonly is: 'open' };

/** Reasons why provisioning has stopped for good: the claim must be recreated, or no controller works on it. */
const FINAL: ReadonlySet<string> = new Set([
  'DeadlineExceeded',
  'InvalidNamespaceName',
  'InvalidParameters',
  'NameTooLong',
]);

/** Whether to go on waiting for a claim. */
export function verdictOf(claim: DeploymentTargetClaim): ClaimVerdict {
  if (claim.metadata.deletionTimestamp !== undefined) return { is: 'stuck', reason: 'it is being deleted' };
  const phase = claim.status?.phase;
  if (phase === 'Bound') return boundVerdict(claim);
  if (phase === 'Lost') return { is: 'stuck', reason: problemOf(claim) ?? 'its target is gone' };
  const provisioned = conditionsOf(claim).find(({ type }) => type === 'Provisioned');
  if (provisioned?.status !== 'False' || !FINAL.has(provisioned.reason)) return { is: 'open' };
  return { is: 'stuck', reason: reasonText(provisioned) };
}

/** Reasons why a bound claim can't be used any more: what is behind its target is not recreated. */
const GONE: ReadonlySet<string> = new Set([
  'NamespaceNotFound',
  'NamespaceDeleting',
  'SpaceRequestNotFound',
  'SpaceRequestDeleting',
]);

function boundVerdict(claim: DeploymentTargetClaim): ClaimVerdict {
  const ready = conditionsOf(claim).find(({ type, status }) => type === 'Ready' && status === 'False');
  if (ready === undefined) return { is: 'bound' };
  // The Secret, or new credentials, may come later.
  if (ready.reason === 'SecretNotFound' || ready.reason === 'CredentialsExpired') return { is: 'open' };
  const isGone = GONE.has(ready.reason) || ready.message.endsWith(START_AGAIN);
  return isGone ? { is: 'stuck', reason: reasonText(ready) } : { is: 'bound' };
}
