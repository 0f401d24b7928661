// The name of the target that a provisioner makes for a claim, and what to do when somebody else has it.
import { DeploymentTarget } from '../api/targets.ts';
import type { DeploymentTargetClaim } from '../api/targets.ts';
import type { View } from '../controller/index.ts';
import { refersTo } from './claim-ref.ts';
import type { Problem } from './wanted.ts';
import { targetsReferringTo } from './world.ts';

/** The name of the target made for the claim of this name. */
export function sandboxTarget(claim: string): string {
  return `${claim}-dt`;
}

/** Another target has the name that the claim's target would get. One that is going is waited for. */
export function targetNameProblem(view: View, claim: DeploymentTargetClaim): Problem | undefined {
  const { name, namespace } = claim.metadata;
  if (targetsReferringTo(view, claim).length > 0) return undefined;
  const holder = view.get(DeploymentTarget, { name: sandboxTarget(name), namespace });
  if (holder === undefined || refersTo(holder, claim) || holder.metadata.deletionTimestamp !== undefined) {
    return undefined;
  }
  const message = `DeploymentTarget ${holder.metadata.name} exists already and is not for this claim: delete it, or have it refer to the claim`;
  return { reason: 'TargetNameTaken', message };
}
