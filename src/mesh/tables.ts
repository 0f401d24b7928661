// The tables that the mesh reads besides those of installed objects, each as small as possible.
import { defineKind, defineTable } from '../kube/index.ts';
import type { Kind, KubeObject } from '../kube/index.ts';
import type { ConfigMap as ConfigMapObject, Service } from './installation/operator/companions.ts';
import type { Node as NodeObject } from './installation/operator/size.ts';
import { BLOCKING_KINDS } from './deletion/blocking.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME, MODULE_NAMESPACE } from './names.ts';
import type { Pod } from './workloads/workloads.ts';

const ConfigMap = defineKind<ConfigMapObject>('v1', 'ConfigMap', 'configmaps');
const ServiceKind = defineKind<Service>('v1', 'Service', 'services');

/** Nodes, with the fields that determine the size and the flavour of the cluster. */
export const Node = defineTable(defineKind<NodeObject>('v1', 'Node', 'nodes', { namespaced: false }), {
  transform: slimNode,
});

export const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

/** Pods of the control plane and the gateways. */
export const IstioPod = defineTable(defineKind<Pod>('v1', 'Pod', 'pods'), { namespace: ISTIO_NAMESPACE });

/** ConfigMaps and Services that affect an installation; see companions.ts. */
export const ModuleConfigMap = defineTable(ConfigMap, { namespace: MODULE_NAMESPACE });
export const IstioConfigMap = defineTable(ConfigMap, { namespace: ISTIO_NAMESPACE });
/** The ConfigMaps that istiod created in every namespace; read to remove them. */
export const DistributedConfigMap = defineTable(defineKind('v1', 'ConfigMap', 'configmaps'), {
  labelSelector: 'istio.io/config=true',
  metadataOnly: true,
});
export const IstioService = defineTable(ServiceKind, { namespace: ISTIO_NAMESPACE });
export const ApiServerService = defineTable(ServiceKind, {
  namespace: 'default',
  fieldSelector: 'metadata.name=kubernetes',
});

/** All injectors, also those of others. */
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

/** Resources that may block a deletion, which names and labels determine. */
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
