// The fields of the built-in kinds that field selectors support besides metadata.name and metadata.namespace.
import type { ApiObject } from '../resource.ts';
import { at, scalarText, text } from './read.ts';

type Accessors = Readonly<Record<string, (object: ApiObject) => string>>;

function fields(...paths: readonly string[]): Accessors {
  return Object.fromEntries(
    paths.map((path) => {
      const steps = path.split('.');
      return [path, (object: ApiObject) => text(object, ...steps)];
    }),
  );
}

function flag(...path: readonly string[]): (object: ApiObject) => string {
  return (object) => String(at(object, ...path) === true);
}

function amount(...path: readonly string[]): (object: ApiObject) => string {
  return (object) => scalarText(object, ...path) ?? '0';
}

const eventReference = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** By group and kind. */
const table: Readonly<Record<string, Accessors>> = {
  '/Pod': {
    ...fields(
      'spec.nodeName',
      'spec.restartPolicy',
      'spec.schedulerName',
      'spec.serviceAccountName',
      'status.phase',
      'status.podIP',
      'status.nominatedNodeName',
    ),
    'spec.hostNetwork': flag('spec', 'hostNetwork'),
  },
  '/Node': { 'spec.unschedulable': flag('spec', 'unschedulable') },
  '/Namespace': fields('status.phase'),
  '/Secret': fields('type'),
  '/Service': fields('spec.clusterIP', 'spec.type'),
  '/ReplicationController': { 'status.replicas': amount('status', 'replicas') },
  'batch/Job': { 'status.successful': amount('status', 'succeeded') },
  'certificates.k8s.io/CertificateSigningRequest': fields('spec.signerName'),
  '/Event': {
    ...fields(...eventReference.map((field) => `involvedObject.${field}`), 'reason', 'reportingComponent', 'type'),
    source: eventSource,
  },
  'events.k8s.io/Event': {
    ...fields('reason', 'reportingController', 'type'),
    ...fields(...eventReference.map((field) => `regarding.${field}`)),
  },
};

function eventSource(event: ApiObject): string {
  return text(event, 'source', 'component') || text(event, 'reportingComponent');
}

/** Reads the selectable fields of a kind. */
export function selectableFieldsOf(group: string, kind: string): Accessors {
  return table[`${group}/${kind}`] ?? {};
}
