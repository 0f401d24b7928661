// Names that an environment gives, and marks by which it knows its own again. All of them are contract.
import type { DynamicEnv, Subset } from '../api/dynamicenv.ts';
import type { KubeObject, Ref } from '../kube/objects.ts';
import { keyOf } from '../kube/objects.ts';
import type { HttpRoute } from './objects.ts';

/** Lists the environments that an object belongs to or was edited for. */
export const WATCH_ANNOTATION = 'riskified.com/dynamic-environment';
/** Name of the controller, and with it of the field manager of all that it writes. */
export const CONTROLLER = 'environments';
export const MARKER_LABEL = 'dynamic-env';
export const RESPONSE_HEADER = 'x-dynamic-env';
export const FINALIZERS = ['DeleteDeployments', 'DeleteDestinationRules', 'CleanupVirtualServices'] as const;
const ROUTE_PREFIX = 'dynamic-environment-';
const DIGEST = /-[0-9a-f]{10}$/;

/** The version of all that belongs to an environment: value of the version label and name of the Istio subset. */
export function uniqueVersion(env: Ref): string {
  return `${(env.namespace ?? '').slice(0, 20)}-${env.name.slice(0, 40)}`;
}

/** The name of a clone. */
export function cloneName(env: Ref, subset: Subset): string {
  return `${subset.name}-${uniqueVersion(env)}`;
}

/** The name of the DestinationRule for one service of a subset. */
export function ruleName(env: Ref, subset: Subset, service: string): string {
  return `${cloneName(env, subset)}-${service}`;
}

/** How a subset or consumer is called in the status. */
export function statusKey(subset: Subset): string {
  return `${subset.namespace}/${subset.name}`;
}

/** The name of an inserted route. */
export function routeName(env: Ref, subset: Subset, digest: string): string {
  return `${ROUTE_PREFIX}${uniqueVersion(env)}-${subset.name}-${digest}`;
}

/** Whether some environment inserted this route. */
export function isInserted(route: HttpRoute): boolean {
  return route.name !== undefined && route.name.startsWith(ROUTE_PREFIX) && DIGEST.test(route.name);
}

/**
 * Whether this environment inserted the route. The name alone can be ambiguous (`a` with subset `b-c`, `a-b` with
 * subset `c`), so the destinations must be the environment's own too.
 */
export function isRouteOf(env: Ref, route: HttpRoute): boolean {
  const version = uniqueVersion(env);
  if (!isInserted(route) || !route.name!.startsWith(`${ROUTE_PREFIX}${version}-`)) return false;
  return (route.route ?? []).every(({ destination }) => destination?.subset === version);
}

/** Whether this environment inserted the route for this subset. */
export function isRouteOfSubset(env: Ref, subset: Subset, route: HttpRoute): boolean {
  const prefix = `${ROUTE_PREFIX}${uniqueVersion(env)}-${subset.name}`;
  return isRouteOf(env, route) && route.name!.replace(DIGEST, '') === prefix;
}

/** The environments that the annotation of an object names; what is not `namespace/name` is skipped. */
export function environmentsOf(object: KubeObject): string[] {
  return (object.metadata.annotations?.[WATCH_ANNOTATION] ?? '')
    .split(',')
    .filter((entry) => /^[^/]+\/[^/]+$/.test(entry));
}

/** Whether an object was made for, or edited for, this environment. */
export function belongsTo(env: DynamicEnv, object: KubeObject): boolean {
  return environmentsOf(object).includes(keyOf(env.metadata));
}

/** The annotation of an object with this environment added; the order is that of arrival. */
export function withEnvironment(env: DynamicEnv, object: KubeObject | undefined): string {
  const before = object?.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  const key = keyOf(env.metadata);
  if (before === '') return key;
  return before.split(',').includes(key) ? before : `${before},${key}`;
}

/** The annotation without this environment. An empty one stays: others look for it. */
export function withoutEnvironment(env: DynamicEnv, object: KubeObject): string {
  const before = object.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  const key = keyOf(env.metadata);
  return before
    .split(',')
    .filter((entry) => entry !== key)
    .join(',');
}
