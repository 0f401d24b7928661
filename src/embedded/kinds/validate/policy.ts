// Validates budgets, autoscalers, quotas, leases, storage and other small kinds.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import { parseQuantity } from '../../../kube/quantity.ts';
import { at, isObject, numberAt, objects, stringMap, strings, text } from '../read.ts';
import {
  immutable,
  intOrPercentErrors,
  nameErrors,
  nonNegative,
  percentLimitErrors,
  selectorErrors,
  sorted,
} from './common.ts';
import { pathSegmentProblems, qualifiedNameProblems } from './names.ts';

const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource'];

export function disruptionBudgetErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const errors: FieldError[] = [];
  const least = at(spec, 'minAvailable');
  const most = at(spec, 'maxUnavailable');
  if (least !== undefined && most !== undefined) {
    errors.push(invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  }
  if (least !== undefined)
    errors.push(...intOrPercentErrors(least, 'spec.minAvailable'), ...percentLimitErrors(least, 'spec.minAvailable'));
  if (most !== undefined)
    errors.push(...intOrPercentErrors(most, 'spec.maxUnavailable'), ...percentLimitErrors(most, 'spec.maxUnavailable'));
  return [...errors, ...selectorErrors(at(spec, 'selector'), 'spec.selector')];
}

export function autoscalerErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const errors: FieldError[] = [];
  const least = numberAt(spec, 'minReplicas');
  const most = numberAt(spec, 'maxReplicas') ?? 0;
  if (least !== undefined && least < 1)
    errors.push(invalid('spec.minReplicas', least, 'must be greater than or equal to 1'));
  if (most === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (most < 0) errors.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to 1'));
  if (least !== undefined && most < least) {
    errors.push(invalid('spec.maxReplicas', most, 'must be greater than or equal to `minReplicas`'));
  }
  for (const field of ['kind', 'name']) {
    const value = text(spec, 'scaleTargetRef', field);
    if (value === '') errors.push(required(`spec.scaleTargetRef.${field}`));
    else errors.push(...nameErrors(pathSegmentProblems, value, `spec.scaleTargetRef.${field}`));
  }
  for (const [index, metric] of objects(spec, 'metrics').entries()) {
    const type = text(metric, 'type');
    const field = type.charAt(0).toLowerCase() + type.slice(1);
    const itemPath = `spec.metrics[${index}]`;
    if (type === '') errors.push(required(`${itemPath}.type`, 'must specify a metric source type'));
    else if (!metricTypes.includes(type)) errors.push(notSupported(`${itemPath}.type`, type, metricTypes));
    else if (!isObject(metric[field])) {
      errors.push(required(`${itemPath}.${field}`, 'must populate information for the given metric source'));
    }
  }
  return errors;
}

export function leaseErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const duration = numberAt(spec, 'leaseDurationSeconds');
  const errors: FieldError[] = [];
  if (duration !== undefined && duration <= 0)
    errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  return [...errors, ...nonNegative(spec, 'leaseTransitions', 'spec')];
}

export function priorityClassErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  if (old === undefined) return [];
  const value = numberAt(object, 'value') ?? 0;
  const errors =
    value === (numberAt(old, 'value') ?? 0) ? [] : [forbidden('value', 'may not be changed in an update.')];
  const policy = text(object, 'preemptionPolicy');
  return policy === text(old, 'preemptionPolicy')
    ? errors
    : [...errors, forbidden('preemptionPolicy', 'may not be changed in an update.')];
}

/** An event must be in the namespace of its object. */
export function eventErrors(object: ApiObject): FieldError[] {
  const field = isObject(object['regarding']) ? 'regarding' : 'involvedObject';
  const about = text(object, field, 'namespace');
  const own = text(object, 'metadata', 'namespace');
  if (about === '' ? own === 'default' : about === own) return [];
  return [invalid('involvedObject.namespace', about, 'does not match event.namespace')];
}

const quotaObjects = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
]);

function isQuotaName(name: string): boolean {
  return (
    quotaObjects.has(name) ||
    name.includes('/') ||
    /^(requests|limits|services)\./.test(name) ||
    name.startsWith('hugepages-')
  );
}

export function quotaErrors(object: ApiObject): FieldError[] {
  return Object.entries(sorted(stringMap(object, 'spec', 'hard'))).flatMap(([name, amount]) => {
    const path = `spec.hard[${name}]`;
    const errors: FieldError[] = [];
    if (!isQuotaName(name)) {
      const problems = qualifiedNameProblems(name);
      const found = problems.length > 0 ? problems : ['must be a standard resource type or fully qualified'];
      errors.push(...found.map((problem) => invalid(path, name, problem)));
      errors.push(invalid(path, name, 'must be a standard resource for quota'));
    }
    const quantity = parseQuantity(amount);
    if (quantity !== undefined && quantity.nano < 0n)
      errors.push(invalid(path, amount, 'must be greater than or equal to 0'));
    return errors;
  });
}

export function storageClassErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const provisioner = text(object, 'provisioner');
  const errors = provisioner === '' ? [required('provisioner')] : [];
  if (old === undefined) return errors;
  for (const field of ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode']) {
    errors.push(...immutable(object[field], old[field], field));
  }
  return errors;
}

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

export function claimErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const modes = strings(spec, 'accessModes');
  const errors = modes.length === 0 ? [required('spec.accessModes', 'at least 1 access mode is required')] : [];
  for (const mode of modes)
    if (!accessModes.includes(mode)) errors.push(notSupported('spec.accessModes', mode, accessModes));
  if (text(spec, 'resources', 'requests', 'storage') === '') errors.push(required('spec.resources[storage]'));
  if (old !== undefined && !isDeepStrictEqual(immutableClaimFields(spec), immutableClaimFields(old['spec']))) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    errors.push(forbidden('spec', why));
  }
  return errors;
}

/** The volume is set once, when the claim is bound. */
function immutableClaimFields(spec: unknown): unknown {
  if (!isObject(spec)) return spec;
  const { resources: _resources, volumeName: _volume, volumeAttributesClassName: _class, ...rest } = spec;
  return rest;
}
