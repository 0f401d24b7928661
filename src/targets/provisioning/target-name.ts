// The problem of a claim whose target can't be made because another target has the name.
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClaim } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { claimNameOf, refersTo } from '../claim-ref.ts';
import { couldTakeOver } from '../binding/match.ts';
import { MAKE_AVAILABLE, sandboxTarget } from '../names.ts';
import { bindingProblem } from '../reclaim/backing.ts';
import type { Problem } from './eligible.ts';
import { targetsReferringTo } from '../world.ts';

/** Reports another target that has the name of the claim's target. One that is being deleted is waited for. */
export function targetNameProblem(view: View, claim: DeploymentTargetClaim): Problem | undefined {
  const { name, namespace } = claim.metadata;
  if (targetsReferringTo(view, claim).length > 0) return undefined;
  const holder = view.get(DeploymentTarget, { name: sandboxTarget(name), namespace });
  if (holder === undefined || refersTo(holder, claim) || holder.metadata.deletionTimestamp !== undefined) {
    return undefined;
  }
  const message = `DeploymentTarget ${holder.metadata.name} exists already and is not for this claim${advice(view, claim, holder)}`;
  return { reason: 'TargetNameTaken', message };
}

/** What the user has to do to get a target for the claim. */
function advice(view: View, claim: DeploymentTargetClaim, holder: DeploymentTarget): string {
  const { metadata, status } = holder;
  const dt = `${metadata.name} -n ${metadata.namespace}`;
  if (status?.phase === 'Released') {
    const origin = '; an earlier claim released it with what is deployed there.';
    const reuse = ` To get it as it is, kubectl annotate dt ${dt} ${MAKE_AVAILABLE}=true;`;
    const replace = ` to get another one, kubectl delete dt ${dt}`;
    return `${origin}${couldTakeOver(claim, holder) ? reuse : ''}${replace}`;
  }
  if (status?.phase === 'Bound') return `: it is bound to ${claimNameOf(holder)}; use another name for the claim`;
  const backing = bindingProblem(view, holder);
  return backing === undefined ? ': delete it, or set its claimRef to the claim' : `: ${backing.message}`;
}
