// What to watch in order to follow the progress of a claim: objects of these kinds, and what they mean for it.
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget } from '../../api/targets.ts';
import type { DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Selection } from '../../kube/client/client.ts';
import type { AnyKind, Kind, KubeObject } from '../../kube/objects.ts';
import { refersTo } from '../claim-ref.ts';
import { CLAIM_LABEL, DEVSANDBOX, fitsLabel, NAMESPACE_PROVISIONER } from '../names.ts';
import { Namespace } from '../objects.ts';
import type { ClaimProgress } from './progress.ts';
import { isMadeFor, isNamespaceOf, MADE_NAMESPACES } from './world.ts';

export interface ProgressSource {
  readonly kind: AnyKind;
  readonly selection: Selection;
  /** The part of the claim's progress that the selected objects show. */
  readonly seen: (objects: readonly KubeObject[]) => Partial<ClaimProgress>;
}

/** The objects that show the target of a claim and what stands behind it. */
export function progressSources(
  claim: DeploymentTargetClaim,
  ofClass: DeploymentTargetClass | undefined,
): readonly ProgressSource[] {
  const { name, namespace = '' } = claim.metadata;
  const provisioner = ofClass?.spec.provisioner;
  return [
    source(DeploymentTarget, { namespace }, (targets) => ({
      target: targets.find((each) => refersTo(each, claim) || each.metadata.name === claim.spec.targetName),
    })),
    ...(provisioner === DEVSANDBOX && fitsLabel(name)
      ? [
          source(SpaceRequest, { namespace, labelSelector: `${CLAIM_LABEL}=${name}` }, (requests) => ({
            requests: requests.filter((each) => isMadeFor(claim, each)),
          })),
        ]
      : []),
    ...(provisioner === NAMESPACE_PROVISIONER
      ? [
          source(Namespace, { labelSelector: MADE_NAMESPACES }, (namespaces) => ({
            namespaces: new Map(
              namespaces.filter((each) => isNamespaceOf(claim, each)).map((each) => [each.metadata.name, each]),
            ),
          })),
        ]
      : []),
  ];
}

function source<T extends KubeObject>(
  kind: Kind<T>,
  selection: Selection,
  seen: (objects: readonly T[]) => Partial<ClaimProgress>,
): ProgressSource {
  return { kind, selection, seen: (objects) => seen(objects as readonly T[]) };
}
