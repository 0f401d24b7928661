// Writes that the server refused to a provisioner: it reports them on the claim, and the binder keeps the report.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import { editStatus } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { condition, withPlanned } from '../status.ts';
import type { Problem } from './eligible.ts';

/** The condition type for the provisioning of a claim. */
export const PROVISIONED = 'Provisioned';

/** The reason for a write that the server refused to a provisioner. */
const REFUSED = 'UnableToProvision';

/** Reports a refused write of a provisioner on the claim. */
export function refusedTo(
  claim: DeploymentTargetClaim,
  message: string,
  now: number,
): { readonly steps: readonly Step[] } {
  // Do not overwrite what the binder made of it: both would reconcile forever.
  if (isSameRefusal(refusalOn(claim)?.message, message)) return { steps: [] };
  const next = condition(PROVISIONED, false, REFUSED, message);
  const conditions = withPlanned(claim.status?.conditions, next, now);
  return { steps: [editStatus(DeploymentTargetClaim, claim, { ...claim.status, conditions })] };
}

/** Whether two refusals are the same except for numbers and ids, which some servers generate each time. */
export function isSameRefusal(before: string | undefined, now: string): boolean {
  const [one, other] = [before, now].map((text) => text?.replaceAll(/[\da-f-]*\d[\da-f-]*/gi, '#'));
  return one === other;
}

/** The refusal that a provisioner last reported on a claim. */
export function refusalOn({ status }: DeploymentTargetClaim): Problem | undefined {
  const refused = status?.conditions?.find(({ type, reason }) => type === PROVISIONED && reason === REFUSED);
  return refused && { reason: REFUSED, message: refused.message };
}
