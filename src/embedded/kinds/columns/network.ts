// The columns of services, endpoints, ingresses and network policies.
import type { ApiObject, PrinterColumn } from '../../resource.ts';
import { at, count, isObject, objects, scalarText, stringMap, strings, text } from '../read.ts';
import { ageColumn, column, formatLabels, formatSelector, listWithMore, nameColumn, wide } from './text.ts';

function loadBalancerAddresses(object: ApiObject): string {
  const addresses = objects(object, 'status', 'loadBalancer', 'ingress').map(
    (item) => text(item, 'ip') || text(item, 'hostname'),
  );
  return [...new Set(addresses.filter((address) => address !== ''))].sort().join(',');
}

function externalAddresses(service: ApiObject): string {
  const addresses = strings(service, 'spec', 'externalIPs');
  switch (text(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return addresses.join(',') || '<none>';
    case 'LoadBalancer':
      return [loadBalancerAddresses(service), ...addresses].filter((item) => item !== '').join(',') || '<pending>';
    case 'ExternalName':
      return text(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
}

function servicePorts(service: ApiObject): string {
  const ports = objects(service, 'spec', 'ports').map((port) => {
    const node = count(port, 'nodePort');
    return `${count(port, 'port')}${node > 0 ? `:${node}` : ''}/${text(port, 'protocol')}`;
  });
  return ports.join(',') || '<none>';
}

export const serviceColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Type', 'string', (service) => text(service, 'spec', 'type')),
  column('Cluster-IP', 'string', (service) => strings(service, 'spec', 'clusterIPs')[0] ?? '<none>'),
  column('External-IP', 'string', externalAddresses),
  column('Port(s)', 'string', servicePorts),
  ageColumn,
  wide('Selector', (service) => formatLabels(stringMap(service, 'spec', 'selector'))),
];

function hostPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function endpointsText(endpoints: ApiObject): string {
  const list = objects(endpoints, 'subsets').flatMap((subset) => {
    const addresses = objects(subset, 'addresses').map((address) => text(address, 'ip'));
    const ports = objects(subset, 'ports');
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((address) => hostPort(address, count(port, 'port'))));
  });
  return objects(endpoints, 'subsets').length === 0 ? '<none>' : listWithMore(list, 3);
}

export const endpointsColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Endpoints', 'string', endpointsText),
  ageColumn,
];

export const endpointSliceColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('AddressType', 'string', (slice) => text(slice, 'addressType')),
  column('Ports', 'string', (slice) => {
    const ports = objects(slice, 'ports').map((port) => scalarText(port, 'port') ?? (text(port, 'name') || '*'));
    return listWithMore(ports, 3) || '<unset>';
  }),
  column('Endpoints', 'string', (slice) => {
    const addresses = objects(slice, 'endpoints').flatMap((endpoint) => strings(endpoint, 'addresses'));
    return listWithMore(addresses, 3) || '<unset>';
  }),
  ageColumn,
];

function ingressHosts(ingress: ApiObject): string {
  const rules = objects(ingress, 'spec', 'rules');
  const hosts = rules.map((rule) => text(rule, 'host')).filter((host) => host !== '');
  if (hosts.length === 0) return '*';
  // As in Kubernetes, the number counts all rules that are left out, with or without a host.
  return hosts.length > 3 ? `${hosts.slice(0, 3).join(',')} + ${rules.length - 3} more...` : hosts.join(',');
}

export const ingressColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Class', 'string', (ingress) => text(ingress, 'spec', 'ingressClassName') || '<none>'),
  column('Hosts', 'string', ingressHosts),
  column('Address', 'string', loadBalancerAddresses),
  column('Ports', 'string', (ingress) => (objects(ingress, 'spec', 'tls').length > 0 ? '80, 443' : '80')),
  ageColumn,
];

/** The name, followed by "(default)" when the annotation marks the default class. */
export function nameOrDefault(annotation: string): PrinterColumn {
  return column(
    'Name',
    'string',
    (object) => {
      const name = text(object, 'metadata', 'name');
      return stringMap(object, 'metadata', 'annotations')[annotation] === 'true' ? `${name} (default)` : name;
    },
    { format: 'name' },
  );
}

export const ingressClassColumns: readonly PrinterColumn[] = [
  nameOrDefault('ingressclass.kubernetes.io/is-default-class'),
  column('Controller', 'string', (object) => text(object, 'spec', 'controller')),
  column('Parameters', 'string', (object) => {
    const parameters = at(object, 'spec', 'parameters');
    if (!isObject(parameters)) return '<none>';
    const group = text(parameters, 'apiGroup');
    return `${text(parameters, 'kind')}${group === '' ? '' : `.${group}`}/${text(parameters, 'name')}`;
  }),
  ageColumn,
];

export const networkPolicyColumns: readonly PrinterColumn[] = [
  nameColumn,
  column('Pod-Selector', 'string', (object) => formatSelector(at(object, 'spec', 'podSelector'))),
  ageColumn,
];
