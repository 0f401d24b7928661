// The order of an uninstall: webhooks, everything else that the installation made, the namespace, sidecars, the
// ConfigMaps for sidecars, the finalizer.
import { defineKind } from '../../kube/index.ts';
import type { AnyObject, Kind } from '../../kube/index.ts';
import { COMPONENT_LABEL } from '../installation/components.ts';

const cluster = { namespaced: false };
const WEBHOOKS = 'admissionregistration.k8s.io/v1';
const RBAC = 'rbac.authorization.k8s.io/v1';

/** Removed first: without the webhooks pods can start, while the istiod that they call is being removed. */
const FIRST: readonly Kind[] = [
  defineKind(WEBHOOKS, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', cluster),
  defineKind(WEBHOOKS, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', cluster),
];

/** Removed next, in this order, followed by objects of any other kind. */
const THEN: readonly Kind[] = [
  defineKind('apps/v1', 'Deployment', 'deployments'),
  defineKind('apps/v1', 'DaemonSet', 'daemonsets'),
  defineKind('v1', 'Service', 'services'),
  defineKind('v1', 'ConfigMap', 'configmaps'),
  defineKind('v1', 'Pod', 'pods'),
  defineKind('v1', 'Secret', 'secrets'),
  defineKind('v1', 'ServiceAccount', 'serviceaccounts'),
  defineKind(RBAC, 'RoleBinding', 'rolebindings'),
  defineKind(RBAC, 'Role', 'roles'),
  defineKind('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  defineKind('autoscaling/v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers'),
  defineKind('networking.istio.io/v1alpha3', 'EnvoyFilter', 'envoyfilters'),
  defineKind(RBAC, 'ClusterRole', 'clusterroles', cluster),
  defineKind(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', cluster),
  defineKind('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', cluster),
  defineKind('k8s.cni.cncf.io/v1', 'NetworkAttachmentDefinition', 'network-attachment-definitions'),
];

/** Removed last: all resources of Istio's kinds are deleted with them. */
const LAST: readonly Kind[] = [
  defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', cluster),
];

/** ConfigMaps in every namespace, which pods with a sidecar mount. */
const DISTRIBUTED = new Set(['istio-ca-root-cert', 'istio-ca-crl']);

/** The kinds whose objects are removed; kinds that the cluster does not serve are skipped. */
export const UNINSTALLED_KINDS: readonly Kind[] = [...FIRST, ...THEN, ...LAST];

const USUAL = new Set(UNINSTALLED_KINDS.map(({ kind }) => kind));

/** What is left of an installation. */
export interface Remains {
  /** Of any kind. */
  readonly objects: Iterable<AnyObject>;
  readonly namespace: AnyObject | undefined;
  /** Workloads that still have sidecars and can be restarted. */
  readonly injectedWorkloads: number;
  /** The ConfigMaps that istiod created in every namespace for sidecars. */
  readonly distributed: Iterable<AnyObject>;
}

export type UninstallStep =
  /** Objects that are already being deleted are only awaited. */
  | {
      readonly do: 'remove';
      /** The installation itself, or the ConfigMaps for sidecars. */
      readonly of: 'istio' | 'sidecars';
      readonly objects: readonly AnyObject[];
      readonly awaited: readonly AnyObject[];
    }
  | { readonly do: 'remove-namespace'; readonly namespace: AnyObject }
  | { readonly do: 'restart-workloads' }
  | { readonly do: 'release' };

/**
 * The next step. A step is done when nothing of it remains, so an uninstall continues after a crash where it was. It
 * does not wait for the namespace, which may take minutes, as its contents no longer matter.
 */
export function uninstallStep({ objects, namespace, injectedWorkloads, distributed }: Remains): UninstallStep {
  const ours = [...objects].filter(({ metadata }) => metadata.labels?.[COMPONENT_LABEL] !== undefined);
  const others = ours.filter(({ kind }) => !USUAL.has(kind));
  for (const remaining of [inOrder(ours, FIRST), [...inOrder(ours, THEN), ...others, ...inOrder(ours, LAST)]]) {
    if (remaining.length > 0) return removal('istio', remaining);
  }
  if (namespace !== undefined && namespace.metadata.deletionTimestamp === undefined) {
    return { do: 'remove-namespace', namespace };
  }
  if (injectedWorkloads > 0) return { do: 'restart-workloads' };
  const certificates = [...distributed].filter(({ metadata }) => DISTRIBUTED.has(metadata.name));
  return certificates.length > 0 ? removal('sidecars', certificates) : { do: 'release' };
}

function removal(of: 'istio' | 'sidecars', remaining: readonly AnyObject[]): UninstallStep {
  const isTerminating = ({ metadata }: AnyObject): boolean => metadata.deletionTimestamp !== undefined;
  const [awaited, objects] = [remaining.filter(isTerminating), remaining.filter((each) => !isTerminating(each))];
  return { do: 'remove', of, objects, awaited };
}

/** The objects of these kinds, in the order of the kinds. */
function inOrder(objects: readonly AnyObject[], kinds: readonly Kind[]): readonly AnyObject[] {
  const groups = Map.groupBy(objects, ({ kind }) => kind);
  return kinds.flatMap(({ kind }) => groups.get(kind) ?? []);
}
