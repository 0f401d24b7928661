// Keys and fixed names of the claim system. All of them are contract.
import { createHash } from 'node:crypto';

/** On a claim: who should provision a target for it. */
export const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';
/** On a claim: binding is complete. Its presence counts, whatever its value. */
export const BIND_COMPLETE = 'dt.appstudio.redhat.com/bind-complete';
/** On a claim: the binder chose the target. */
export const BOUND_BY_CONTROLLER = 'dt.appstudio.redhat.com/bound-by-controller';
/** On a target: who made it. */
export const PROVISIONED_BY = 'provisioner.appstudio.redhat.com/provisioned-by';

/** On a target: the space request that it was made from and the namespace that this had, as uid/namespace. */
export const MADE_FROM = 'offshoot.dev/space-request';
/** On a target: the uid of its claim, so that a later claim of the same name is not mistaken for it. */
export const CLAIM_UID = 'dt.appstudio.redhat.com/claim-uid';
/**
 * A mark of the claim that had a target last: its uid, if that is known. On the target, on its service account and on
 * the Secret with its token: an account with another value is replaced, so that the users of that claim lose access.
 */
export const LAST_CLAIM = 'offshoot.dev/last-claim';
/** On a target: the reclaim policy of its class, for when the class is gone. */
export const RECLAIM_POLICY = 'dt.appstudio.redhat.com/reclaim-policy';
/** On a released target: a user allows that it is claimed again. */
export const MAKE_AVAILABLE = 'dt.appstudio.redhat.com/make-available';
/** On a target: it was released once and made available again, so claims prefer others. */
export const RECYCLED = 'dt.appstudio.redhat.com/recycled';
/** On a claim: labels that a target must have. */
export const SELECTOR = 'dt.appstudio.redhat.com/selector';
/** On a claim: how long it lives once it is bound; like `spec.ttl`, for clients that do not have that field. */
export const TTL = 'dt.appstudio.redhat.com/ttl';
/** On a claim: when it was first bound; its time to live counts from then. */
export const BOUND_AT = 'dt.appstudio.redhat.com/bound-at';
/** On a claim: when it expires. */
export const EXPIRES_AT = 'dt.appstudio.redhat.com/expires-at';

/** On a space request: its claim and its target. */
export const CLAIM_LABEL = 'appstudio.openshift.io/dtc';
export const TARGET_LABEL = 'appstudio.openshift.io/dt';

export const CLAIM_FINALIZER = 'binder.appstudio.redhat.com/finalizer';
export const TARGET_FINALIZER = 'dt.appstudio.redhat.com/finalizer';
export const TOOLCHAIN_FINALIZER = 'finalizer.toolchain.dev.openshift.com';

export const DEVSANDBOX = 'appstudio.redhat.com/devsandbox';
export const SANDBOX_TIER = 'appstudio-env';
/** Makes namespaces of the same cluster into targets, without a space request. */
export const NAMESPACE_PROVISIONER = 'offshoot.dev/namespace';

/** On a claim and its space request: the requested name of the namespace. */
export const REQUESTED_NAMESPACE = 'dt.appstudio.redhat.com/requested-namespace';
/**
 * On a namespace that was made into a target: that target and the claim that it was made for, as namespace/name. On a
 * space request: the name of its target, if that is too long for a label.
 */
export const OF_TARGET = 'offshoot.dev/target';
export const OF_CLAIM = 'offshoot.dev/claim';
/** On a namespace that can't be made into a target: why. */
export const PROBLEM = 'offshoot.dev/problem';
/** On objects made for a claim: its class, for when the claim is gone. */
export const CLASS_NAME = 'offshoot.dev/class';

/** On the copy of a Secret: the environment that it was made for. */
export const ENVIRONMENT_SECRET = 'appstudio.openshift.io/environment-secret';
export const MANAGED_SECRET_TYPE = 'managed-gitops.redhat.com/managed-environment';

/** The name of the target made for the claim of this name. */
export function sandboxTarget(claim: string): string {
  return `${claim}-dt`;
}

/** The longest value of a label. */
export const LABEL_LENGTH = 63;

/** Whether a name fits into a label. */
export function fitsLabel(name: string): boolean {
  return name.length <= LABEL_LENGTH;
}

/** A short digest of a text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 5);
}

/** `<prefix>-<suffix>` of at most `length` characters; a long prefix is truncated. */
export function joinName(prefix: string, suffix: string, length = LABEL_LENGTH): string {
  return `${prefix.slice(0, length - suffix.length - 1).replace(/[-.]+$/, '')}-${suffix}`;
}
