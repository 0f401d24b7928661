// Schema details of the built-in kinds that the models of the client package lack: how lists and maps merge, which
// strings are quantities, and the defaults of list keys. Read by scripts/openapi.ts.

/** What to add to the schema of a field. Lists without an annotation are atomic. */
export interface FieldAnnotation {
  readonly ref?: string;
  readonly quantity?: boolean;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  readonly mergeKey?: string;
  readonly strategy?: string;
  readonly mapType?: 'atomic' | 'granular';
  readonly default?: unknown;
}
export type DefinitionAnnotations = Readonly<Record<string, FieldAnnotation>>;
export type WrittenDefinition = { readonly description: string } & Readonly<Record<string, unknown>>;

function listBy(...keys: readonly [string, ...string[]]): FieldAnnotation {
  return { listType: 'map', keys, mergeKey: keys[0], strategy: 'merge' };
}
const byName = listBy('name');
const byType = listBy('type');
const byIp = listBy('ip');
const byMountPath = listBy('mountPath');
const byDevicePath = listBy('devicePath');
const byContainerPort = listBy('containerPort', 'protocol');
const byNameRetainingKeys: FieldAnnotation = { ...byName, strategy: 'merge,retainKeys' };
const set: FieldAnnotation = { listType: 'set' };
const mergedSet: FieldAnnotation = { ...set, strategy: 'merge' };
const atomicMap: FieldAnnotation = { mapType: 'atomic' };
const granularMap: FieldAnnotation = { mapType: 'granular' };
const quantity: FieldAnnotation = { quantity: true };

