// Every reason that a condition of a claim, a target, an Environment or a space may have, with what it means and what
// to do.
import type { ReasonCatalogue } from '../controller/index.ts';

/** Problems of the namespace or space behind a target, reported by the target and by its claim. */
const PLACE = {
  NamespaceNotFound: {
    meaning: 'Somebody deleted the namespace of the target, with everything in it, or the target names another one.',
    advice:
      'If the message names another namespace that was made for the target, set the target back to that. Otherwise delete the claim and create another: the namespace is not recreated, because it would be empty.',
  },
  NamespaceDeleting: {
    meaning: 'The namespace of the target is being deleted.',
    advice: 'Delete the claim and create another.',
  },
  SpaceRequestNotFound: {
    meaning: 'Somebody deleted the SpaceRequest behind the target, and its namespace with it.',
    advice: 'Delete the claim and create another.',
  },
  SpaceRequestDeleting: {
    meaning: 'The SpaceRequest behind the target is being deleted.',
    advice: 'Delete the claim and create another.',
  },
  SpaceFailed: {
    meaning: 'The space behind the target failed, for example because its namespace was deleted.',
    advice: 'The message is that of the SpaceRequest.',
  },
  NamespaceFailed: {
    meaning: 'The API server refused something in the namespace of the target: a quota, a limit, or its credentials.',
    advice: 'The message shows the error of the API server. The controllers retry.',
  },
} as const;

/** The Secret with the credentials of a target, reported by the target and by its claim. */
const SECRET = {
  SecretNotFound: {
    meaning: 'There is no Secret with the credentials of the target. It can be claimed, but not used.',
    advice: 'Create the Secret that the message names, in the namespace of the target.',
  },
} as const;

/** Credentials that nobody can use any more, reported by the target and by its claim. */
const EXPIRED = {
  CredentialsExpired: {
    meaning: 'The credentials of the target have expired, and could not be issued again.',
    advice:
      'See what was refused: `offshoot target describe NAME`, and the log of the controllers. If the label `offshoot.dev/provisioner` was removed from the namespace of the target, set it to `namespace` again.',
  },
} as const;

const ERROR_OCCURRED = {
  Success: { meaning: 'Nothing is wrong.', advice: '' },
  ErrorOccurred: {
    meaning: 'Something is wrong. The message is the same as that of the original controllers.',
    advice: 'Look at the reason of the condition `Ready`.',
  },
} as const;

/** The lifecycle of a space, reported by Spaces, SpaceRequests and claims that wait for one. */
const SPACE = {
  Provisioned: { meaning: 'The namespaces exist.', advice: '' },
  Provisioning: { meaning: 'The namespaces are being created.', advice: 'Wait.' },
  ProvisioningPending: {
    meaning: 'No cluster fits the space yet.',
    advice: 'The message says what is missing: a tier, or a cluster with the requested roles.',
  },
  Updating: { meaning: 'The namespaces are being changed to another tier.', advice: 'Wait.' },
  Retargeting: {
    meaning: 'The space is being moved to another cluster: its namespaces are deleted first.',
    advice: 'Wait.',
  },
  Terminating: { meaning: 'The space is being deleted, and waits for its namespaces to be deleted.', advice: 'Wait.' },
  UnableToProvision: {
    meaning:
      'The namespaces cannot be created. Claims also have this reason when the API server rejected a write for them.',
    advice: 'The message shows the error of the API server: check quotas, policies and permissions.',
  },
  UnableToTerminate: {
    meaning: 'The namespaces cannot be deleted.',
    advice: 'Check the remaining objects in them for finalizers: `kubectl get namespace NAME -o yaml` lists the kinds.',
  },
  UnableToRetarget: {
    meaning: 'The space cannot move to another cluster.',
    advice: 'Set `spec.targetCluster` to this cluster again, or see the message.',
  },
  UnableToCreateNSTemplateSet: {
    meaning: 'The API server refused to create a namespace.',
    advice: 'The message shows the error of the API server.',
  },
  UnableToUpdateNSTemplateSet: {
    meaning: 'The API server refused to change a namespace.',
    advice: 'The message shows the error of the API server.',
  },
} as const;

