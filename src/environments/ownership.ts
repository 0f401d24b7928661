// Marks by which an environment knows its own again: the annotation on objects, the names and destinations of routes.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { KubeObject, Ref } from '../kube/objects.ts';
import { keyOf, refOf } from '../kube/objects.ts';
import { namespaceOfHost } from '../traffic/istio/hosts.ts';
import { messages } from './messages.ts';
import { CONTROLLER, insertedName, itemsOf, routePrefix, uniqueVersion } from './names.ts';
import type { HttpRoute, VirtualService } from '../traffic/istio/objects.ts';

/** Lists the environments that an object belongs to or was edited for. */
export const WATCH_ANNOTATION = 'riskified.com/dynamic-environment';
const MANAGER = `offshoot-${CONTROLLER}`;

/** The environments that the annotation of an object names; what is not `namespace/name` is skipped. */
export function environmentsOf(object: KubeObject): string[] {
  return entriesOf(object).filter((entry) => /^[^/]+\/[^/]+$/.test(entry));
}

function entriesOf(object: KubeObject | undefined): string[] {
  const value = object?.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  return value === '' ? [] : value.split(',').map((entry) => entry.trim());
}

/** Whether we made an object whose annotation somebody took away since. */
export function isUnmarked(object: KubeObject): boolean {
  return isApplied(object) && environmentsOf(object).length === 0;
}

/** Whether the server remembers that we applied an object. */
export function isApplied({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager, operation }) => manager === MANAGER && operation === 'Apply');
}

/** Whether the server remembers that we wrote to an object in whatever way. */
export function isWritten({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager }) => manager === MANAGER);
}

/**
 * Whether an object was made for this environment. Both marks count, for people put the annotation on objects of
 * their own too, and `name` alone may be that of another environment.
 */
function isMadeFor(env: DynamicEnv, object: KubeObject, isNamed: boolean): boolean {
  return isNamed && (environmentsOf(object).includes(keyOf(env.metadata)) || isUnmarked(object));
}

export function isCloneOf(env: DynamicEnv, object: KubeObject): boolean {
  return isMadeFor(env, object, object.metadata.name.endsWith(`-${uniqueVersion(env.metadata)}`));
}

/** Why a Deployment can't be the base of a clone: it is one itself. Undefined for one that people made. */
export function baseProblem(object: KubeObject): string | undefined {
  const { metadata } = object;
  const maker = environmentsOf(object).find((key) => metadata.name.endsWith(`-${uniqueVersion(refOf(key))}`));
  return maker && messages.baseIsClone(keyOf(metadata), maker);
}

export function isRuleOf(env: DynamicEnv, object: KubeObject): boolean {
  return isMadeFor(env, object, object.metadata.name.includes(`-${uniqueVersion(env.metadata)}-`));
}

/** The annotation of an object with this environment added; the order is that of arrival. */
export function withEnvironment(env: DynamicEnv, object: KubeObject | undefined): string {
  const key = keyOf(env.metadata);
  const before = object?.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  if (entriesOf(object).includes(key)) return before;
  return before === '' ? key : `${before},${key}`;
}

/** The annotation without this environment. An empty one stays: others look for it. */
export function withoutEnvironment(env: { readonly metadata: Ref }, object: KubeObject): string {
  const key = keyOf(env.metadata);
  const entries = entriesOf(object);
  const before = object.metadata.annotations?.[WATCH_ANNOTATION] ?? '';
  return entries.includes(key) ? entries.filter((entry) => entry !== key).join(',') : before;
}

/** The namespaces in which an environment has subsets or consumers, or had some and still tells of them. */
function namespacesOf(env: DynamicEnv): ReadonlySet<string> {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const wanted = [...subsets, ...consumers].map(({ namespace }) => namespace);
  const known = [...Object.keys(status?.subsetsStatus ?? {}), ...Object.keys(status?.consumersStatus ?? {})];
  return new Set([...wanted, ...known.map((key) => refOf(key).namespace ?? '')]);
}

/** Whether two environments have something to do in the same namespace, where names that are the same would collide. */
export function shareNamespace(a: DynamicEnv, b: DynamicEnv): boolean {
  return !namespacesOf(a).isDisjointFrom(namespacesOf(b));
}

/** An environment as the owner of routes. */
export interface Owner {
  readonly version: string;
  /** Namespaces whose workloads are those of other environments with the same version. */
  readonly taken: ReadonlySet<string>;
}

/** Tells an environment from those that have the same version. */
export function ownerOf(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): Owner {
  const own = namespacesOf(env);
  const others = sameVersion.flatMap((other) => [...namespacesOf(other)]);
  return { version: uniqueVersion(env.metadata), taken: new Set(others.filter((namespace) => !own.has(namespace))) };
}

/** Whether some environment inserted this route. */
export function isInserted(route: HttpRoute): boolean {
  return insertedName(route.name) !== undefined;
}

/**
 * Whether this environment inserted the route of a VirtualService. The name alone can be ambiguous (version `a` with
 * subset `b-c`, version `a-b` with subset `c`): then the destinations tell.
 */
export function isRouteOf({ version, taken }: Owner, service: VirtualService, route: HttpRoute): boolean {
  const name = insertedName(route.name);
  if (!name?.startsWith(routePrefix(version))) return false;
  return (route.route ?? []).every(({ destination }) => {
    const subset = destination?.subset ?? version;
    const isAnothers = subset !== version && name.startsWith(routePrefix(subset));
    return !isAnothers && !taken.has(namespaceOfHost(destination?.host ?? '', service));
  });
}

/** Whether this environment inserted the route for this subset. */
export function isRouteOfSubset(owner: Owner, subset: Ref, service: VirtualService, route: HttpRoute): boolean {
  return (
    isRouteOf(owner, service, route) &&
    insertedName(route.name) === routePrefix(owner.version, subset.name) &&
    (route.route ?? []).every(
      ({ destination }) => namespaceOfHost(destination?.host ?? '', service) === (subset.namespace ?? ''),
    )
  );
}
