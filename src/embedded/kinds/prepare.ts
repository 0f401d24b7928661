// Prepares an object for a write, after defaulting and before validation: resets fields that clients may not set, and
// sets the initial fields of a new object.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject, Resource } from '../resource.ts';
import { fill, intoField } from './defaults/fill.ts';
import { admittedPod, pod, qosClass } from './defaults/pods.ts';
import { job, jobSelector } from './defaults/workloads.ts';
import { at, isObject, text } from './read.ts';

/** The initial status of new objects, where it is not `{}`. */
const initialStatus: Readonly<Record<string, ApiObject>> = {
  '/Namespace': { phase: 'Active' },
  '/PersistentVolume': { phase: 'Pending' },
  '/PersistentVolumeClaim': { phase: 'Pending' },
  '/ReplicationController': { replicas: 0 },
  '/Service': { loadBalancer: {} },
  'apps/DaemonSet': { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
  'apps/ReplicaSet': { replicas: 0 },
  'apps/StatefulSet': { availableReplicas: 0, replicas: 0 },
  'autoscaling/HorizontalPodAutoscaler': { desiredReplicas: 0, currentMetrics: null },
  'networking.k8s.io/Ingress': { loadBalancer: {} },
  'policy/PodDisruptionBudget': { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
};

/** Kinds whose status a client may set on creation. */
const keepsGivenStatus = new Set(['/Node', '/Namespace']);

/**
 * Prepares a new object of any kind. Expects defaults to be set, and for jobs a `metadata.uid`. Cluster IPs are
 * allocated elsewhere.
 */
export function prepareForCreate(resource: Resource, object: ApiObject): ApiObject {
  const key = `${resource.group}/${resource.kind}`;
  let result = object;
  if (resource.status && !keepsGivenStatus.has(key)) {
    const { status: _given, ...rest } = result;
    result = resource.custom ? rest : { ...rest, status: initialStatus[key] ?? {} };
  }
  if (resource.custom) return result;
  if (key === '/Pod') {
    const admitted = pod(admittedPod(result));
    return { ...admitted, status: { phase: 'Pending', qosClass: qosClass(admitted) } };
  }
  if (key === '/Namespace') return intoField(result, 'spec', namespaceFinalizer);
  if (key === '/Service') return intoField(result, 'spec', addressFamilies);
  if (key === 'apps/DaemonSet') return withTemplateGeneration(result, '1');
  // Defaulting again gives the job the labels of its template.
  return key === 'batch/Job' ? job(jobSelector(result)) : result;
}

function namespaceFinalizer(spec: ApiObject): ApiObject {
  const present = Array.isArray(spec['finalizers']) ? (spec['finalizers'] as unknown[]) : [];
  return present.includes('kubernetes') ? spec : { ...spec, finalizers: [...present, 'kubernetes'] };
}

function addressFamilies(spec: ApiObject): ApiObject {
  if (spec['type'] === 'ExternalName') return spec;
  const address = text(spec, 'clusterIP');
  return fill(spec, {
    ...(address !== '' && { clusterIPs: [address] }),
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  });
}

const templateGeneration = 'deprecated.daemonset.template.generation';

/** The deprecated annotation that counts the changes of the template. */
function withTemplateGeneration(object: ApiObject, value: string): ApiObject {
  return intoField(object, 'metadata', (metadata) =>
    intoField(metadata, 'annotations', (annotations) => ({ ...annotations, [templateGeneration]: value })),
  );
}

function keepTemplateGeneration(next: ApiObject, old: ApiObject): ApiObject {
  const before = Number(text(old, 'metadata', 'annotations', templateGeneration)) || 0;
  const same = isDeepStrictEqual(at(next, 'spec', 'template'), at(old, 'spec', 'template'));
  return withTemplateGeneration(next, String(same ? before : before + 1));
}

/**
 * Prepares an update: fields that the server set keep their values when the client leaves them out. The caller handles
 * status and metadata.
 */
export function prepareForUpdate(resource: Resource, next: ApiObject, old: ApiObject): ApiObject {
  if (resource.custom) return next;
  const key = `${resource.group}/${resource.kind}`;
  if (key === '/Service') return keepServiceAddresses(next, old);
  if (key === '/Namespace') return keepField(next, old, 'finalizers');
  return key === 'apps/DaemonSet' ? keepTemplateGeneration(next, old) : next;
}

function keepField(next: ApiObject, old: ApiObject, field: string): ApiObject {
  const value = at(old, 'spec', field);
  return value === undefined ? next : intoField(next, 'spec', (spec) => ({ ...spec, [field]: value }));
}

function keepServiceAddresses(next: ApiObject, old: ApiObject): ApiObject {
  const before = at(old, 'spec');
  if (!isObject(before) || text(next, 'spec', 'type') === 'ExternalName' || before['type'] === 'ExternalName')
    return next;
  return intoField(next, 'spec', (spec) => {
    const kept = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort'];
    const result = fill(
      spec,
      Object.fromEntries(kept.map((field) => [field, before[field]]).filter(([, value]) => value !== undefined)),
    );
    return keepNodePorts(result, before);
  });
}

function keepNodePorts(spec: ApiObject, before: ApiObject): ApiObject {
  if (spec['type'] !== 'NodePort' && spec['type'] !== 'LoadBalancer') return spec;
  const oldPorts = Array.isArray(before['ports']) ? before['ports'].filter(isObject) : [];
  if (!Array.isArray(spec['ports'])) return spec;
  const ports = spec['ports'].map((port: unknown) => {
    if (!isObject(port) || port['nodePort'] !== undefined) return port;
    const same = oldPorts.find((old) => old['port'] === port['port'] && old['protocol'] === port['protocol']);
    return same?.['nodePort'] === undefined ? port : { ...port, nodePort: same['nodePort'] };
  });
  return { ...spec, ports };
}

/** The object without metadata and status: changes of the rest raise the generation. */
function specOf(object: ApiObject, resource: Resource): ApiObject {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = object;
  if (!resource.status) return rest;
  const { status: _status, ...content } = rest;
  return content;
}

/** Does the change from old to next raise `metadata.generation`? */
export function raisesGeneration(resource: Resource, next: ApiObject, old: ApiObject): boolean {
  if (!resource.hasGeneration || resource.kind === 'PriorityClass') return false;
  if (!isDeepStrictEqual(specOf(next, resource), specOf(old, resource))) return true;
  if (resource.group === 'apps' && resource.kind === 'Deployment') {
    const annotations = (object: ApiObject): unknown => at(object, 'metadata', 'annotations') ?? {};
    return !isDeepStrictEqual(annotations(next), annotations(old));
  }
  return false;
}