/** By definition, then by field. */
export const annotations: Readonly<Record<string, DefinitionAnnotations>> = {
  'admissionregistration.v1.MutatingWebhook': { matchConditions: byName },
  'admissionregistration.v1.MutatingWebhookConfiguration': { webhooks: byName },
  'admissionregistration.v1.ValidatingWebhook': { matchConditions: byName },
  'admissionregistration.v1.ValidatingWebhookConfiguration': { webhooks: byName },
  'apiextensions.v1.CustomResourceDefinitionStatus': { conditions: { keys: ['type'], listType: 'map' } },
  'apiextensions.v1.CustomResourceSubresources': {
    status: { ref: 'apiextensions.v1.CustomResourceSubresourceStatus' },
  },
  'apiextensions.v1.JSONSchemaProps': {
    additionalItems: { ref: 'apiextensions.v1.JSONSchemaPropsOrBool' },
    additionalProperties: { ref: 'apiextensions.v1.JSONSchemaPropsOrBool' },
    default: { ref: 'apiextensions.v1.JSON' },
    example: { ref: 'apiextensions.v1.JSON' },
    items: { ref: 'apiextensions.v1.JSONSchemaPropsOrArray' },
    'x-kubernetes-validations': listBy('rule'),
  },
  'apps.v1.ControllerRevision': { data: { ref: 'runtime.RawExtension' } },
  'apps.v1.DaemonSetStatus': { conditions: byType },
  'apps.v1.DeploymentSpec': { strategy: { strategy: 'retainKeys' } },
  'apps.v1.DeploymentStatus': { conditions: byType },
  'apps.v1.ReplicaSetStatus': { conditions: byType },
  'apps.v1.StatefulSetStatus': { conditions: byType },
  'autoscaling.v2.HPAScalingRules': { tolerance: quantity },
  'autoscaling.v2.HorizontalPodAutoscalerStatus': { conditions: byType },
  'autoscaling.v2.MetricTarget': { averageValue: quantity, value: quantity },
  'autoscaling.v2.MetricValueStatus': { averageValue: quantity, value: quantity },
  'batch.v1.JobStatus': { conditions: { strategy: 'merge', mergeKey: 'type' } },
  'batch.v1.PodFailurePolicyOnExitCodesRequirement': { values: set },
  'batch.v1.UncountedTerminatedPods': { failed: set, succeeded: set },
  'core.v1.AzureDiskVolumeSource': {
    cachingMode: { default: 'ReadWrite' },
    fsType: { default: 'ext4' },
    kind: { default: 'Shared' },
  },
  'core.v1.Container': { env: byName, ports: byContainerPort, volumeDevices: byDevicePath, volumeMounts: byMountPath },
  'core.v1.ContainerPort': { protocol: { default: 'TCP' } },
  'core.v1.ContainerRestartRuleOnExitCodes': { values: set },
  'core.v1.ContainerStatus': {
    allocatedResources: quantity,
    allocatedResourcesStatus: byName,
    volumeMounts: byMountPath,
  },
  'core.v1.EmptyDirVolumeSource': { sizeLimit: quantity },
  'core.v1.EphemeralContainer': {
    env: byName,
    ports: byContainerPort,
    volumeDevices: byDevicePath,
    volumeMounts: byMountPath,
  },
  'core.v1.ISCSIPersistentVolumeSource': { iscsiInterface: { default: 'default' } },
  'core.v1.ISCSIVolumeSource': { iscsiInterface: { default: 'default' } },
  'core.v1.LimitRangeItem': {
    default: quantity,
    defaultRequest: quantity,
    max: quantity,
    maxLimitRequestRatio: quantity,
    min: quantity,
  },
  'core.v1.NamespaceStatus': { conditions: byType },
  'core.v1.NodeAllocatableResourceClaimStatus': { containers: set, resources: quantity },
  'core.v1.NodeSpec': { podCIDRs: mergedSet },
  'core.v1.NodeStatus': { addresses: byType, allocatable: quantity, capacity: quantity, conditions: byType },
  'core.v1.PersistentVolumeClaimStatus': {
    allocatedResourceStatuses: granularMap,
    allocatedResources: quantity,
    capacity: quantity,
    conditions: byType,
  },
  'core.v1.PersistentVolumeSpec': { capacity: quantity, claimRef: granularMap },
  'core.v1.PodSpec': {
    containers: byName,
    ephemeralContainers: byName,
    hostAliases: byIp,
    imagePullSecrets: byName,
    initContainers: byName,
    nodeSelector: atomicMap,
    overhead: quantity,
    resourceClaims: byNameRetainingKeys,
    schedulingGates: byName,
    topologySpreadConstraints: listBy('topologyKey', 'whenUnsatisfiable'),
    volumes: byNameRetainingKeys,
  },
  'core.v1.PodStatus': {
    allocatedResources: quantity,
    conditions: byType,
    hostIPs: { strategy: 'merge', mergeKey: 'ip' },
    podIPs: byIp,
    resourceClaimStatuses: byNameRetainingKeys,
  },
  'core.v1.RBDPersistentVolumeSource': {
    keyring: { default: '/etc/ceph/keyring' },
    pool: { default: 'rbd' },
    user: { default: 'admin' },
  },
  'core.v1.RBDVolumeSource': {
    keyring: { default: '/etc/ceph/keyring' },
    pool: { default: 'rbd' },
    user: { default: 'admin' },
  },
  'core.v1.ReplicationControllerSpec': { replicas: { default: 1 }, selector: atomicMap },
  'core.v1.ReplicationControllerStatus': { conditions: byType },
  'core.v1.ResourceFieldSelector': { divisor: quantity },
  'core.v1.ResourceQuotaSpec': { hard: quantity },
  'core.v1.ResourceQuotaStatus': { hard: quantity, used: quantity },
  'core.v1.ResourceRequirements': { claims: { keys: ['name'], listType: 'map' }, limits: quantity, requests: quantity },
  'core.v1.ResourceStatus': { resources: { keys: ['resourceID'], listType: 'map' } },
  'core.v1.ScaleIOPersistentVolumeSource': { fsType: { default: 'xfs' }, storageMode: { default: 'ThinProvisioned' } },
  'core.v1.ScaleIOVolumeSource': { fsType: { default: 'xfs' }, storageMode: { default: 'ThinProvisioned' } },
  'core.v1.ServiceAccount': { secrets: byName },
  'core.v1.ServicePort': { protocol: { default: 'TCP' } },
  'core.v1.ServiceSpec': {
    ports: listBy('port', 'protocol'),
    selector: atomicMap,
  },
  'core.v1.ServiceStatus': { conditions: byType },
  'core.v1.VolumeResourceRequirements': { limits: quantity, requests: quantity },
  'certificates.v1.CertificateSigningRequestStatus': { conditions: { listType: 'map', keys: ['type'] } },
  'discovery.v1.Endpoint': { addresses: set },
  'meta.v1.ManagedFieldsEntry': { fieldsV1: { ref: 'meta.v1.FieldsV1' } },
  'meta.v1.ObjectMeta': {
    finalizers: mergedSet,
    ownerReferences: listBy('uid'),
  },
  'policy.v1.PodDisruptionBudgetSpec': { selector: { strategy: 'replace' } },
  'policy.v1.PodDisruptionBudgetStatus': { conditions: byType },
};

