// Whether an environment can be made at all, and what is its own among all that has the same version.
import type { DynamicEnv } from '../api/dynamicenv.ts';
import type { Facts } from '../controller/index.ts';
import { keyOf } from '../kube/index.ts';
import type { RouteOwner } from '../traffic/istio/inserted-routes.ts';
import { findSameVersion } from './lookup.ts';
import { messages } from './messages.ts';
import { uniqueVersion } from './names.ts';
import { ownerOf, shareNamespace } from './ownership.ts';
import { pathOf, placedItems } from './placed-items.ts';
import type { Settings } from './settings.ts';

/** Why an environment as a whole is refused. */
export interface IdentityRefusal {
  readonly reason: 'InvalidName' | 'NameCollision' | 'OutsideNamespace';
  readonly message: string;
}

/** Looks up who an environment is. */
export function identify(
  view: Facts,
  env: DynamicEnv,
  settings: Pick<Settings, 'namespaces'>,
): { readonly owner: RouteOwner; readonly refusal: IdentityRefusal | undefined } {
  const sameVersion = findSameVersion(view, env);
  return { owner: ownerOf(env, sameVersion), refusal: refused(env, sameVersion) ?? reachingOut(env, settings) };
}

/** Why an environment can't be made at all: its names would be those of another one, or no valid names. */
function refused(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): IdentityRefusal | undefined {
  const version = uniqueVersion(env.metadata);
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    return { reason: 'InvalidName', message: messages.invalidName(version) };
  }
  // Environments of one version that have nothing to do in the same namespace can't take anything from each other.
  const other = sameVersion.find((each) => isOlder(each, env) && shareNamespace(each, env));
  if (other === undefined) return undefined;
  return {
    reason: 'NameCollision',
    message: messages.collision(keyOf(other.metadata), keyOf(env.metadata), version),
  };
}

/**
 * Whether an environment that may not leave its namespace does. Where only some namespaces are managed, there is no
 * webhook that asks whether its writer may deploy elsewhere.
 */
function reachingOut(env: DynamicEnv, { namespaces }: Pick<Settings, 'namespaces'>): IdentityRefusal | undefined {
  const own = env.metadata.namespace ?? '';
  const found = namespaces && placedItems(env).find(({ item }) => item.namespace !== own);
  if (found === undefined) return undefined;
  const { item, at } = found;
  return { reason: 'OutsideNamespace', message: messages.outsideNamespace(pathOf(at), item, own) };
}

/**
 * Which of two environments was there first. Times are whole seconds: of two that came in the same one, it is the one
 * that has something already, then the one whose key comes first.
 */
function isOlder(a: DynamicEnv, b: DynamicEnv): boolean {
  const order = ({ metadata, status }: DynamicEnv): string => {
    const entries = { ...status?.subsetsStatus, ...status?.consumersStatus };
    return `${metadata.creationTimestamp ?? ''} ${Object.keys(entries).length > 0 ? 0 : 1} ${keyOf(metadata)}`;
  };
  return order(a) < order(b);
}
