// The order of an uninstall: webhooks, everything that the installation made, the namespace, sidecars, what these were
// given, the finalizer.
import { defineKind } from '../../kube/index.ts';
import type { AnyObject, Kind } from '../../kube/index.ts';
import { COMPONENT_LABEL } from '../installation/components.ts';

const cluster = { namespaced: false };
const WEBHOOKS = 'admissionregistration.k8s.io/v1';
const RBAC = 'rbac.authorization.k8s.io/v1';

/** First: without them pods start as they are, while the istiod that they ask would be gone. */
const FIRST: readonly Kind[] = [
  defineKind(WEBHOOKS, 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', cluster),
  defineKind(WEBHOOKS, 'ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', cluster),
];

/** Then, in this order, and after them objects of whatever other kinds. */
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

/** Last: every resource of Istio's kinds goes with them. */
const LAST: readonly Kind[] = [
  defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', cluster),
];

/** ConfigMaps in every namespace. Pods with a sidecar mount them. */
const DISTRIBUTED = new Set(['istio-ca-root-cert', 'istio-ca-crl']);

/** Kinds of which objects are removed; those that the cluster does not know are skipped. */
export const UNINSTALLED_KINDS: readonly Kind[] = [...FIRST, ...THEN, ...LAST];

const USUAL = new Set(UNINSTALLED_KINDS.map(({ kind }) => kind));

/** What is still there. */
export interface Remains {
  /** Of any kind. */
  readonly objects: Iterable<AnyObject>;
  readonly namespace: AnyObject | undefined;
  /** Workloads that still have sidecars and can be restarted. */
  readonly injectedWorkloads: number;
  /** What istiod has put into every namespace for sidecars. */
  readonly distributed: Iterable<AnyObject>;
}

export type UninstallStep =
  /** Those that are on their way out already are only waited for. */
  | {
      readonly do: 'remove';
      /** The installation itself, or what it gave to sidecars. */
      readonly of: 'istio' | 'sidecars';
      readonly objects: readonly AnyObject[];
      readonly awaited: readonly AnyObject[];
    }
  | { readonly do: 'remove-namespace'; readonly namespace: AnyObject }
  | { readonly do: 'restart-workloads' }
  | { readonly do: 'release' };

/**
 * What to do next. Each step is done when nothing of it remains, so a crash between any two goes on where it was. The
 * namespace is not waited for: it may take minutes, and what is in it no longer matters.
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
  const isGoing = ({ metadata }: AnyObject): boolean => metadata.deletionTimestamp !== undefined;
  const [awaited, objects] = [remaining.filter(isGoing), remaining.filter((each) => !isGoing(each))];
  return { do: 'remove', of, objects, awaited };
}

/** Objects of these kinds, kind by kind. */
function inOrder(objects: readonly AnyObject[], kinds: readonly Kind[]): readonly AnyObject[] {
  const groups = Map.groupBy(objects, ({ kind }) => kind);
  return kinds.flatMap(({ kind }) => groups.get(kind) ?? []);
}
