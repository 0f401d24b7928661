// The routes that environments insert into VirtualServices of other owners: how they are named, and which environment
// owns them. The names are part of the contract.
import type { Ref } from '../../kube/objects.ts';
import { namespaceOfHost } from './hosts.ts';
import type { HttpRoute, VirtualService } from './objects.ts';

/** The prefix of all their names. */
export const ROUTE_PREFIX = 'dynamic-environment-';
/** A hyphen and ten hex digits. */
const DIGEST_LENGTH = 11;

/** An environment as the owner of routes. */
export interface RouteOwner {
  readonly version: string;
  /** Namespaces in which workloads with this version belong to other environments. */
  readonly taken: readonly string[];
}

/** The prefix of the names of all routes of a version, or of one of its workloads. */
export function routePrefix(version: string, workload = ''): string {
  return `${ROUTE_PREFIX}${version}-${workload}`;
}

/** The name of an inserted route. */
export function routeName(version: string, workload: string, digest: string): string {
  return `${routePrefix(version, workload)}-${digest}`;
}

/** The name of an inserted route without its digest; undefined for other routes. Called often, so it uses no regex. */
export function insertedName(name: string | undefined): string | undefined {
  if (!name?.startsWith(ROUTE_PREFIX)) return undefined;
  const end = name.length - DIGEST_LENGTH;
  return end > ROUTE_PREFIX.length && isDigest(name, end) ? name.slice(0, end) : undefined;
}

function isDigest(name: string, from: number): boolean {
  if (name[from] !== '-') return false;
  for (let i = from + 1; i < name.length; i++) {
    const letter = name[i]!;
    if (!((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'))) return false;
  }
  return true;
}

/** Whether some environment inserted this route. */
export function isInserted(route: HttpRoute): boolean {
  return insertedName(route.name) !== undefined;
}

/**
 * Whether this environment inserted the route of a VirtualService. The name alone can be ambiguous (version `a` with
 * subset `b-c`, version `a-b` with subset `c`), so the destinations are compared too.
 */
export function isRouteOf({ version, taken }: RouteOwner, service: VirtualService, route: HttpRoute): boolean {
  const name = insertedName(route.name);
  if (!name?.startsWith(routePrefix(version))) return false;
  return (route.route ?? []).every(({ destination }) => {
    const subset = destination?.subset ?? version;
    const isAnothers = subset !== version && name.startsWith(routePrefix(subset));
    return !isAnothers && !taken.includes(namespaceOfHost(destination?.host ?? '', service));
  });
}

/** Whether this environment inserted the route for this workload. */
export function isRouteOfSubset(owner: RouteOwner, workload: Ref, service: VirtualService, route: HttpRoute): boolean {
  return (
    isRouteOf(owner, service, route) &&
    insertedName(route.name) === routePrefix(owner.version, workload.name) &&
    (route.route ?? []).every(
      ({ destination }) => namespaceOfHost(destination?.host ?? '', service) === (workload.namespace ?? ''),
    )
  );
}
