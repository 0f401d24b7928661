// The defaults of the built-in kinds: set on creation, on every update, and when an object is read from the store.
import type { ApiObject, Resource } from '../../resource.ts';
import { isObject, text } from '../read.ts';
import { fill, inField, inItems, intoField } from './fill.ts';
import { pod } from './pods.ts';
import { withTimes } from './times.ts';
import {
  autoscaler,
  cronJob,
  daemonSet,
  deployment,
  job,
  replicaSet,
  replicationController,
  statefulSet,
} from './workloads.ts';

type Defaults = (object: ApiObject) => ApiObject;

function namespace(object: ApiObject): ApiObject {
  const name = text(object, 'metadata', 'name');
  const filled = intoField(object, 'status', (status) => fill(status, { phase: 'Active' }));
  if (name === '') return filled;
  return intoField(filled, 'metadata', (metadata) =>
    intoField(metadata, 'labels', (labels) => ({ ...labels, 'kubernetes.io/metadata.name': name })),
  );
}

function service(object: ApiObject): ApiObject {
  return intoField(object, 'spec', (given) => {
    let spec = fill(given, { sessionAffinity: 'None', type: 'ClusterIP' });
    const type = text(spec, 'type');
    spec = inItems(spec, 'ports', (port) => {
      const unset = port['targetPort'] === undefined || port['targetPort'] === 0 || port['targetPort'] === '';
      return { ...fill(port, { protocol: 'TCP' }), ...(unset && { targetPort: port['port'] }) };
    });
    if (spec['sessionAffinity'] === 'None') spec = without(spec, 'sessionAffinityConfig');
    else {
      spec = intoField(spec, 'sessionAffinityConfig', (config) =>
        intoField(config, 'clientIP', (clientIP) => fill(clientIP, { timeoutSeconds: 10800 })),
      );
    }
    if (type === 'ExternalName') return spec;
    const hasExternalTraffic =
      type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && hasItems(spec, 'externalIPs'));
    if (hasExternalTraffic) spec = fill(spec, { externalTrafficPolicy: 'Cluster' });
    if (type === 'LoadBalancer') spec = fill(spec, { allocateLoadBalancerNodePorts: true });
    return fill(spec, { internalTrafficPolicy: 'Cluster' });
  });
}

function without(object: ApiObject, field: string): ApiObject {
  if (object[field] === undefined) return object;
  const { [field]: _dropped, ...rest } = object;
  return rest;
}

function hasItems(object: ApiObject, field: string): boolean {
  const list = object[field];
  return Array.isArray(list) && list.length > 0;
}

/** Moves `stringData` into `data`: only `data` is stored. */
function secret(object: ApiObject): ApiObject {
  const plain = object['stringData'];
  const typed = without(fill(object, { type: 'Opaque' }), 'stringData');
  if (!isObject(plain)) return typed;
  const encoded = Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [
      key,
      Buffer.from(typeof value === 'string' ? value : '').toString('base64'),
    ]),
  );
  return { ...typed, data: { ...(isObject(object['data']) ? object['data'] : {}), ...encoded } };
}

function limitRange(object: ApiObject): ApiObject {
  const amounts = (item: ApiObject, field: string): ApiObject => (isObject(item[field]) ? item[field] : {});
  return inField(object, 'spec', (spec) =>
    inItems(spec, 'limits', (item) => {
      if (item['type'] !== 'Container') return item;
      const limits = fill(amounts(item, 'default'), amounts(item, 'max'));
      const requests = fill(fill(amounts(item, 'defaultRequest'), limits), amounts(item, 'min'));
      return { ...item, default: limits, defaultRequest: requests };
    }),
  );
}

function webhooks(extra: ApiObject): Defaults {
  return (object) =>
    inItems(object, 'webhooks', (webhook) => {
      const filled = fill(webhook, {
        failurePolicy: 'Fail',
        matchPolicy: 'Equivalent',
        namespaceSelector: {},
        objectSelector: {},
        timeoutSeconds: 10,
        ...extra,
      });
      const scoped = inItems(filled, 'rules', (rule) => fill(rule, { scope: '*' }));
      return inField(scoped, 'clientConfig', (config) =>
        inField(config, 'service', (target) => fill(target, { port: 443 })),
      );
    });
}

const rbacGroup = 'rbac.authorization.k8s.io';

function binding(object: ApiObject): ApiObject {
  const referred = inField(object, 'roleRef', (reference) =>
    text(reference, 'apiGroup') === '' ? { ...reference, apiGroup: rbacGroup } : reference,
  );
  return inItems(referred, 'subjects', (subject) =>
    subject['kind'] === 'User' || subject['kind'] === 'Group' ? fill(subject, { apiGroup: rbacGroup }) : subject,
  );
}

