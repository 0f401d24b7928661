// Validates workloads.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import { at, isObject, numberAt, objects, stringMap, text } from '../read.ts';
import {
  choice,
  immutable,
  intOrPercentErrors,
  isEmptySelector,
  nonNegative,
  percentLimitErrors,
  selectorErrors,
  selects,
  sorted,
} from './common.ts';
import { templateErrors } from './pods.ts';

/** The selector must be present and not empty, and must match the labels of the pod template. */
function podSelectorErrors(spec: unknown, kind: string): FieldError[] {
  const selector = at(spec, 'selector');
  if (!isObject(selector)) return [required('spec.selector'), ...matchErrors(spec, undefined)];
  const errors = selectorErrors(selector, 'spec.selector');
  if (isEmptySelector(selector)) {
    return [...errors, invalid('spec.selector', selector, `empty selector is invalid for ${kind}`)];
  }
  // An invalid selector cannot be compared with the labels.
  if (errors.length > 0) return [...errors, invalid('spec.selector', selector, 'invalid label selector')];
  return matchErrors(spec, selector);
}

function matchErrors(spec: unknown, selector: unknown): FieldError[] {
  const labels = stringMap(spec, 'template', 'metadata', 'labels');
  if (selector !== undefined && selects(selector, labels)) return [];
  const shown = isObject(at(spec, 'template', 'metadata', 'labels')) ? sorted(labels) : null;
  return [invalid('spec.template.metadata.labels', shown, '`selector` does not match template `labels`')];
}

/** The pods of these kinds must run until they are deleted. */
function longRunningPodErrors(spec: unknown, kind: string): FieldError[] {
  const errors: FieldError[] = [];
  const policy = text(spec, 'template', 'spec', 'restartPolicy');
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  if (at(spec, 'template', 'spec', 'activeDeadlineSeconds') !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden('spec.template.spec.activeDeadlineSeconds', why));
  }
  return errors;
}

function nonNegativeFields(spec: unknown, ...fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => nonNegative(spec, field, 'spec'));
}

function selectorChange(next: ApiObject, old: ApiObject | undefined): FieldError[] {
  return old === undefined ? [] : immutable(at(next, 'spec', 'selector'), at(old, 'spec', 'selector'), 'spec.selector');
}

export function deploymentErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const errors = [
    ...nonNegativeFields(spec, 'replicas'),
    ...podSelectorErrors(spec, 'deployment'),
    ...templateErrors(at(spec, 'template'), 'spec.template'),
    ...longRunningPodErrors(spec, 'ReplicaSet'),
    ...strategyErrors(at(spec, 'strategy')),
    ...nonNegativeFields(spec, 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'),
  ];
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    errors.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return [...errors, ...selectorChange(object, old)];
}

function isZero(value: unknown): boolean {
  return Number.parseInt(typeof value === 'string' ? value : String(Number(value)), 10) === 0;
}

