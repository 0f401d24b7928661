// Configuration, services, access, budgets and the other small kinds.
import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../resource.ts';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../schema/field-error.ts';
import { at, isObject, numberAt, objects, stringMap, strings, text } from '../read.ts';
import {
  choice,
  immutable,
  intOrPercentErrors,
  labelErrors,
  nameErrors,
  Once,
  percentLimitErrors,
  portErrors,
  portOrNameErrors,
  selectorErrors,
} from './common.ts';
import { configKeyProblems, dns1123LabelProblems, dns1123SubdomainProblems, pathSegmentProblems } from './names.ts';

const dataLimit = 1024 * 1024;
const sealed = 'field is immutable when `immutable` is set';

function keyErrors(object: ApiObject, field: string): FieldError[] {
  return Object.keys(stringMap(object, field)).flatMap((key) => nameErrors(configKeyProblems, key, `${field}[${key}]`));
}

function sealedErrors(object: ApiObject, old: ApiObject | undefined, ...fields: readonly string[]): FieldError[] {
  if (old?.['immutable'] !== true) return [];
  const errors = object['immutable'] === true ? [] : [forbidden('immutable', sealed)];
  for (const field of fields) {
    if (!isDeepStrictEqual(object[field] ?? {}, old[field] ?? {})) errors.push(forbidden(field, sealed));
  }
  return errors;
}

export function configMapErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const data = stringMap(object, 'data');
  const binary = stringMap(object, 'binaryData');
  const errors = [...sealedErrors(object, old, 'data', 'binaryData'), ...keyErrors(object, 'data')];
  for (const key of Object.keys(data)) {
    if (binary[key] !== undefined) errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  errors.push(...keyErrors(object, 'binaryData'));
  const size = [...Object.values(data), ...Object.values(binary)].reduce(
    (sum, value) => sum + Buffer.byteLength(value),
    0,
  );
  if (size > dataLimit) errors.push(tooLong('', dataLimit));
  return errors;
}

const secretKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/dockercfg': ['.dockercfg'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
};

export function secretErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const data = stringMap(object, 'data');
  const type = text(object, 'type');
  const errors = old === undefined ? [] : immutable(type, text(old, 'type'), 'type');
  errors.push(...sealedErrors(object, old, 'data'), ...keyErrors(object, 'data'));
  const size = Object.values(data).reduce((sum, value) => sum + Math.floor((value.length * 3) / 4), 0);
  if (size > dataLimit) errors.push(tooLong('data', dataLimit));
  for (const key of secretKeys[type] ?? []) if (data[key] === undefined) errors.push(required(`data[${key}]`));
  if (type === 'kubernetes.io/basic-auth' && data['username'] === undefined && data['password'] === undefined) {
    errors.push(required('data[username]'), required('data[password]'));
  }
  const account = 'kubernetes.io/service-account.name';
  if (type === 'kubernetes.io/service-account-token' && text(object, 'metadata', 'annotations', account) === '') {
    errors.push(required(`metadata.annotations[${account}]`));
  }
  return errors;
}

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export function serviceErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = object['spec'];
  const type = text(spec, 'type');
  const headless = text(spec, 'clusterIP') === 'None';
  const ports = objects(spec, 'ports');
  const errors: FieldError[] = [];
  if (ports.length === 0 && !headless && type !== 'ExternalName') errors.push(required('spec.ports'));
  if (type === 'ExternalName') {
    const name = text(spec, 'externalName').replace(/\.$/, '');
    if (name === '') errors.push(required('spec.externalName'));
    else errors.push(...nameErrors(dns1123SubdomainProblems, name, 'spec.externalName'));
  } else if (headless && (type === 'LoadBalancer' || type === 'NodePort')) {
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  errors.push(...servicePortErrors(ports));
  errors.push(...labelErrors(at(spec, 'selector'), 'spec.selector'));
  errors.push(...choice(text(spec, 'sessionAffinity'), ['ClientIP', 'None'], 'spec.sessionAffinity'));
  errors.push(...choice(type, serviceTypes, 'spec.type'));
  if (type === 'ClusterIP') {
    for (const [index, port] of ports.entries()) {
      if ((numberAt(port, 'nodePort') ?? 0) !== 0) {
        errors.push(forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
      }
    }
  }
  return [...errors, ...duplicatePorts(ports), ...addressChange(object, old)];
}

function servicePortErrors(ports: readonly ApiObject[]): FieldError[] {
  const names = new Once();
  return ports.flatMap((port, index) => {
    const place = `spec.ports[${index}]`;
    const name = text(port, 'name');
    const errors: FieldError[] = [];
    if (name !== '')
      errors.push(...nameErrors(dns1123LabelProblems, name, `${place}.name`), ...names.check(name, `${place}.name`));
    else if (ports.length > 1) errors.push(required(`${place}.name`));
    errors.push(...portErrors(numberAt(port, 'port') ?? 0, `${place}.port`));
    errors.push(...choice(text(port, 'protocol'), ['SCTP', 'TCP', 'UDP'], `${place}.protocol`));
    errors.push(...portOrNameErrors(port['targetPort'], `${place}.targetPort`));
    return errors;
  });
}

function duplicatePorts(ports: readonly ApiObject[]): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, index) => {
    const key = { port: numberAt(port, 'port') ?? 0, protocol: text(port, 'protocol') };
    const name = `${key.port}/${key.protocol}`;
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [duplicate(`spec.ports[${index}]`, { protocol: key.protocol, port: key.port, targetPort: 0 })];
  });
}

