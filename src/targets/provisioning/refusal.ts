// What the server refuses to a provisioner goes to the claim: the provisioner writes it there, the binder keeps it.
import { DeploymentTargetClaim } from '../../api/targets.ts';
import { editStatus } from '../../kube/index.ts';
import type { Step } from '../../kube/index.ts';
import { condition, withPlanned } from '../status.ts';
import type { Problem } from './eligible.ts';

/** The condition that says how the provisioning of a claim goes on. */
export const PROVISIONED = 'Provisioned';

/** The reason of a write that the server refused to a provisioner. */
const REFUSED = 'UnableToProvision';

/** What a provisioner writes on a claim for which the server let it make nothing. */
export function refusedTo(
  claim: DeploymentTargetClaim,
  message: string,
  now: number,
): { readonly steps: readonly Step[] } {
  // What the binder made of it must not be written over again, which would wake both forever.
  if (isSameRefusal(refusalOn(claim)?.message, message)) return { steps: [] };
  const next = condition(PROVISIONED, false, REFUSED, message);
  const conditions = withPlanned(claim.status?.conditions, next, now);
  return { steps: [editStatus(DeploymentTargetClaim, claim, { ...claim.status, conditions })] };
}

/** Whether two refusals say the same, but for numbers and ids: some servers have new ones each time. */
export function isSameRefusal(before: string | undefined, now: string): boolean {
  const [one, other] = [before, now].map((text) => text?.replaceAll(/[\da-f-]*\d[\da-f-]*/gi, '#'));
  return one === other;
}

/** What a provisioner wrote last about a claim for which there is nothing yet. It stays until there is. */
export function refusalOn({ status }: DeploymentTargetClaim): Problem | undefined {
  const said = status?.conditions?.find(({ type, reason }) => type === PROVISIONED && reason === REFUSED);
  return said && { reason: REFUSED, message: said.message };
}
