// Which objects belong to an environment, by their annotation and their names.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { keyOf, refOf } from '../../kube/objects.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import { messages } from '../status/messages.ts';
import { FIELD_MANAGER, itemsOf, uniqueVersion } from '../names.ts';

/** Lists the environments that an object belongs to or was edited for. */
export const WATCH_ANNOTATION = 'riskified.com/dynamic-environment';

/** The environments that the annotation of an object names; entries that are not `namespace/name` are skipped. */
export function environmentsOf(object: KubeObject): string[] {
  return entriesIn(object.metadata.annotations?.[WATCH_ANNOTATION] ?? '').filter((entry) =>
    /^[^/]+\/[^/]+$/.test(entry),
  );
}

function entriesIn(list: string): string[] {
  return list === '' ? [] : list.split(',').map((entry) => entry.trim());
}

/** Whether we made an object whose annotation was removed since. */
export function isUnmarked(object: KubeObject): boolean {
  return isApplied(object) && environmentsOf(object).length === 0;
}

/** Whether we applied an object, by its managedFields. */
export function isApplied({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager, operation }) => manager === FIELD_MANAGER && operation === 'Apply');
}

/** Whether we wrote to an object in any way, by its managedFields. */
export function isWritten({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.some(({ manager }) => manager === FIELD_MANAGER);
}

/**
 * Whether an object was made for this environment. It must have both the annotation and the name: users put the
 * annotation on their own objects too, and another environment may lead to the same name.
 */
function isMadeFor(env: DynamicEnv, object: KubeObject, isNamed: boolean): boolean {
  return isNamed && (environmentsOf(object).includes(keyOf(env.metadata)) || isUnmarked(object));
}

export function isCloneOf(env: DynamicEnv, object: KubeObject): boolean {
  return isMadeFor(env, object, object.metadata.name.endsWith(`-${uniqueVersion(env.metadata)}`));
}

/** The environment that a Deployment is a clone of, as `NAMESPACE/NAME`; undefined if it is not a clone. */
export function environmentOfClone(object: KubeObject): string | undefined {
  return environmentsOf(object).find((key) => object.metadata.name.endsWith(`-${uniqueVersion(refOf(key))}`));
}

/** Why a Deployment can't be the base of a clone: it is a clone itself. Undefined if it is not. */
export function baseProblem(object: KubeObject): string | undefined {
  const maker = environmentOfClone(object);
  return maker && messages.baseIsClone(keyOf(object.metadata), maker);
}

export function isRuleOf(env: DynamicEnv, object: KubeObject): boolean {
  return isMadeFor(env, object, object.metadata.name.includes(`-${uniqueVersion(env.metadata)}-`));
}

/** The value of the annotation with this environment appended. */
export function listEnvironment(list: string, environment: string): string {
  if (entriesIn(list).includes(environment)) return list;
  return list === '' ? environment : `${list},${environment}`;
}

/** The value of the annotation without this environment. An empty annotation is kept: other tools look for it. */
export function unlistEnvironment(list: string, environment: string): string {
  const entries = entriesIn(list);
  return entries.includes(environment) ? entries.filter((entry) => entry !== environment).join(',') : list;
}

/** The namespaces of the subsets and consumers in the spec and the status of an environment. */
function namespacesOf(env: DynamicEnv): ReadonlySet<string> {
  const { subsets, consumers } = itemsOf(env);
  const { status } = env;
  const named = [...subsets, ...consumers].map(({ namespace }) => namespace);
  const known = [...Object.keys(status?.subsetsStatus ?? {}), ...Object.keys(status?.consumersStatus ?? {})];
  return new Set([...named, ...known.map((key) => refOf(key).namespace ?? '')]);
}

/** Whether two environments share a namespace, where equal names would collide. */
export function shareNamespace(a: DynamicEnv, b: DynamicEnv): boolean {
  return !namespacesOf(a).isDisjointFrom(namespacesOf(b));
}

/** Identifies the routes of an environment among those of others with the same version. */
export function ownerOf(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): RouteOwner {
  const own = namespacesOf(env);
  const others = sameVersion.flatMap((other) => [...namespacesOf(other)]);
  return {
    version: uniqueVersion(env.metadata),
    taken: [...new Set(others.filter((namespace) => !own.has(namespace)))],
  };
}
