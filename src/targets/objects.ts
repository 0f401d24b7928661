// Kubernetes' own kinds that the claim system reads and creates.
import { defineKind, defineTable } from '../kube/index.ts';
import type { AnyKind, AnyObject, Kind, KubeObject } from '../kube/index.ts';

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}
export const Namespace = defineKind<Namespace>('v1', 'Namespace', 'namespaces', { namespaced: false });

export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}
/** Secrets that may hold credentials of targets; without common types of Secrets that never do. */
export const Secret = defineTable(defineKind<Secret>('v1', 'Secret', 'secrets'), {
  fieldSelector: ['helm.sh/release.v1', 'kubernetes.io/service-account-token', 'kubernetes.io/dockercfg']
    .map((type) => `type!=${type}`)
    .join(','),
});

export const ServiceAccount = defineKind('v1', 'ServiceAccount', 'serviceaccounts');
export const ResourceQuota = defineKind('v1', 'ResourceQuota', 'resourcequotas');
export const LimitRange = defineKind('v1', 'LimitRange', 'limitranges');
export const NetworkPolicy = defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');
export const Role = defineKind('rbac.authorization.k8s.io/v1', 'Role', 'roles');
export const RoleBinding = defineKind('rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings');

/** An object that is created in a new namespace. */
export interface NamespaceContent {
  readonly kind: Kind;
  readonly object: AnyObject;
}

/** All kinds of objects that are created in new namespaces. */
export const contentKinds: readonly AnyKind[] = [
  ServiceAccount,
  ResourceQuota,
  LimitRange,
  NetworkPolicy,
  Role,
  RoleBinding,
];
