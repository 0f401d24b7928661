// The printer columns of the built-in kinds.
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { at, count, isObject, objects, scalarText, text } from '../read.ts';
import { certificateRequestColumns } from './certificates.ts';
import {
  nameOrDefault,
  endpointsColumns,
  endpointSliceColumns,
  ingressClassColumns,
  ingressColumns,
  networkPolicyColumns,
  serviceColumns,
} from './network.ts';
import { claimColumns, nodeColumns, podColumns, volumeColumns } from './pods.ts';
import { ageColumn, column, nameColumn, plainColumns, since, wide } from './text.ts';
import {
  autoscalerColumns,
  controllerRevisionColumns,
  cronJobColumns,
  daemonSetColumns,
  deploymentColumns,
  disruptionBudgetColumns,
  jobColumns,
  replicaSetColumns,
  replicationControllerColumns,
  statefulSetColumns,
} from './workloads.ts';

function keyCount(object: ApiObject, ...fields: readonly string[]): number {
  return fields.reduce((sum, field) => sum + (isObject(object[field]) ? Object.keys(object[field]).length : 0), 0);
}

function firstSeen(event: ApiObject, now: number): string {
  return since(text(event, 'firstTimestamp') || text(event, 'deprecatedFirstTimestamp') || event['eventTime'], now);
}

function lastSeen(event: ApiObject, now: number): string {
  const series = text(event, 'series', 'lastObservedTime');
  const last = series || text(event, 'lastTimestamp') || text(event, 'deprecatedLastTimestamp');
  return last === '' ? firstSeen(event, now) : since(last, now);
}

function eventObject(event: ApiObject): string {
  const reference = event['involvedObject'] ?? event['regarding'];
  const kind = text(reference, 'kind').toLowerCase();
  const name = text(reference, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function eventSource(event: ApiObject): string {
  const source = event['source'] ?? event['deprecatedSource'];
  const component =
    text(source, 'component') || text(event, 'reportingComponent') || text(event, 'reportingController');
  const instance = text(source, 'host') || text(event, 'reportingInstance');
  return instance === '' ? component : `${component}, ${instance}`;
}

/** The events of both API groups have the same columns. */
const eventColumns: readonly PrinterColumn[] = [
  column('Last Seen', 'string', lastSeen),
  column('Type', 'string', (event) => text(event, 'type')),
  column('Reason', 'string', (event) => text(event, 'reason')),
  column('Object', 'string', eventObject),
  wide('Subobject', (event) => text(event['involvedObject'] ?? event['regarding'], 'fieldPath')),
  wide('Source', eventSource),
  column('Message', 'string', (event) => (text(event, 'message') || text(event, 'note')).trim()),
  wide('First Seen', firstSeen),
  wide(
    'Count',
    (event) => count(event, 'series', 'count') || count(event, 'count') || count(event, 'deprecatedCount') || 1,
  ),
  { ...nameColumn, priority: 1 },
];

function quotaCell(quota: ApiObject, limits: boolean): string {
  const hard = at(quota, 'status', 'hard');
  return Object.keys(isObject(hard) ? hard : {})
    .filter((name) => name.startsWith('limits.') === limits)
    .sort()
    .map((name) => `${name}: ${scalarText(quota, 'status', 'used', name) ?? '0'}/${scalarText(hard, name) ?? '0'}`)
    .join(', ');
}

function subjects(binding: ApiObject, kind: string): string {
  return objects(binding, 'subjects')
    .filter((subject) => subject['kind'] === kind)
    .map((subject) => {
      const namespace = text(subject, 'namespace');
      return namespace === '' || kind !== 'ServiceAccount'
        ? text(subject, 'name')
        : `${namespace}/${text(subject, 'name')}`;
    })
    .join(', ');
}

const bindingColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Role', 'string', (binding) => `${text(binding, 'roleRef', 'kind')}/${text(binding, 'roleRef', 'name')}`),
  ageColumn,
  wide('Users', (binding) => subjects(binding, 'User')),
  wide('Groups', (binding) => subjects(binding, 'Group')),
  wide('ServiceAccounts', (binding) => subjects(binding, 'ServiceAccount')),
];

const webhookColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Webhooks', 'integer', (object) => objects(object, 'webhooks').length),
  ageColumn,
];

const table: Readonly<Record<string, readonly PrinterColumn[]>> = {
  '/ConfigMap': [nameColumn, column('Data', 'string', (object) => keyCount(object, 'data', 'binaryData')), ageColumn],
  '/Endpoints': endpointsColumns,
  '/Event': eventColumns,
  '/Namespace': [nameColumn, column('Status', 'string', (object) => text(object, 'status', 'phase')), ageColumn],
  '/Node': nodeColumns,
  '/PersistentVolume': volumeColumns,
  '/PersistentVolumeClaim': claimColumns,
  '/Pod': podColumns,
  '/ReplicationController': replicationControllerColumns,
  '/ResourceQuota': [
    nameColumn,
    column('Request', 'string', (quota) => quotaCell(quota, false)),
    column('Limit', 'string', (quota) => quotaCell(quota, true)),
    ageColumn,
  ],
  '/Secret': [
    nameColumn,
    column('Type', 'string', (object) => text(object, 'type')),
    column('Data', 'string', (object) => keyCount(object, 'data')),
    ageColumn,
  ],
  '/Service': serviceColumns,
  '/ServiceAccount': [nameColumn, ageColumn],
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookColumns,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookColumns,
  'apps/ControllerRevision': controllerRevisionColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'autoscaling/HorizontalPodAutoscaler': autoscalerColumns,
  'batch/CronJob': cronJobColumns,
  'batch/Job': jobColumns,
  'certificates.k8s.io/CertificateSigningRequest': certificateRequestColumns,
  'coordination.k8s.io/Lease': [
    nameColumn,
    column('Holder', 'string', (lease) => text(lease, 'spec', 'holderIdentity')),
    ageColumn,
  ],
  'discovery.k8s.io/EndpointSlice': endpointSliceColumns,
  'events.k8s.io/Event': eventColumns,
  'networking.k8s.io/Ingress': ingressColumns,
  'networking.k8s.io/IngressClass': ingressClassColumns,
  'networking.k8s.io/NetworkPolicy': networkPolicyColumns,
  'policy/PodDisruptionBudget': disruptionBudgetColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingColumns,
  'rbac.authorization.k8s.io/RoleBinding': bindingColumns,
  'scheduling.k8s.io/PriorityClass': [
    nameColumn,
    column('Value', 'integer', (object) => count(object, 'value')),
    column('Global-Default', 'boolean', (object) => object['globalDefault'] === true),
    ageColumn,
    column('PreemptionPolicy', 'string', (object) => text(object, 'preemptionPolicy')),
  ],
  'storage.k8s.io/StorageClass': [
    nameOrDefault('storageclass.kubernetes.io/is-default-class'),
    column('Provisioner', 'string', (object) => text(object, 'provisioner')),
    column('ReclaimPolicy', 'string', (object) => text(object, 'reclaimPolicy') || 'Delete'),
    column('VolumeBindingMode', 'string', (object) => text(object, 'volumeBindingMode') || 'Immediate'),
    column('AllowVolumeExpansion', 'string', (object) => object['allowVolumeExpansion'] === true),
    ageColumn,
  ],
};

/** The printer columns of a built-in kind. */
export function columnsOf(group: string, kind: string): readonly PrinterColumn[] {
  return table[`${group}/${kind}`] ?? plainColumns;
}