/** Why no target is provisioned for a pending claim. */
const UNPROVISIONED = {
  QuotaExceeded: {
    meaning: 'The class allows no more claims (`maxPerNamespace`, `maxTotal`).',
    advice: 'Delete another claim of the class, or wait. The oldest claim is served first.',
  },
  InvalidParameters: {
    meaning: 'The parameters of the class are wrong.',
    advice: 'Create a class with the parameters that the message asks for. A class cannot be changed.',
  },
  NameTooLong: {
    meaning: 'The name of the claim is too long for the objects that are named after it.',
    advice: 'Create a claim with a shorter name.',
  },
  TargetNameTaken: {
    meaning: 'A target with the name that the target of the claim would have already exists.',
    advice:
      'To reuse a target that an earlier claim of this name released, annotate it with `dt.appstudio.redhat.com/make-available=true`. Otherwise delete it.',
  },
  NamespaceTaken: {
    meaning: 'The requested namespace already exists. Existing namespaces are not taken over.',
    advice: 'Ask for another namespace, or for none.',
  },
  InvalidNamespaceName: {
    meaning: 'The requested name is not a valid namespace name.',
    advice: 'Use at most 63 lowercase letters, digits and hyphens.',
  },
  NoCredentials: {
    meaning: 'The target that was provisioned for the claim lacks the URL of the API server or the name of its Secret.',
    advice: 'Check its SpaceRequest, or the provisioner that created it.',
  },
  DeadlineExceeded: {
    meaning: 'No target was provisioned in time. Provisioning continues.',
    advice: 'Check the message, and the provisioner of the class.',
  },
  UnableToProvision: SPACE.UnableToProvision,
} as const;

export const CLAIM_REASONS = {
  Ready: {
    Bound: { meaning: 'The claim is bound to its target, which can be used.', advice: '' },
    Pending: {
      meaning: 'The claim has no target yet. The condition `Provisioned` shows the progress.',
      advice: 'Wait. Without a class, no target is provisioned: create one yourself.',
    },
    Lost: {
      meaning: 'Somebody deleted the target of the claim.',
      advice: 'Delete the claim and create another, or create a target with that name that refers to the claim.',
    },
    Terminating: {
      meaning: 'The claim is being deleted, and waits for its target to be deleted.',
      advice: 'Wait. `offshoot claim describe NAME` shows what blocks the deletion.',
    },
    ClassNotFound: {
      meaning: 'The class of the claim does not exist.',
      advice: 'Create the class, or claim another. `offshoot target classes` lists them.',
    },
    InvalidSelector: {
      meaning: 'The annotation `dt.appstudio.redhat.com/selector` is not a valid label selector.',
      advice: 'Write it as for `kubectl -l`.',
    },
    TargetNotFound: {
      meaning: 'The target that the claim names does not exist yet.',
      advice: 'Create it, or name another.',
    },
    TargetClaimed: {
      meaning: 'The target that the claim names belongs to another claim.',
      advice: 'Name another target, or none.',
    },
    TargetMismatch: {
      meaning: 'The target that the claim names does not fit it, for example because it is of another class.',
      advice: "Use the target's class, or reserve the target for the claim (`spec.claimRef`).",
    },
    TargetDeleting: {
      meaning: 'The target of the claim is being deleted.',
      advice: 'Create another claim.',
    },
    TargetFailed: {
      meaning: 'The target of the claim could not be deleted, and cannot be used.',
      advice: 'Create another claim, and look at the target: `offshoot target describe NAME`.',
    },
    TargetReleased: {
      meaning: 'The target of the claim was released, and cannot be used.',
      advice: 'Create another claim.',
    },
    SeveralTargets: {
      meaning: 'Several targets refer to the claim, which names none of them.',
      advice: 'Set `spec.targetName` of the claim.',
    },
    ClaimMisbound: {
      meaning:
        'The target now belongs to another claim, or the claim names a target other than the one it is bound to.',
      advice:
        'Set `spec.claimRef` of the target back to the claim, or `spec.targetName` back to the target that the claim is bound to.',
    },
    ...PLACE,
    ...SECRET,
    ...EXPIRED,
    ...UNPROVISIONED,
  },
  Provisioned: { ...SPACE, ...UNPROVISIONED },
  ErrorOccurred: ERROR_OCCURRED,
  ClassMatches: {
    ClassDiffers: {
      meaning:
        'The class of the target is not the class that the claim asks for: the two name each other, or the claim was changed later.',
      advice: 'No action is needed. The class of the claim decides whether the target is deleted.',
    },
  },
  Expires: {
    InvalidTTL: {
      meaning: 'The time to live of the claim is not a valid duration, so the claim does not expire.',
      advice: 'Write a number with a unit, such as `90m`, `1h30m` or `2d`.',
    },
  },
} as const satisfies ReasonCatalogue;