/** Definitions whose values are atomic: they are always replaced as a whole. */
export const atomicDefinitions: readonly string[] = [
  'autoscaling.v1.CrossVersionObjectReference',
  'core.v1.ConfigMapKeySelector',
  'core.v1.EndpointAddress',
  'core.v1.EndpointPort',
  'core.v1.FileKeySelector',
  'core.v1.LocalObjectReference',
  'core.v1.NodeSelector',
  'core.v1.NodeSelectorTerm',
  'core.v1.ObjectFieldSelector',
  'core.v1.ObjectReference',
  'core.v1.ResourceFieldSelector',
  'core.v1.ScopeSelector',
  'core.v1.SecretKeySelector',
  'core.v1.SecretReference',
  'core.v1.TopologySelectorTerm',
  'core.v1.TypedLocalObjectReference',
  'discovery.v1.EndpointPort',
  'meta.v1.LabelSelector',
  'meta.v1.OwnerReference',
  'networking.v1.ServiceBackendPort',
  'rbac.v1.RoleRef',
  'rbac.v1.Subject',
];

const anything = { 'x-kubernetes-preserve-unknown-fields': true };

/** Types without a model. */
export const writtenDefinitions: Readonly<Record<string, WrittenDefinition>> = {
  'meta.v1.Time': { type: 'string', format: 'date-time', description: 'A point in time, as RFC 3339 text.' },
  'meta.v1.MicroTime': {
    type: 'string',
    format: 'date-time',
    description: 'A point in time with microseconds, as RFC 3339 text.',
  },
  'meta.v1.FieldsV1': {
    type: 'object',
    ...anything,
    description: 'A set of fields in the form of a trie: f:NAME, k:KEYS, v:VALUE and i:INDEX.',
  },
  'runtime.RawExtension': { type: 'object', ...anything, description: 'Any object.' },
  'intstr.IntOrString': {
    'x-kubernetes-int-or-string': true,
    format: 'int-or-string',
    description: 'A whole number or a string.',
  },
  'resource.Quantity': {
    type: 'string',
    format: 'quantity',
    description: 'An amount with an optional suffix: 100m, 1.5, 2k, 3e6, 512Mi.',
  },
  'apiextensions.v1.JSON': { ...anything, description: 'Any JSON value.' },
  'apiextensions.v1.JSONSchemaPropsOrBool': { ...anything, description: 'A schema, or true or false.' },
  'apiextensions.v1.JSONSchemaPropsOrArray': { ...anything, description: 'A schema, or a list of schemas.' },
  'apiextensions.v1.CustomResourceSubresourceStatus': {
    type: 'object',
    description: 'How the status subresource of a custom kind is served. It has no options.',
  },
};