function networkPolicy(object: ApiObject): ApiObject {
  return intoField(object, 'spec', (given) => {
    const ports = (rule: ApiObject): ApiObject => inItems(rule, 'ports', (port) => fill(port, { protocol: 'TCP' }));
    const spec = inItems(inItems(fill(given, { podSelector: {} }), 'ingress', ports), 'egress', ports);
    if (hasItems(spec, 'policyTypes')) return spec;
    return { ...spec, policyTypes: hasItems(spec, 'egress') ? ['Ingress', 'Egress'] : ['Ingress'] };
  });
}

function customResourceDefinition(object: ApiObject): ApiObject {
  return inField(object, 'spec', (spec) => {
    const named = intoField(spec, 'names', (names) => {
      const kind = text(names, 'kind');
      return fill(names, { singular: kind.toLowerCase(), ...(kind !== '' && { listKind: `${kind}List` }) });
    });
    return fill(named, { conversion: { strategy: 'None' } });
  });
}

function endpoints(object: ApiObject): ApiObject {
  return inItems(object, 'subsets', (subset) => inItems(subset, 'ports', (port) => fill(port, { protocol: 'TCP' })));
}

function endpointSlice(object: ApiObject): ApiObject {
  const named = inItems(object, 'ports', (port) => fill(port, { name: '', protocol: 'TCP' }));
  return inItems(named, 'endpoints', (endpoint) => fill(endpoint, { conditions: {} }));
}

function volume(object: ApiObject): ApiObject {
  const phased = intoField(object, 'status', (status) => fill(status, { phase: 'Pending' }));
  return inField(phased, 'spec', (given) => {
    const spec = fill(given, { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
    return inField(spec, 'hostPath', (source) => fill(source, { type: '' }));
  });
}

function claim(object: ApiObject): ApiObject {
  const phased = intoField(object, 'status', (status) => fill(status, { phase: 'Pending' }));
  return inField(phased, 'spec', (spec) => fill(spec, { volumeMode: 'Filesystem' }));
}

function ingressClass(object: ApiObject): ApiObject {
  return inField(object, 'spec', (spec) =>
    inField(spec, 'parameters', (reference) => fill(reference, { scope: 'Cluster' })),
  );
}

const emptyNodeInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: '',
  architecture: '',
};

function node(object: ApiObject): ApiObject {
  const withSpec = intoField(object, 'spec', (spec) => spec);
  return intoField(withSpec, 'status', (given) => {
    const status = fill(given, { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: emptyNodeInfo });
    return isObject(status['capacity']) ? fill(status, { allocatable: status['capacity'] }) : status;
  });
}

function event(object: ApiObject): ApiObject {
  const times = { firstTimestamp: null, lastTimestamp: null, eventTime: null };
  return fill(object, { source: {}, ...times, reportingComponent: '', reportingInstance: '' });
}

function eventsV1Event(object: ApiObject): ApiObject {
  const times = { deprecatedFirstTimestamp: null, deprecatedLastTimestamp: null, eventTime: null };
  return fill(object, { deprecatedSource: {}, ...times });
}

const table: Readonly<Record<string, Defaults>> = {
  '/Endpoints': endpoints,
  '/Event': event,
  '/LimitRange': limitRange,
  '/Namespace': namespace,
  '/Node': node,
  '/PersistentVolume': volume,
  '/PersistentVolumeClaim': claim,
  '/Pod': pod,
  '/ReplicationController': replicationController,
  '/Secret': secret,
  '/Service': service,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks({ reinvocationPolicy: 'Never' }),
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks({}),
  'apiextensions.k8s.io/CustomResourceDefinition': customResourceDefinition,
  'apps/DaemonSet': daemonSet,
  'apps/Deployment': deployment,
  'apps/ReplicaSet': replicaSet,
  'apps/StatefulSet': statefulSet,
  'autoscaling/HorizontalPodAutoscaler': autoscaler,
  'batch/CronJob': cronJob,
  'batch/Job': job,
  'discovery.k8s.io/EndpointSlice': endpointSlice,
  'events.k8s.io/Event': eventsV1Event,
  'networking.k8s.io/IngressClass': ingressClass,
  'networking.k8s.io/NetworkPolicy': networkPolicy,
  'rbac.authorization.k8s.io/ClusterRole': (object) => fill(object, { rules: null }),
  'rbac.authorization.k8s.io/ClusterRoleBinding': binding,
  'rbac.authorization.k8s.io/Role': (object) => fill(object, { rules: null }),
  'rbac.authorization.k8s.io/RoleBinding': binding,
  'scheduling.k8s.io/PriorityClass': (object) => fill(object, { preemptionPolicy: 'PreemptLowerPriority' }),
  'storage.k8s.io/StorageClass': (object) => fill(object, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),
};

/** Sets the defaults of a built-in kind. `decodeObject` sets those of custom resources. */
export function setDefaults(resource: Resource, object: ApiObject): ApiObject {
  if (resource.custom) return object;
  const key = `${resource.group}/${resource.kind}`;
  return withTimes(key, table[key]?.(object) ?? object);
}
