// Lookups of the namespace provisioner: the target and the claim that a namespace was made for.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { defineTable, refOf } from '../../kube/index.ts';
import type { Ref } from '../../kube/index.ts';
import { claimNameOf, isTraced } from '../claim-ref.ts';
import { CLAIM_UID, CLASS_NAME, NAMESPACE_PROVISIONER, OF_CLAIM, OF_TARGET, PROVISIONED_BY } from '../names.ts';
import { Namespace } from '../objects.ts';
import { wasUsed } from '../world.ts';
import { MADE_BY, MADE_BY_LABEL, TARGET_MADE } from './names.ts';

/** The class of a warm namespace, which was made for no claim. */
function warmClass({ metadata }: Namespace): readonly string[] {
  const { [CLASS_NAME]: className, [OF_CLAIM]: ofClaim } = metadata.annotations ?? {};
  return className === undefined || ofClaim !== undefined ? [] : [className];
}

export const WarmNamespaces = defineTable(Namespace, { indexes: { warm: warmClass } });

/** A namespace of ours with its target and its claim. */
export interface ProvisionedNamespace {
  readonly namespace: Namespace;
  readonly className: string;
  /** The name that its target has or will have. */
  readonly targetRef: Required<Ref>;
  /** The target; undefined if another target has its name. */
  readonly target: DeploymentTarget | undefined;
  readonly isNameTaken: boolean;
  /** Whether a claim has the target of that name, or another binder says so. */
  readonly isClaimed: boolean;
  /** Whether a target was ever made. */
  readonly wasMade: boolean;
  /** The claim that it was made for; undefined for a warm one. */
  readonly claimRef: Ref | undefined;
  /** That very claim, if it still exists. */
  readonly claim: DeploymentTargetClaim | undefined;
}

/** What a namespace was made for; undefined if we did not make it. */
export function provisionedNamespaceOf(view: View, namespace: Namespace): ProvisionedNamespace | undefined {
  const { labels, annotations = {} } = namespace.metadata;
  const { [OF_TARGET]: ofTarget, [OF_CLAIM]: ofClaim, [CLASS_NAME]: className = '' } = annotations;
  if (labels?.[MADE_BY_LABEL] !== MADE_BY || ofTarget === undefined) return undefined;
  const targetRef = refOf(ofTarget) as Required<Ref>;
  const holder = view.get(DeploymentTarget, targetRef);
  const isItsTarget = holder !== undefined && isTargetOf(holder, namespace);
  const claimRef = ofClaim === undefined ? undefined : refOf(ofClaim);
  const claim = claimRef && view.get(DeploymentTargetClaim, claimRef);
  return {
    namespace,
    className,
    targetRef,
    target: isItsTarget ? holder : undefined,
    isNameTaken: holder !== undefined && !isItsTarget,
    isClaimed: holder !== undefined && (isTraced(holder) || holder.status?.phase === 'Bound'),
    wasMade: annotations[TARGET_MADE] !== undefined,
    claimRef,
    claim: claim?.metadata.uid === annotations[CLAIM_UID] ? claim : undefined,
  };
}

/** Whether a target is the one that was made for a namespace. */
export function isTargetOf({ metadata, spec }: DeploymentTarget, namespace: Namespace): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === NAMESPACE_PROVISIONER &&
    spec.kubernetesCredentials.defaultNamespace === namespace.metadata.name &&
    namespace.metadata.annotations?.[OF_TARGET] === `${metadata.namespace}/${metadata.name}`
  );
}

/** Whether no claim has or ever had a namespace: it may be claimed, or deleted. */
export function isFree({ namespace, claimRef, target, wasMade }: ProvisionedNamespace): boolean {
  if (claimRef !== undefined || namespace.metadata.deletionTimestamp !== undefined) return false;
  if (target === undefined) return !wasMade;
  const isUsed = wasUsed(target) || target.status?.phase === 'Failed';
  return !isUsed && target.metadata.deletionTimestamp === undefined && claimNameOf(target) === '';
}
