// Resolves the hosts in Istio objects to services.
import type { KubeObject } from '../../kube/objects.ts';
import type { DestinationRule, VirtualService } from './objects.ts';

/** The fully qualified name of a service. */
export function fullHost(service: string, namespace: string, clusterDomain: string): string {
  return `${service}.${namespace}.svc.${clusterDomain}`;
}

/** Resolves a host in an object: a bare name is a service in the namespace of the object. */
export function resolveHost(host: string, seenFrom: KubeObject, clusterDomain: string): string {
  return host.includes('.') ? host : fullHost(host, seenFrom.metadata.namespace ?? '', clusterDomain);
}

/** The namespace of the service that a host refers to. */
export function namespaceOfHost(host: string, seenFrom: KubeObject): string {
  return (host.includes('.') ? host.split('.')[1] : seenFrom.metadata.namespace) ?? '';
}

/**
 * Resolves a host in `hosts` of a VirtualService. It is compared with the Host header of callers, so `name.namespace`
 * and `name.namespace.svc` mean a service too; in rules and destinations Istio treats them as external hosts.
 */
export function resolveCalledHost(host: string, seenFrom: KubeObject, clusterDomain: string): string {
  const [name = '', namespace, svc = 'svc', ...rest] = host.split('.');
  if (namespace === undefined || svc !== 'svc' || rest.length > 0) return resolveHost(host, seenFrom, clusterDomain);
  return fullHost(name, namespace, clusterDomain);
}

/** The hosts of a VirtualService, as lookup keys. */
export function virtualServiceHosts(service: VirtualService, clusterDomain: string): readonly string[] {
  const hosts = (service.spec?.hosts ?? []).map((host) => lookupName(host, service, clusterDomain));
  return [...new Set(hosts)];
}

/** The hosts of the destinations and mirrors of a VirtualService, as lookup keys. */
export function destinationHosts(service: VirtualService, clusterDomain: string): readonly string[] {
  const destinations = (service.spec?.http ?? []).flatMap(({ route = [], mirror, mirrors = [] }) => [
    mirror,
    ...[...route, ...mirrors].map(({ destination }) => destination),
  ]);
  const hosts = destinations.flatMap((each) => (each?.host ? [lookupName(each.host, service, clusterDomain)] : []));
  return [...new Set(hosts)];
}

/** The VirtualServices that one delegates to, as `NAMESPACE/NAME`. */
export function delegatesOf({ metadata, spec }: VirtualService): readonly string[] {
  return (spec?.http ?? []).flatMap(({ delegate }) =>
    delegate?.name === undefined ? [] : [`${delegate.namespace || metadata.namespace}/${delegate.name}`],
  );
}

/** The host of a DestinationRule, as a lookup key. */
export function ruleHost(rule: DestinationRule, clusterDomain: string): string {
  return lookupName(rule.spec?.host ?? '', rule, clusterDomain);
}

function lookupName(host: string, object: KubeObject, clusterDomain: string): string {
  return host === '*' ? host : resolveHost(host, object, clusterDomain).toLowerCase();
}
