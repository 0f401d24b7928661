// Every reason that a condition of a claim, a target, an Environment or a space may have, with what it means and what to
// do.
import type { ReasonCatalogue } from '../controller/index.ts';

/** What became of the place behind a target, told by the target and by the claim that has it. */
const PLACE = {
  NamespaceNotFound: {
    meaning: 'Somebody deleted the namespace of the target, with everything in it.',
    advice: 'Delete the claim and create another. Nobody gets an empty namespace in place of the old one.',
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
    meaning: 'The space behind the target cannot be as it should, for example because its namespace was deleted.',
    advice: 'The message has the words of the SpaceRequest.',
  },
} as const;

const ERROR_OCCURRED = {
  Success: { meaning: 'Nothing is wrong.', advice: '' },
  ErrorOccurred: {
    meaning: 'Something is wrong. The message says what, in the words of the original controllers.',
    advice: 'Look at the reason of the condition `Ready`.',
  },
} as const;

/** How a space comes and goes, told by Spaces, by SpaceRequests and by claims that wait for one. */
const SPACE = {
  Provisioned: { meaning: 'The namespaces are there.', advice: '' },
  Provisioning: { meaning: 'The namespaces are being made.', advice: 'Wait.' },
  ProvisioningPending: {
    meaning: 'No cluster fits the space yet.',
    advice: 'The message says what is missing: a tier, or a cluster with the roles that it asks for.',
  },
  Updating: { meaning: 'The namespaces are being changed to another tier.', advice: 'Wait.' },
  Retargeting: {
    meaning: 'The space moves to another cluster: its namespaces are being removed first.',
    advice: 'Wait.',
  },
  Terminating: { meaning: 'It is being deleted, and waits for its namespaces.', advice: 'Wait.' },
  UnableToProvision: {
    meaning: 'The namespaces cannot be made. Also what a claim says when the API server refused a write for it.',
    advice: 'The message has the words of the API server: look for a quota, a policy or a missing right.',
  },
  UnableToTerminate: {
    meaning: 'The namespaces do not go.',
    advice: 'Look for finalizers on what is left in them: `kubectl get namespace NAME -o yaml` names the kinds.',
  },
  UnableToRetarget: {
    meaning: 'The space cannot move to another cluster.',
    advice: 'Set `spec.targetCluster` to this cluster again, or see the message.',
  },
  UnableToCreateNSTemplateSet: {
    meaning: 'The API server refused to make a namespace.',
    advice: 'The message has its words.',
  },
  UnableToUpdateNSTemplateSet: {
    meaning: 'The API server refused to change a namespace.',
    advice: 'The message has its words.',
  },
} as const;

/** Why nothing is made for a pending claim. */
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
    meaning: 'The name of the claim is too long for what is made for it.',
    advice: 'Create a claim with a shorter name.',
  },
  TargetNameTaken: {
    meaning: 'A target of the name that the claim would get is there already.',
    advice:
      'To take a target that an earlier claim of this name released, annotate it with `dt.appstudio.redhat.com/make-available=true`. Otherwise delete it.',
  },
  NamespaceTaken: {
    meaning: 'The requested namespace exists. Nothing that exists is taken over.',
    advice: 'Ask for another namespace, or for none.',
  },
  InvalidNamespaceName: {
    meaning: 'The requested namespace has a name that no namespace can have.',
    advice: 'Use at most 63 lowercase letters, digits and hyphens.',
  },
  NoCredentials: {
    meaning: 'The target that was made for the claim lacks the URL of the API server or the name of its Secret.',
    advice: 'Look at its SpaceRequest, or at the provisioner that made it.',
  },
  DeadlineExceeded: {
    meaning: 'No target was made in time. Provisioning goes on.',
    advice: 'Look at the message, and at the provisioner of the class.',
  },
  UnableToProvision: SPACE.UnableToProvision,
} as const;

export const CLAIM_REASONS = {
  Ready: {
    Bound: { meaning: 'The claim has its target, which can be used.', advice: '' },
    Pending: {
      meaning: 'The claim has no target yet. The condition `Provisioned` says how far it is.',
      advice: 'Wait. With an empty class nobody makes a target: bring one.',
    },
    Lost: {
      meaning: 'Somebody deleted the target of the claim.',
      advice: 'Delete the claim and create another, or create a target of that name that refers to the claim.',
    },
    Terminating: {
      meaning: 'The claim is being deleted, and waits for its target.',
      advice: 'Wait. `offshoot claim describe NAME` shows what holds it.',
    },
    ClassNotFound: {
      meaning: 'The class of the claim does not exist.',
      advice: 'Create the class, or claim another. `offshoot target classes` lists them.',
    },
    InvalidSelector: {
      meaning: 'The annotation `dt.appstudio.redhat.com/selector` is no label selector.',
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
      meaning: 'The target of the claim could not be freed, and cannot be used.',
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
      meaning: 'The target belongs to another claim now, or the claim names another target than the one it has.',
      advice: 'Name the target that the claim is bound to again.',
    },
    ...PLACE,
    ...UNPROVISIONED,
  },
  Provisioned: { ...SPACE, ...UNPROVISIONED },
  ErrorOccurred: ERROR_OCCURRED,
  ClassMatches: {
    ClassDiffers: {
      meaning:
        'The target is of another class than the claim asks for: the two name each other, or the claim was changed later.',
      advice: 'Nothing has to be done. The class of the claim decides what becomes of the target.',
    },
  },
  Expires: {
    InvalidTTL: {
      meaning: 'The time to live of the claim is no length of time, so it does not expire.',
      advice: 'Write a number with a unit, such as `90m`, `1h30m` or `2d`.',
    },
  },
} as const satisfies ReasonCatalogue;

export const TARGET_REASONS = {
  Ready: {
    Available: { meaning: 'The target can be claimed.', advice: '' },
    Bound: { meaning: 'The target has a claim.', advice: '' },
    Pending: {
      meaning: 'The target has no URL or no name of a Secret yet.',
      advice: 'Set `spec.kubernetesCredentials`.',
    },
    Released: {
      meaning: 'The claim is gone, and what was deployed may still be there.',
      advice:
        'Look at it, then delete the target, or annotate it with `dt.appstudio.redhat.com/make-available=true` to hand it out again.',
    },
    Failed: {
      meaning: 'The target is being deleted, and its place has not gone for two minutes.',
      advice: 'Look at the namespace or SpaceRequest that the message names. The target goes once that is gone.',
    },
    Terminating: { meaning: 'The target is being deleted, and waits for its place to go.', advice: 'Wait.' },
    ...PLACE,
  },
  SecretFound: {
    SecretNotFound: {
      meaning: 'There is no Secret with the credentials of the target. It can still be claimed.',
      advice: 'Create the Secret that the message names.',
    },
  },
  Reserved: {
    ClaimElsewhere: {
      meaning: 'The claim that the target is reserved for has or wants another target.',
      advice: 'Remove `spec.claimRef` of the target, or name the target in the claim.',
    },
  },
  ErrorOccurred: ERROR_OCCURRED,
} as const satisfies ReasonCatalogue;

/** What was wrong stays there with `Resolved` at the end of its reason. */
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
      meaning: 'The Environment has both a claim and credentials of its own.',
      advice: 'Leave one of them out.',
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
export type SpaceReason = keyof typeof SPACE;
