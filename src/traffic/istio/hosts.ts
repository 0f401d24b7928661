// Which services the hosts in Istio's objects mean.
import type { KubeObject } from '../../kube/objects.ts';
import type { DestinationRule, VirtualService } from './objects.ts';

/** A service by the name that is the same seen from everywhere. */
export function fullHost(service: string, namespace: string, clusterDomain: string): string {
  return `${service}.${namespace}.svc.${clusterDomain}`;
}

/** What a host in an object means: a bare name is a service of the object's own namespace. */
export function resolveHost(host: string, seenFrom: KubeObject, clusterDomain: string): string {
  return host.includes('.') ? host : fullHost(host, seenFrom.metadata.namespace ?? '', clusterDomain);
}

/** The namespace of the service that a host means. */
export function namespaceOfHost(host: string, seenFrom: KubeObject): string {
  return (host.includes('.') ? host.split('.')[1] : seenFrom.metadata.namespace) ?? '';
}

/**
 * What a host means that a VirtualService is for. It is compared with what callers ask for, so `name.namespace` and
 * `name.namespace.svc` are a service too; in rules and destinations Istio takes them for hosts outside the cluster.
 */
export function resolveCalledHost(host: string, seenFrom: KubeObject, clusterDomain: string): string {
  const [name = '', namespace, svc = 'svc', ...rest] = host.split('.');
  if (namespace === undefined || svc !== 'svc' || rest.length > 0) return resolveHost(host, seenFrom, clusterDomain);
  return fullHost(name, namespace, clusterDomain);
}

/** The hosts of a VirtualService as they are looked up. */
export function virtualServiceHosts(service: VirtualService, clusterDomain: string): readonly string[] {
  const hosts = (service.spec?.hosts ?? []).map((host) => lookupName(host, service, clusterDomain));
  return [...new Set(hosts)];
}

/** The hosts that the routes and mirrors of a VirtualService lead to, as they are looked up. */
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

/** The host of a DestinationRule as it is looked up. */
export function ruleHost(rule: DestinationRule, clusterDomain: string): string {
  return lookupName(rule.spec?.host ?? '', rule, clusterDomain);
}

function lookupName(host: string, object: KubeObject, clusterDomain: string): string {
  return host === '*' ? host : resolveHost(host, object, clusterDomain).toLowerCase();
}