function strategyErrors(strategy: unknown): FieldError[] {
  const path = 'spec.strategy';
  const type = text(strategy, 'type');
  const rolling = at(strategy, 'rollingUpdate');
  if (type === 'Recreate') {
    if (rolling === undefined) return [];
    return [forbidden(`${path}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")];
  }
  if (type !== 'RollingUpdate')
    return [notSupported(path, { Type: type, RollingUpdate: null }, ['Recreate', 'RollingUpdate'])];
  const unavailable = at(rolling, 'maxUnavailable');
  const surge = at(rolling, 'maxSurge');
  const errors = intOrPercentErrors(unavailable, `${path}.rollingUpdate.maxUnavailable`);
  errors.push(...intOrPercentErrors(surge, `${path}.rollingUpdate.maxSurge`));
  if (errors.length === 0 && isZero(unavailable) && isZero(surge)) {
    errors.push(invalid(`${path}.rollingUpdate.maxUnavailable`, unavailable, 'may not be 0 when `maxSurge` is 0'));
  }
  return [...errors, ...percentLimitErrors(unavailable, `${path}.rollingUpdate.maxUnavailable`)];
}

export function replicaSetErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  return [
    ...nonNegativeFields(spec, 'replicas', 'minReadySeconds'),
    // Kubernetes says "deployment" here, too.
    ...podSelectorErrors(spec, 'deployment'),
    ...templateErrors(at(spec, 'template'), 'spec.template'),
    ...longRunningPodErrors(spec, 'ReplicaSet'),
    ...selectorChange(object, old),
  ];
}

export function daemonSetErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  return [
    ...podSelectorErrors(spec, 'daemonset'),
    ...templateErrors(at(spec, 'template'), 'spec.template'),
    ...longRunningPodErrors(spec, 'DaemonSet'),
    ...nonNegativeFields(spec, 'minReadySeconds', 'revisionHistoryLimit'),
    ...choice(text(spec, 'updateStrategy', 'type'), ['RollingUpdate', 'OnDelete'], 'spec.updateStrategy.type'),
    ...selectorChange(object, old),
  ];
}

const statefulSetChangeable = new Set([
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
]);

export function statefulSetErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const claims = objects(spec, 'volumeClaimTemplates').map((claim) => text(claim, 'metadata', 'name'));
  const errors = [
    ...nonNegativeFields(spec, 'replicas', 'minReadySeconds'),
    ...podSelectorErrors(spec, 'statefulset'),
    ...templateErrors(at(spec, 'template'), 'spec.template', claims),
    ...longRunningPodErrors(spec, 'StatefulSet'),
  ];
  const policy = text(spec, 'podManagementPolicy');
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  if (old === undefined) return errors;
  const immutableFields = (value: unknown): unknown =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([key]) => !statefulSetChangeable.has(key)))
      : value;
  if (!isDeepStrictEqual(immutableFields(spec), immutableFields(old['spec']))) {
    const why =
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
    errors.push(forbidden('spec', why));
  }
  return errors;
}

const jobCounts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

function jobSpecErrors(spec: unknown, path: string): FieldError[] {
  const errors = jobCounts.flatMap((field) => nonNegative(spec, field, path));
  const mode = text(spec, 'completionMode') || 'NonIndexed';
  if (mode !== 'NonIndexed' && mode !== 'Indexed')
    errors.push(notSupported(`${path}.completionMode`, mode, ['NonIndexed', 'Indexed']));
  if (mode === 'Indexed' && at(spec, 'completions') === undefined) {
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  }
  errors.push(...templateErrors(at(spec, 'template'), `${path}.template`));
  const policy = text(spec, 'template', 'spec', 'restartPolicy');
  const itemPath = `${path}.template.spec.restartPolicy`;
  if (policy === 'Always' || policy === '') errors.push(required(itemPath, 'valid values: "OnFailure", "Never"'));
  else if (policy !== 'OnFailure' && policy !== 'Never')
    errors.push(notSupported(itemPath, policy, ['OnFailure', 'Never']));
  return errors;
}

export function jobErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const selector = at(spec, 'selector');
  const errors = jobSpecErrors(spec, 'spec');
  if (isObject(selector)) errors.push(...selectorErrors(selector, 'spec.selector'), ...matchErrors(spec, selector));
  else errors.push(required('spec.selector'));
  if (old === undefined) return errors;
  for (const field of ['selector', 'template', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex']) {
    errors.push(...immutable(at(spec, field), at(old, 'spec', field), `spec.${field}`));
  }
  if (text(spec, 'completionMode') !== 'Indexed') {
    errors.push(...immutable(at(spec, 'completions'), at(old, 'spec', 'completions'), 'spec.completions'));
  }
  return errors;
}

const cronField = /^(\*|\?|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(\/\d+)?(,(\*|[0-9A-Za-z]+(-[0-9A-Za-z]+)?)(\/\d+)?)*$/;

function scheduleErrors(schedule: string): FieldError[] {
  const path = 'spec.schedule';
  if (schedule === '') return [required(path)];
  if (schedule.includes('TZ'))
    return [invalid(path, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead')];
  if (schedule.startsWith('@')) {
    const known = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)$/.test(schedule);
    return known ? [] : [invalid(path, schedule, `unrecognized descriptor: ${schedule}`)];
  }
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) {
    const found = `found ${fields.length}: [${fields.join(' ')}]`;
    return [invalid(path, schedule, `expected exactly 5 fields, ${found}`)];
  }
  const wrong = fields.find((field) => !cronField.test(field));
  return wrong === undefined ? [] : [invalid(path, schedule, `failed to parse int from ${wrong}`)];
}

export function cronJobErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  return [
    ...scheduleErrors(text(spec, 'schedule')),
    ...nonNegativeFields(spec, 'startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'),
    ...choice(text(spec, 'concurrencyPolicy'), ['Allow', 'Forbid', 'Replace'], 'spec.concurrencyPolicy'),
    ...jobSpecErrors(at(spec, 'jobTemplate', 'spec'), 'spec.jobTemplate.spec'),
  ];
}
