// What is installed in a cluster: the kinds of an installation, and which of their objects are ours.
import type { Client } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/errors.ts';
import { defineKind } from '../../kube/objects.ts';
import type { AnyObject, Kind, KubeObject } from '../../kube/objects.ts';
import { failure } from '../exit.ts';
import { listAll } from '../objects/follow.ts';
import { SELECTOR } from './installation.ts';

export const MANAGED_BY = 'app.kubernetes.io/managed-by';
/** Marks objects that `offshoot install` created and may delete. */
export const OURS = 'offshoot';

const cluster = { namespaced: false };
const RBAC = 'rbac.authorization.k8s.io/v1';
const MONITORING = 'monitoring.coreos.com/v1';
const CERTIFICATES = 'cert-manager.io/v1';

export const Namespace = defineKind('v1', 'Namespace', 'namespaces', cluster);
export const Definition = defineKind(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  cluster,
);
export const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
export const Registration = defineKind(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  cluster,
);

/** In the order of removal; definitions and the namespace follow last. */
export const KINDS: readonly Kind[] = [
  Registration,
  Deployment,
  defineKind(MONITORING, 'ServiceMonitor', 'servicemonitors'),
  defineKind(MONITORING, 'PrometheusRule', 'prometheusrules'),
  defineKind(CERTIFICATES, 'Certificate', 'certificates'),
  defineKind(CERTIFICATES, 'Issuer', 'issuers'),
  defineKind('v1', 'ConfigMap', 'configmaps'),
  defineKind('v1', 'Service', 'services'),
  defineKind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  defineKind('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies'),
  defineKind(RBAC, 'RoleBinding', 'rolebindings'),
  defineKind(RBAC, 'Role', 'roles'),
  defineKind(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', cluster),
  defineKind(RBAC, 'ClusterRole', 'clusterroles', cluster),
  defineKind('v1', 'ServiceAccount', 'serviceaccounts'),
];

const ALL = [Namespace, Definition, ...KINDS];

export function kindOf({ kind, apiVersion }: AnyObject): Kind {
  const found = ALL.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`${apiVersion} ${kind} is not part of any installation`);
  return found;
}

export function isOurs({ metadata }: KubeObject): boolean {
  return metadata.labels?.[MANAGED_BY] === OURS;
}

/** Our objects of a kind; none if the kind is not installed. */
export async function oursOf(client: Client, kind: Kind): Promise<readonly AnyObject[]> {
  const labelSelector = `${MANAGED_BY}=${OURS},${selectorText()}`;
  return orNone(listAll(client, kind, { labelSelector }));
}

/** An empty list if the kind is not served. */
export async function orNone<T>(listed: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await listed;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

export function selectorText(): string {
  return Object.entries(SELECTOR)
    .map((each) => each.join('='))
    .join(',');
}

/** Throws when Offshoot is installed by Helm, or in another namespace. */
export async function refuseOtherInstallation(client: Client, namespace: string): Promise<void> {
  for (const { metadata } of await listAll(client, Deployment, { labelSelector: selectorText() })) {
    if (metadata.labels?.[MANAGED_BY] === 'Helm') {
      const release = metadata.annotations?.['meta.helm.sh/release-name'] ?? 'offshoot';
      throw failure(
        'OtherInstallation',
        `Offshoot is installed in ${metadata.namespace} by Helm: use "helm upgrade" or "helm uninstall" for the release ${release}`,
      );
    }
    if (metadata.namespace === namespace) continue;
    throw failure(
      'OtherInstallation',
      `Offshoot is installed in ${metadata.namespace}, and a cluster has one: use -n ${metadata.namespace}`,
    );
  }
}
