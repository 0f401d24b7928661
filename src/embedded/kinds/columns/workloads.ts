// The columns of workloads, autoscalers and disruption budgets.
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { convertObject } from '../convert.ts';
import { at, conditionIsTrue, count, isObject, numberAt, objects, scalarText, stringMap, text } from '../read.ts';
import {
  ageColumn,
  column,
  counter,
  formatLabels,
  formatSelector,
  humanDuration,
  listWithMore,
  nameColumn,
  selectorText,
  since,
  templateColumns,
  wide,
} from './text.ts';

const selector = wide('Selector', (object) => formatSelector(at(object, 'spec', 'selector')));

function readyOfDesired(object: ApiObject): string {
  return `${count(object, 'status', 'readyReplicas')}/${count(object, 'spec', 'replicas')}`;
}

export const deploymentColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Ready', 'string', readyOfDesired),
  column('Up-to-date', 'string', (object) => count(object, 'status', 'updatedReplicas')),
  column('Available', 'string', (object) => count(object, 'status', 'availableReplicas')),
  ageColumn,
  ...templateColumns('spec', 'template'),
  wide('Selector', (object) => selectorText(at(object, 'spec', 'selector'))),
];

export const replicaSetColumns: readonly PrinterColumn[] = [
  nameColumn,
  counter('Desired', 'spec', 'replicas'),
  counter('Current', 'status', 'replicas'),
  counter('Ready', 'status', 'readyReplicas'),
  ageColumn,
  ...templateColumns('spec', 'template'),
  selector,
];

export const replicationControllerColumns: readonly PrinterColumn[] = [
  ...replicaSetColumns.slice(0, -1),
  wide('Selector', (object) => formatLabels(stringMap(object, 'spec', 'selector'))),
];

export const statefulSetColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Ready', 'string', readyOfDesired),
  ageColumn,
  ...templateColumns('spec', 'template'),
];

export const daemonSetColumns: readonly PrinterColumn[] = [
  nameColumn,
  counter('Desired', 'status', 'desiredNumberScheduled'),
  counter('Current', 'status', 'currentNumberScheduled'),
  counter('Ready', 'status', 'numberReady'),
  counter('Up-to-date', 'status', 'updatedNumberScheduled'),
  counter('Available', 'status', 'numberAvailable'),
  column('Node Selector', 'string', (object) =>
    formatLabels(stringMap(object, 'spec', 'template', 'spec', 'nodeSelector')),
  ),
  ageColumn,
  ...templateColumns('spec', 'template'),
  selector,
];

function controllerText(revision: ApiObject): string {
  const owner = objects(revision, 'metadata', 'ownerReferences').find((reference) => reference['controller'] === true);
  if (owner === undefined) return '<none>';
  const apiVersion = text(owner, 'apiVersion');
  const group = apiVersion.includes('/') ? `.${apiVersion.split('/')[0]}` : '';
  return `${`${text(owner, 'kind')}${group}`.toLowerCase()}/${text(owner, 'name')}`;
}

export const controllerRevisionColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Controller', 'string', controllerText),
  column('Revision', 'string', (object) => count(object, 'revision')),
  ageColumn,
];

function jobStatus(job: ApiObject): string {
  if (conditionIsTrue(job, 'Complete')) return 'Complete';
  if (conditionIsTrue(job, 'Failed')) return 'Failed';
  if (text(job, 'metadata', 'deletionTimestamp') !== '') return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find((type) => conditionIsTrue(job, type)) ?? 'Running';
}

function jobCompletions(job: ApiObject): string {
  const succeeded = count(job, 'status', 'succeeded');
  const completions = numberAt(job, 'spec', 'completions');
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = count(job, 'spec', 'parallelism');
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function jobDuration(job: ApiObject, now: number): string {
  const start = text(job, 'status', 'startTime');
  if (start === '') return '';
  const end = text(job, 'status', 'completionTime');
  return humanDuration((end === '' ? now : Date.parse(end)) - Date.parse(start));
}

export const jobColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Status', 'string', jobStatus),
  column('Completions', 'string', jobCompletions),
  column('Duration', 'string', jobDuration),
  ageColumn,
  ...templateColumns('spec', 'template'),
  selector,
];

export const cronJobColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Schedule', 'string', (object) => text(object, 'spec', 'schedule')),
  column('Timezone', 'string', (object) => text(object, 'spec', 'timeZone') || '<none>'),
  column('Suspend', 'boolean', (object) => (at(object, 'spec', 'suspend') === true ? 'True' : 'False')),
  column('Active', 'integer', (object) => objects(object, 'status', 'active').length),
  column('Last Schedule', 'string', (object, now) => {
    const last = text(object, 'status', 'lastScheduleTime');
    return last === '' ? '<none>' : since(last, now);
  }),
  ageColumn,
  ...templateColumns('spec', 'jobTemplate', 'spec', 'template'),
  wide('Selector', (object) => formatSelector(at(object, 'spec', 'jobTemplate', 'spec', 'selector'))),
];

/** The current and the target value of a metric. Its source is in the field named after its type. */
function metricText(spec: ApiObject, status: ApiObject | undefined): string {
  const type = text(spec, 'type');
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  const source = spec[field];
  if (!isObject(source)) return '<unknown type>';
  const target = source['target'];
  const current = at(status, field, 'current');
  const average = scalarText(target, 'averageValue');
  const currentAverage = scalarText(current, 'averageValue') ?? '<unknown>';
  if (type === 'Resource' || type === 'ContainerResource') {
    if (average !== undefined) return `${text(source, 'name')}: ${currentAverage}/${average}`;
    const used = numberAt(current, 'averageUtilization');
    const desired = numberAt(target, 'averageUtilization');
    return `${text(source, 'name')}: ${used === undefined ? '<unknown>' : `${used}%`}/${desired === undefined ? '<auto>' : `${desired}%`}`;
  }
  if (type === 'Pods') return `${currentAverage}/${average ?? '<unknown>'}`;
  if (average !== undefined) return `${currentAverage}/${average} (avg)`;
  return `${scalarText(current, 'value') ?? '<unknown>'}/${scalarText(target, 'value') ?? '<unknown>'}`;
}

function metricsText(given: ApiObject): string {
  const autoscaler = convertObject(given, 'autoscaling/v2');
  const statuses = objects(autoscaler, 'status', 'currentMetrics');
  const list = objects(autoscaler, 'spec', 'metrics').map((spec, index) => metricText(spec, statuses[index]));
  return listWithMore(list, 2, ', ') || '<none>';
}

export const autoscalerColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Reference', 'string', (object) => {
    const target = at(object, 'spec', 'scaleTargetRef');
    return `${text(target, 'kind')}/${text(target, 'name')}`;
  }),
  column('Targets', 'string', metricsText),
  column('MinPods', 'string', (object) => scalarText(object, 'spec', 'minReplicas') ?? '<unset>'),
  column('MaxPods', 'string', (object) => count(object, 'spec', 'maxReplicas')),
  column('Replicas', 'string', (object) => count(object, 'status', 'currentReplicas')),
  ageColumn,
];

export const disruptionBudgetColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Min Available', 'string', (object) => scalarText(object, 'spec', 'minAvailable') ?? 'N/A'),
  column('Max Unavailable', 'string', (object) => scalarText(object, 'spec', 'maxUnavailable') ?? 'N/A'),
  counter('Allowed Disruptions', 'status', 'disruptionsAllowed'),
  ageColumn,
];