/** The address of a service stays, unless the service becomes one without an address or was one. */
function addressChange(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const before = strings(old, 'spec', 'clusterIPs')[0] ?? text(old, 'spec', 'clusterIP');
  if (old === undefined || before === '') return [];
  const now = strings(object, 'spec', 'clusterIPs')[0] ?? text(object, 'spec', 'clusterIP');
  if (now === before || text(object, 'spec', 'type') === 'ExternalName' || text(old, 'spec', 'type') === 'ExternalName')
    return [];
  const given = at(object, 'spec', 'clusterIPs') ?? [now];
  return [invalid('spec.clusterIPs[0]', given, 'may not change once set')];
}

const rbacGroup = 'rbac.authorization.k8s.io';

export function roleErrors(object: ApiObject): FieldError[] {
  const namespaced = object['kind'] === 'Role';
  return objects(object, 'rules').flatMap((rule, index) => {
    const place = `rules[${index}]`;
    const errors: FieldError[] = [];
    if (strings(rule, 'verbs').length === 0)
      errors.push(required(`${place}.verbs`, 'verbs must contain at least one value'));
    const urls = strings(rule, 'nonResourceURLs');
    if (urls.length > 0) {
      if (namespaced)
        errors.push(invalid(`${place}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs'));
      if (['apiGroups', 'resources', 'resourceNames'].some((field) => strings(rule, field).length > 0)) {
        errors.push(
          invalid(
            `${place}.nonResourceURLs`,
            urls,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        );
      }
      return errors;
    }
    if (strings(rule, 'apiGroups').length === 0)
      errors.push(required(`${place}.apiGroups`, 'resource rules must supply at least one api group'));
    if (strings(rule, 'resources').length === 0)
      errors.push(required(`${place}.resources`, 'resource rules must supply at least one resource'));
    return errors;
  });
}

export function bindingErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const namespaced = object['kind'] === 'RoleBinding';
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const errors: FieldError[] = [];
  const group = text(object, 'roleRef', 'apiGroup');
  if (group !== rbacGroup) errors.push(notSupported('roleRef.apiGroup', group, [rbacGroup]));
  const kind = text(object, 'roleRef', 'kind');
  if (!kinds.includes(kind)) errors.push(notSupported('roleRef.kind', kind, kinds));
  const name = text(object, 'roleRef', 'name');
  if (name === '') errors.push(required('roleRef.name'));
  else errors.push(...nameErrors(pathSegmentProblems, name, 'roleRef.name'));
  for (const [index, subject] of objects(object, 'subjects').entries()) {
    errors.push(...subjectErrors(subject, namespaced, `subjects[${index}]`));
  }
  if (old !== undefined && !isDeepStrictEqual(object['roleRef'], old['roleRef'])) {
    errors.push(invalid('roleRef', { APIGroup: group, Kind: kind, Name: name }, 'cannot change roleRef'));
  }
  return errors;
}

function subjectErrors(subject: ApiObject, namespaced: boolean, path: string): FieldError[] {
  const kind = text(subject, 'kind');
  const name = text(subject, 'name');
  const group = text(subject, 'apiGroup');
  const errors = name === '' ? [required(`${path}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...nameErrors(dns1123SubdomainProblems, name, `${path}.name`));
    if (group !== '') errors.push(notSupported(`${path}.apiGroup`, group, ['']));
    if (!namespaced && text(subject, 'namespace') === '') errors.push(required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== rbacGroup) errors.push(notSupported(`${path}.apiGroup`, group, [rbacGroup]));
  } else {
    errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}

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
  return errors;
}

export function ingressErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const errors: FieldError[] = [];
  const rules = objects(spec, 'rules');
  const fallback = at(spec, 'defaultBackend');
  if (rules.length === 0 && fallback === undefined) {
    errors.push(invalid('spec', at(spec, 'rules') ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (isObject(fallback)) errors.push(...backendErrors(fallback, 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    for (const [item, path] of objects(rule, 'http', 'paths').entries()) {
      const place = `spec.rules[${index}].http.paths[${item}]`;
      const type = text(path, 'pathType');
      if (type === '') {
        errors.push(required(`${place}.pathType`, 'pathType must be specified'));
        continue;
      }
      if (!['Exact', 'ImplementationSpecific', 'Prefix'].includes(type)) {
        errors.push(notSupported(`${place}.pathType`, type, ['Exact', 'ImplementationSpecific', 'Prefix']));
      } else if (type !== 'ImplementationSpecific' && !text(path, 'path').startsWith('/')) {
        errors.push(invalid(`${place}.path`, text(path, 'path'), 'must be an absolute path'));
      }
      errors.push(...backendErrors(at(path, 'backend'), `${place}.backend`));
    }
  }
  return errors;
}

function backendErrors(backend: unknown, path: string): FieldError[] {
  const service = at(backend, 'service');
  const resource = at(backend, 'resource');
  if (isObject(service) && isObject(resource))
    return [invalid(path, '', 'cannot set both resource and service backends')];
  if (!isObject(service)) return isObject(resource) ? [] : [required(path, 'resource or service backend is required')];
  const errors = text(service, 'name') === '' ? [required(`${path}.service.name`)] : [];
  const name = text(service, 'port', 'name');
  const number = numberAt(service, 'port', 'number') ?? 0;
  if (name !== '' && number !== 0) return [...errors, invalid(path, '', 'cannot set both port name & port number')];
  if (name === '' && number === 0) return [...errors, required(path, 'port name or number is required')];
  return number === 0 ? errors : [...errors, ...portErrors(number, `${path}.service.port.number`)];
}
