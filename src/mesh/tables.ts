// The tables that the mesh reads beside those of what it installs, each no larger than need be.
import { defineKind, defineTable } from '../kube/index.ts';
import type { Kind, KubeObject } from '../kube/index.ts';
import type { ConfigMap as ConfigMapObject, Service } from './installation/operator/companions.ts';
import type { Node as NodeObject } from './installation/operator/size.ts';
import { BLOCKING_KINDS } from './deletion/blocking.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME, MODULE_NAMESPACE } from './names.ts';
import type { Pod } from './workloads.ts';

const ConfigMap = defineKind<ConfigMapObject>('v1', 'ConfigMap', 'configmaps');
const ServiceKind = defineKind<Service>('v1', 'Service', 'services');

/** Of nodes, what tells the size and the flavour of the cluster. */
export const Node = defineTable(defineKind<NodeObject>('v1', 'Node', 'nodes', { namespaced: false }), {
  transform: slimNode,
});

export const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** Pods of the control plane and the gateways. */
export const IstioPod = defineTable(defineKind<Pod>('v1', 'Pod', 'pods'), { namespace: ISTIO_NAMESPACE });

/** ConfigMaps and Services that say something about an installation; see companions.ts. */
export const ModuleConfigMap = defineTable(ConfigMap, { namespace: MODULE_NAMESPACE });
export const IstioConfigMap = defineTable(ConfigMap, { namespace: ISTIO_NAMESPACE });
/** What istiod has put into every namespace; read when that has to go. */
export const DistributedConfigMap = defineTable(defineKind('v1', 'ConfigMap', 'configmaps'), {
  labelSelector: 'istio.io/config=true',
  metadataOnly: true,
});
export const IstioService = defineTable(ServiceKind, { namespace: ISTIO_NAMESPACE });
export const ApiServerService = defineTable(ServiceKind, {
  namespace: 'default',
  fieldSelector: 'metadata.name=kubernetes',
});

/** Injectors, whoever installed them. */
export const Injector = defineTable(
  defineKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', {
    namespaced: false,
  }),
  { labelSelector: 'istio.io/rev' },
);

const EnvoyFilter = defineKind('networking.istio.io/v1alpha3', 'EnvoyFilter', 'envoyfilters');
export const IstioEnvoyFilter = defineTable(EnvoyFilter, { namespace: ISTIO_NAMESPACE });
export const VerticalPodAutoscaler = defineKind(
  'autoscaling.k8s.io/v1',
  'VerticalPodAutoscaler',
  'verticalpodautoscalers',
);

/** What may block a deletion; names and labels are enough to tell. */
export const Blocking: readonly Kind[] = BLOCKING_KINDS.map((kind) => defineTable(kind, { metadataOnly: true }));

const ours = new Map<Kind, Kind>();

/** The objects of a kind that belong to the module. */
export function ofModule(kind: Kind): Kind {
  let table = ours.get(kind);
  if (table === undefined) {
    ours.set(kind, (table = defineTable(kind, { labelSelector: `${MODULE_LABEL}=${MODULE_NAME}` })));
  }
  return table;
}

function slimNode({ apiVersion, kind, metadata, spec, status }: NodeObject): NodeObject {
  const { name, uid, resourceVersion } = metadata as KubeObject['metadata'] & { uid: string; resourceVersion: string };
  const { kubeletVersion = '', osImage = '' } = status?.nodeInfo ?? {};
  const { cpu = '0', memory = '0' } = status?.capacity ?? {};
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    ...(spec?.providerID !== undefined && { spec: { providerID: spec.providerID } }),
    status: { capacity: { cpu, memory }, nodeInfo: { kubeletVersion, osImage } },
  };
}
