// Validates the scheduling of pods: tolerations, topology spread, affinity, host aliases.
import { isIP } from 'node:net';
import type { ApiObject } from '../../resource.ts';
import { type FieldError, invalid, notSupported, required } from '../../schema/field-error.ts';
import { at, isObject, numberAt, objects, text } from '../read.ts';
import { choice, nameErrors } from './common.ts';
import { qualifiedNameProblems } from './names.ts';

/** Errors in the order of the API server. */
export function schedulingErrors(spec: unknown, path: string): FieldError[] {
  return [
    ...affinityErrors(spec, path),
    ...objects(spec, 'topologySpreadConstraints').flatMap((constraint, index) =>
      spreadErrors(constraint, `${path}.topologySpreadConstraints[${index}]`),
    ),
    ...objects(spec, 'tolerations').flatMap((toleration, index) =>
      tolerationErrors(toleration, `${path}.tolerations[${index}]`),
    ),
    ...objects(spec, 'hostAliases').flatMap((alias, index) => {
      const ip = text(alias, 'ip');
      const why = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
      return isIP(ip) === 0 ? [invalid(`${path}.hostAliases[${index}].ip`, ip, why)] : [];
    }),
  ];
}

function affinityErrors(spec: unknown, path: string): FieldError[] {
  const requiredAffinity = at(spec, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  if (!isObject(requiredAffinity) || objects(requiredAffinity, 'nodeSelectorTerms').length > 0) return [];
  const field = `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  return [required(field, 'must have at least one node selector term')];
}

function spreadErrors(constraint: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const skew = numberAt(constraint, 'maxSkew') ?? 0;
  if (skew <= 0) errors.push(invalid(`${path}.maxSkew`, skew, 'must be greater than zero'));
  if (text(constraint, 'topologyKey') === '') errors.push(required(`${path}.topologyKey`, 'cannot be empty'));
  const action = text(constraint, 'whenUnsatisfiable');
  return [...errors, ...choice(action, ['DoNotSchedule', 'ScheduleAnyway'], `${path}.whenUnsatisfiable`)];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function tolerationErrors(toleration: ApiObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const key = text(toleration, 'key');
  const operator = text(toleration, 'operator');
  const value = text(toleration, 'value');
  const effect = text(toleration, 'effect');
  if (key !== '') errors.push(...nameErrors(qualifiedNameProblems, key, `${path}.key`));
  else if (operator !== 'Exists') {
    const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    errors.push(invalid(`${path}.operator`, operator, why));
  }
  if (toleration['tolerationSeconds'] !== undefined && effect !== 'NoExecute') {
    errors.push(invalid(`${path}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (operator === 'Exists' && value !== '') {
    errors.push(invalid(`${path}.operator`, value, "value must be empty when `operator` is 'Exists'"));
  } else if (!['', 'Equal', 'Exists'].includes(operator)) {
    errors.push(notSupported(`${path}.operator`, operator, ['Equal', 'Exists']));
  }
  return effect === '' || effects.includes(effect)
    ? errors
    : [...errors, notSupported(`${path}.effect`, effect, effects)];
}
