// Reduced schemas of a few built-in kinds, with the merge keys, list keys and defaults of Kubernetes.
import type { Schema } from '../../schema/types.ts';

const string: Schema = { type: 'string' };
const integer: Schema = { type: 'integer' };
const stringMap: Schema = { type: 'object', additionalProperties: string };

function object(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties };
}

/** A list that both strategic merge patches and server-side apply merge by key. */
function keyed(item: Schema, keys: readonly string[], strategy = 'merge'): Schema {
  return {
    type: 'array',
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-patch-merge-key': keys[0]!,
    'x-kubernetes-patch-strategy': strategy,
  };
}

const atomicStrings: Schema = { type: 'array', items: string, 'x-kubernetes-list-type': 'atomic' };
const stringSet: Schema = {
  type: 'array',
  items: string,
  'x-kubernetes-list-type': 'set',
  'x-kubernetes-patch-strategy': 'merge',
};

const objectMeta = object({
  name: string,
  namespace: string,
  uid: string,
  resourceVersion: string,
  generation: integer,
  creationTimestamp: { type: 'string', format: 'date-time' },
  managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
  labels: stringMap,
  annotations: stringMap,
  finalizers: stringSet,
  ownerReferences: keyed(object({ apiVersion: string, kind: string, name: string, uid: string }), ['uid']),
});

const port = object({
  name: string,
  containerPort: integer,
  protocol: { type: 'string', default: 'TCP' },
});

const container = object({
  name: string,
  image: string,
  args: atomicStrings,
  env: keyed(object({ name: string, value: string, valueFrom: object({ fieldRef: object({ fieldPath: string }) }) }), ['name']),
  ports: keyed(port, ['containerPort', 'protocol']),
  volumeMounts: keyed(object({ name: string, mountPath: string, subPath: string }), ['mountPath']),
  resources: object({ limits: stringMap, requests: stringMap }),
});

const volume = object({
  name: string,
  emptyDir: object({ medium: string }),
  hostPath: object({ path: string }),
});

const podSpec = object({
  containers: keyed(container, ['name']),
  initContainers: keyed(container, ['name']),
  volumes: keyed(volume, ['name'], 'merge,retainKeys'),
  hostAliases: keyed(object({ ip: string, hostnames: atomicStrings }), ['ip']),
  imagePullSecrets: keyed({ ...object({ name: string }), 'x-kubernetes-map-type': 'atomic' }, ['name']),
  tolerations: {
    type: 'array',
    items: object({ key: string, operator: string }),
    'x-kubernetes-list-type': 'atomic',
  },
  nodeSelector: { ...stringMap, 'x-kubernetes-map-type': 'atomic' },
  restartPolicy: string,
});

const labelSelector: Schema = { ...object({ matchLabels: stringMap }), 'x-kubernetes-map-type': 'atomic' };

const condition = object({ type: string, status: string, reason: string });
const conditions = keyed(condition, ['type']);

function kind(spec: Schema): Schema {
  return object({
    apiVersion: string,
    kind: string,
    metadata: objectMeta,
    spec,
    status: object({ conditions, observedGeneration: integer }),
  });
}

export const pod = kind(podSpec);

export const deployment = kind(
  object({
    replicas: integer,
    paused: { type: 'boolean' },
    selector: labelSelector,
    strategy: {
      ...object({
        type: string,
        rollingUpdate: object({ maxSurge: { 'x-kubernetes-int-or-string': true } }),
      }),
      'x-kubernetes-patch-strategy': 'retainKeys',
    },
    template: object({ metadata: objectMeta, spec: podSpec }),
  }),
);

const servicePort = object({
  name: string,
  port: integer,
  targetPort: { 'x-kubernetes-int-or-string': true },
  protocol: { type: 'string', default: 'TCP' },
});

export const service = kind(
  object({
    ports: keyed(servicePort, ['port', 'protocol']),
    selector: { ...stringMap, 'x-kubernetes-map-type': 'atomic' },
    externalIPs: atomicStrings,
    type: string,
  }),
);

/** A custom resource: some fields declared, some free-form, metadata not described. */
export const custom: Schema = object({
  apiVersion: string,
  kind: string,
  metadata: { type: 'object' },
  spec: {
    type: 'object',
    properties: {
      size: integer,
      tags: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
      hosts: { type: 'array', items: string },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      rules: {
        type: 'array',
        items: object({ host: string, path: { type: 'string', default: '/' }, weight: integer, labels: stringMap }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['host', 'path'],
      },
      whole: { ...object({ a: integer, b: integer }), 'x-kubernetes-map-type': 'atomic' },
    },
  },
  status: object({ conditions }),
});
