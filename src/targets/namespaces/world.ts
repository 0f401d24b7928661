// Lookups of the namespace provisioner: the target and the claim that a namespace was made for.
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import type { View } from '../../controller/index.ts';
import { defineTable, keyOf, refOf } from '../../kube/index.ts';
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

function ofTarget({ metadata }: Namespace): readonly string[] {
  const target = metadata.annotations?.[OF_TARGET];
  return target === undefined ? [] : [target];
}

const TargetNamespaces = defineTable(Namespace, { indexes: { target: ofTarget } });

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
  const { annotations = {} } = namespace.metadata;
  const { [OF_TARGET]: ofTarget, [OF_CLAIM]: ofClaim, [CLASS_NAME]: className = '' } = annotations;
  if (!isOurs(namespace) || ofTarget === undefined) return undefined;
  const targetRef = refOf(ofTarget) as Required<Ref>;
  const holder = view.get(DeploymentTarget, targetRef);
  const isItsTarget = holder !== undefined && namespaceOf(view, holder)?.metadata.name === namespace.metadata.name;
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

/**
 * The namespace of a target: the one that it names or, if that was not made for it, the one that was made for this very
 * target. Then somebody changed the name.
 */
export function namespaceOf(view: View, target: DeploymentTarget): Namespace | undefined {
  const named = view.get(Namespace, { name: target.spec.kubernetesCredentials.defaultNamespace });
  if (named !== undefined && isTargetOf(target, named)) return named;
  const made = namespacesFor(view, target).filter((each) => wasMadeFor(each, target));
  return made.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? made[0];
}

/** Namespaces that say that they were made for a target of this name. */
export function namespacesFor(view: View, { metadata }: DeploymentTarget): readonly Namespace[] {
  return view.index(TargetNamespaces, 'target', keyOf(metadata));
}

/** Whether a namespace was made for this very target, whatever namespace that names. */
function wasMadeFor({ metadata: { annotations } }: Namespace, { metadata }: DeploymentTarget): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === NAMESPACE_PROVISIONER &&
    annotations?.[OF_TARGET] === keyOf(metadata) &&
    annotations[TARGET_MADE] === metadata.uid
  );
}

/** Whether a namespace is one that we keep up. */
export function isOurs({ metadata }: Namespace): boolean {
  return metadata.labels?.[MADE_BY_LABEL] === MADE_BY;
}

/** Whether a target is the one that was made for a namespace. */
export function isTargetOf({ metadata, spec }: DeploymentTarget, namespace: Namespace): boolean {
  return (
    metadata.annotations?.[PROVISIONED_BY] === NAMESPACE_PROVISIONER &&
    spec.kubernetesCredentials.defaultNamespace === namespace.metadata.name &&
    namespace.metadata.annotations?.[OF_TARGET] === keyOf(metadata)
  );
}

/** Whether no claim has or ever had a namespace: it may be claimed, or deleted. */
export function isFree({ namespace, claimRef, target, wasMade }: ProvisionedNamespace): boolean {
  if (claimRef !== undefined || namespace.metadata.deletionTimestamp !== undefined) return false;
  if (target === undefined) return !wasMade;
  const isUsed = wasUsed(target) || target.status?.phase === 'Failed';
  return !isUsed && target.metadata.deletionTimestamp === undefined && claimNameOf(target) === '';
}
