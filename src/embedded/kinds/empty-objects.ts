// The fields that an object of a built-in kind has before anything is set: those that the Go types always write. No
// field manager owns them after a creation. Read when managedFields of a new object are computed.
import type { Resource } from '../resource.ts';

type Empty = Readonly<Record<string, unknown>>;

const template = { metadata: {}, spec: { containers: null } };
const workload = { selector: null, template };

/** By group and kind. Other kinds have no such fields. */
const emptyObjects: Readonly<Record<string, Empty>> = {
  '/Event': {
    involvedObject: {},
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  },
  '/LimitRange': { spec: { limits: null } },
  '/Namespace': { spec: {}, status: {} },
  '/Node': { spec: {}, status: { daemonEndpoints: { kubeletEndpoint: {} }, nodeInfo: {} } },
  '/Pod': { spec: { containers: null }, status: {} },
  '/ResourceQuota': { spec: {}, status: {} },
  '/Service': { spec: {}, status: { loadBalancer: {} } },
  'apiextensions.k8s.io/CustomResourceDefinition': {
    spec: { group: '', names: { plural: '', kind: '' }, scope: '', versions: null },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null },
  },
  'apps/DaemonSet': { spec: { ...workload, updateStrategy: {} }, status: {} },
  'apps/Deployment': { spec: { ...workload, strategy: {} }, status: {} },
  'apps/ReplicaSet': { spec: workload, status: {} },
  'apps/StatefulSet': { spec: { ...workload, updateStrategy: {} }, status: {} },
  'autoscaling/HorizontalPodAutoscaler': {
    spec: { scaleTargetRef: { kind: '', name: '' }, maxReplicas: 0 },
    status: { desiredReplicas: 0, currentMetrics: null },
  },
  'batch/CronJob': { spec: { schedule: '', jobTemplate: { metadata: {}, spec: { template } } }, status: {} },
  'batch/Job': { spec: { template }, status: {} },
  'certificates.k8s.io/CertificateSigningRequest': { spec: { request: null, signerName: '' }, status: {} },
  'coordination.k8s.io/Lease': { spec: {} },
  'discovery.k8s.io/EndpointSlice': { addressType: '', endpoints: null, ports: null },
  'events.k8s.io/Event': {
    regarding: {},
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    eventTime: null,
  },
  'networking.k8s.io/Ingress': { spec: {}, status: { loadBalancer: {} } },
  'networking.k8s.io/NetworkPolicy': { spec: { podSelector: {} } },
  'policy/PodDisruptionBudget': {
    spec: {},
    status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  },
  'rbac.authorization.k8s.io/ClusterRole': { rules: null },
  'rbac.authorization.k8s.io/ClusterRoleBinding': { roleRef: { apiGroup: '', kind: '', name: '' } },
  'rbac.authorization.k8s.io/Role': { rules: null },
  'rbac.authorization.k8s.io/RoleBinding': { roleRef: { apiGroup: '', kind: '', name: '' } },
};

/** The fields that a new object has before anything is set. */
export function emptyObject({ group, kind, custom }: Resource): Empty {
  return custom ? {} : (emptyObjects[`${group}/${kind}`] ?? {});
}
