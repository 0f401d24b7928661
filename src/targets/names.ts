// Keys and fixed names of the claim system. All of them are contract.

/** On a claim: who shall provision a target for it. */
export const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';
/** On a claim: binding is complete. Its presence counts, whatever its value. */
export const BIND_COMPLETE = 'dt.appstudio.redhat.com/bind-complete';
/** On a claim: the binder chose the target. */
export const BOUND_BY_CONTROLLER = 'dt.appstudio.redhat.com/bound-by-controller';
/** On a target: who made it. */
export const PROVISIONED_BY = 'provisioner.appstudio.redhat.com/provisioned-by';

/** On a target: the very claim that it is bound to, so that another of the same name is not taken for it. */
export const CLAIM_UID = 'dt.appstudio.redhat.com/claim-uid';
/** On a target: what its class said about reclaiming, for when the class is gone. */
export const RECLAIM_POLICY = 'dt.appstudio.redhat.com/reclaim-policy';
/** On a released target: a person says that it may be claimed again. */
export const MAKE_AVAILABLE = 'dt.appstudio.redhat.com/make-available';
/** On a claim: labels that a target must have. */
export const SELECTOR = 'dt.appstudio.redhat.com/selector';
/** On a claim: when it ends. */
export const EXPIRES_AT = 'dt.appstudio.redhat.com/expires-at';

/** On a space request: its claim and its target. */
export const CLAIM_LABEL = 'appstudio.openshift.io/dtc';
export const TARGET_LABEL = 'appstudio.openshift.io/dt';

export const CLAIM_FINALIZER = 'binder.appstudio.redhat.com/finalizer';
export const TARGET_FINALIZER = 'dt.appstudio.redhat.com/finalizer';
export const TOOLCHAIN_FINALIZER = 'finalizer.toolchain.dev.openshift.com';

export const DEVSANDBOX = 'appstudio.redhat.com/devsandbox';
export const SANDBOX_TIER = 'appstudio-env';
