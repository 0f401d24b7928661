// Validates services, endpoints, ingresses and network policies.
import { isIP } from 'node:net';
import type { ApiObject } from '../../resource.ts';
import { duplicate, type FieldError, forbidden, invalid, notSupported, required } from '../../schema/field-error.ts';
import { at, isObject, numberAt, objects, strings, text } from '../read.ts';
import {
  choice,
  immutable,
  labelErrors,
  nameErrors,
  DuplicateCheck,
  portErrors,
  portOrNameErrors,
  selectorErrors,
} from './common.ts';
import { addressErrors, endpointAddressErrors, sliceAddressErrors } from './addresses.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from './names.ts';

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
  const names = new DuplicateCheck();
  return ports.flatMap((port, index) => {
    const itemPath = `spec.ports[${index}]`;
    const name = text(port, 'name');
    const errors: FieldError[] = [];
    if (name !== '')
      errors.push(
        ...nameErrors(dns1123LabelProblems, name, `${itemPath}.name`),
        ...names.check(name, `${itemPath}.name`),
      );
    else if (ports.length > 1) errors.push(required(`${itemPath}.name`));
    errors.push(...portErrors(numberAt(port, 'port') ?? 0, `${itemPath}.port`));
    errors.push(...choice(text(port, 'protocol'), ['SCTP', 'TCP', 'UDP'], `${itemPath}.protocol`));
    errors.push(...portOrNameErrors(port['targetPort'], `${itemPath}.targetPort`));
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

/** The cluster IP is immutable, unless the type is or was ExternalName. */
function addressChange(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const before = strings(old, 'spec', 'clusterIPs')[0] ?? text(old, 'spec', 'clusterIP');
  if (old === undefined || before === '') return [];
  const now = strings(object, 'spec', 'clusterIPs')[0] ?? text(object, 'spec', 'clusterIP');
  if (now === before || text(object, 'spec', 'type') === 'ExternalName' || text(old, 'spec', 'type') === 'ExternalName')
    return [];
  const given = at(object, 'spec', 'clusterIPs') ?? [now];
  return [invalid('spec.clusterIPs[0]', given, 'may not change once set')];
}

export function ingressErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const errors: FieldError[] = [];
  for (const [index, entry] of objects(object, 'status', 'loadBalancer', 'ingress').entries()) {
    const address = text(entry, 'ip');
    if (address !== '') errors.push(...addressErrors(address, `status.loadBalancer.ingress[${index}].ip`));
  }
  const rules = objects(spec, 'rules');
  const fallback = at(spec, 'defaultBackend');
  if (rules.length === 0 && fallback === undefined) {
    errors.push(invalid('spec', at(spec, 'rules') ?? null, 'either `defaultBackend` or `rules` must be specified'));
  }
  if (isObject(fallback)) errors.push(...backendErrors(fallback, 'spec.defaultBackend'));
  for (const [index, rule] of rules.entries()) {
    errors.push(...hostErrors(text(rule, 'host'), `spec.rules[${index}].host`));
    for (const [item, path] of objects(rule, 'http', 'paths').entries()) {
      const itemPath = `spec.rules[${index}].http.paths[${item}]`;
      const type = text(path, 'pathType');
      if (type === '') {
        errors.push(required(`${itemPath}.pathType`, 'pathType must be specified'));
        continue;
      }
      if (!['Exact', 'ImplementationSpecific', 'Prefix'].includes(type)) {
        errors.push(notSupported(`${itemPath}.pathType`, type, ['Exact', 'ImplementationSpecific', 'Prefix']));
      } else if (type !== 'ImplementationSpecific' && !text(path, 'path').startsWith('/')) {
        errors.push(invalid(`${itemPath}.path`, text(path, 'path'), 'must be an absolute path'));
      }
      errors.push(...backendErrors(at(path, 'backend'), `${itemPath}.backend`));
    }
  }
  for (const [index, tls] of objects(spec, 'tls').entries()) {
    for (const [item, host] of strings(tls, 'hosts').entries()) {
      errors.push(...hostErrors(host, `spec.tls[${index}].hosts[${item}]`));
    }
  }
  const className = text(spec, 'ingressClassName');
  if (className !== '') errors.push(...nameErrors(dns1123SubdomainProblems, className, 'spec.ingressClassName'));
  return errors;
}

function hostErrors(host: string, path: string): FieldError[] {
  if (host === '') return [];
  if (isIP(host) !== 0) return [invalid(path, host, 'must be a DNS name, not an IP address')];
  return nameErrors(dns1123SubdomainProblems, host.replace(/^\*\./, ''), path).map((error) => ({
    ...error,
    value: host,
  }));
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

const peerTypes = ['podSelector', 'namespaceSelector', 'ipBlock'];

export function networkPolicyErrors(object: ApiObject): FieldError[] {
  const spec = object['spec'];
  const errors = selectorErrors(at(spec, 'podSelector'), 'spec.podSelector');
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [index, rule] of objects(spec, direction).entries()) {
      const itemPath = `spec.${direction}[${index}]`;
      for (const [item, port] of objects(rule, 'ports').entries()) {
        if (port['port'] !== undefined)
          errors.push(...portOrNameErrors(port['port'], `${itemPath}.ports[${item}].port`));
      }
      for (const [item, peer] of objects(rule, peers).entries()) {
        const given = peerTypes.some((field) => isObject(peer[field]));
        if (!given) errors.push(required(`${itemPath}.${peers}[${item}]`, 'must specify a peer'));
      }
    }
  }
  return errors;
}

export function endpointsErrors(object: ApiObject): FieldError[] {
  return objects(object, 'subsets').flatMap((subset, index) => {
    const itemPath = `subsets[${index}]`;
    const errors: FieldError[] = [];
    for (const [item, address] of objects(subset, 'addresses').entries()) {
      const ip = text(address, 'ip');
      const path = `${itemPath}.addresses[${item}].ip`;
      errors.push(...addressErrors(ip, path), ...endpointAddressErrors(ip, path));
    }
    const ports = objects(subset, 'ports');
    for (const [item, port] of ports.entries()) {
      if (ports.length > 1 && text(port, 'name') === '') errors.push(required(`${itemPath}.ports[${item}].name`));
      errors.push(...portErrors(numberAt(port, 'port') ?? 0, `${itemPath}.ports[${item}].port`));
    }
    return errors;
  });
}

export function endpointSliceErrors(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const type = text(object, 'addressType');
  const errors = choice(type, ['FQDN', 'IPv4', 'IPv6'], 'addressType');
  for (const [index, endpoint] of objects(object, 'endpoints').entries()) {
    const addresses = strings(endpoint, 'addresses');
    const itemPath = `endpoints[${index}].addresses`;
    if (addresses.length === 0) errors.push(required(itemPath, 'must contain at least 1 address'));
    for (const [item, address] of addresses.entries()) {
      errors.push(...sliceAddressErrors(address, type, itemPath, `${itemPath}[${item}]`));
    }
  }
  return old === undefined ? errors : [...errors, ...immutable(type, text(old, 'addressType'), 'addressType')];
}