export const TARGET_REASONS = {
  Ready: {
    Available: { meaning: 'The target can be claimed.', advice: '' },
    Bound: { meaning: 'The target is bound to a claim.', advice: '' },
    Pending: {
      meaning: 'The target has no URL of an API server or no name of a Secret yet.',
      advice: 'Set `spec.kubernetesCredentials`.',
    },
    Released: {
      meaning: 'The claim was deleted, and its workloads may still exist.',
      advice:
        'Check the workloads, then delete the target, or annotate it with `dt.appstudio.redhat.com/make-available=true` so that it can be claimed again.',
    },
    Failed: {
      meaning: 'The target is being deleted, and its namespace or SpaceRequest was not deleted within two minutes.',
      advice: 'Check the namespace or SpaceRequest that the message names. The target is deleted afterwards.',
    },
    Terminating: {
      meaning: 'The target is being deleted, and waits until its namespace or SpaceRequest is deleted.',
      advice: 'Wait.',
    },
    ClaimMisbound: {
      meaning:
        'Somebody changed `spec.claimRef` while the claim of the target exists. The target is not reclaimed, and no other claim gets it.',
      advice: 'Set `spec.claimRef` back to the claim that the message names, or delete that claim.',
    },
    ...PLACE,
    ...SECRET,
    ...EXPIRED,
  },
  SecretFound: SECRET,
  Reserved: {
    ClaimElsewhere: {
      meaning: 'The claim that the target is reserved for is bound to another target, or names another one.',
      advice: 'Remove `spec.claimRef` from the target, or name the target in the claim.',
    },
  },
  ErrorOccurred: ERROR_OCCURRED,
} as const satisfies ReasonCatalogue;

/** A solved problem is reported for a while longer, with `Resolved` at the end of its reason. */
export const ENVIRONMENT_REASONS = {
  Reconciled: {
    DeploymentTargetClaimNotFound: {
      meaning: 'The claim that the Environment names does not exist.',
      advice: 'Create the claim, or name another.',
    },
    DeploymentTargetNotFound: {
      meaning: 'The claim is bound to a target that does not exist.',
      advice: 'Look at the claim: `offshoot claim describe NAME`.',
    },
    InvalidEnvironment: {
      meaning: 'The Environment has both a claim and its own credentials.',
      advice: 'Remove one of them.',
    },
    SecretNotFound: {
      meaning: 'The Secret with the credentials of the target is missing.',
      advice: 'Create it.',
    },
  },
  Bound: {
    DeploymentTargetClaimPending: {
      meaning: 'The claim has no target yet.',
      advice: 'Look at the claim: `offshoot claim describe NAME`.',
    },
    DeploymentTargetClaimLost: {
      meaning: 'The claim has lost its target.',
      advice: 'Create another claim.',
    },
  },
  ErrorOccurred: {
    ErrorOccurred: {
      meaning: ERROR_OCCURRED.ErrorOccurred.meaning,
      advice: 'Look at the reason of the condition `Reconciled`.',
    },
  },
} as const satisfies ReasonCatalogue;

export const SPACE_REASONS = { Ready: SPACE } as const satisfies ReasonCatalogue;

type Reasons<C extends ReasonCatalogue> = { [T in keyof C]: keyof C[T] }[keyof C];
export type ClaimReason = Reasons<typeof CLAIM_REASONS>;
export type TargetReason = Reasons<typeof TARGET_REASONS>;
export type EnvironmentReason = keyof (typeof ENVIRONMENT_REASONS)['Reconciled'];
export type UnboundReason = keyof (typeof ENVIRONMENT_REASONS)['Bound'];
export type PlaceReason = keyof typeof PLACE;
export type SecretReason = keyof typeof SECRET | keyof typeof EXPIRED;
export type SpaceReason = keyof typeof SPACE;
