// Whether an environment can be made at all, which objects with its version belong to it, and which of several
// environments comes first.
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { RouteOwner } from '../../traffic/istio/inserted-routes.ts';
import { findSameVersion } from '../lookup/lookup.ts';
import { messages } from '../status/messages.ts';
import { uniqueVersion } from '../names.ts';
import { ownerOf, shareNamespace } from './ownership.ts';
import { pathOf, placedItems } from '../admission/placed-items.ts';
import type { Settings } from '../settings.ts';

/** Why an environment as a whole is refused. */
export interface IdentityRefusal {
  readonly reason: 'InvalidName' | 'NameCollision' | 'OutsideNamespace';
  readonly message: string;
}

/** Looks up the identity of an environment. */
export function identify(
  view: Facts,
  env: DynamicEnv,
  settings: Pick<Settings, 'namespaces'>,
): { readonly owner: RouteOwner; readonly refusal: IdentityRefusal | undefined } {
  const sameVersion = findSameVersion(view, env);
  return { owner: ownerOf(env, sameVersion), refusal: refused(env, sameVersion) ?? outsideNamespace(env, settings) };
}

/** Why an environment can't be made at all: its names are invalid, or those of another one. */
function refused(env: DynamicEnv, sameVersion: readonly DynamicEnv[]): IdentityRefusal | undefined {
  const version = uniqueVersion(env.metadata);
  if (!/^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$/.test(version)) {
    return { reason: 'InvalidName', message: messages.invalidName(version) };
  }
  // Environments of one version that share no namespace do not conflict.
  const other = sameVersion.find((each) => isOlder(each, env) && shareNamespace(each, env));
  if (other === undefined) return undefined;
  return {
    reason: 'NameCollision',
    message: messages.collision(keyOf(other.metadata), keyOf(env.metadata), version),
  };
}

/**
 * Refuses an environment that uses another namespace, if only some namespaces are managed: without the webhook, nothing
 * checks whether its author may deploy there.
 */
function outsideNamespace(env: DynamicEnv, { namespaces }: Pick<Settings, 'namespaces'>): IdentityRefusal | undefined {
  const own = env.metadata.namespace ?? '';
  const found = namespaces && placedItems(env).find(({ item }) => item.namespace !== own);
  if (found === undefined) return undefined;
  const { item, at } = found;
  return { reason: 'OutsideNamespace', message: messages.outsideNamespace(pathOf(at), item, own) };
}

/**
 * Whether one environment is older than another. Times are whole seconds: in the same second, the one that already has
 * objects is older, then the one whose key comes first.
 */
function isOlder(a: DynamicEnv, b: DynamicEnv): boolean {
  const order = ({ metadata, status }: DynamicEnv): string => {
    const entries = { ...status?.subsetsStatus, ...status?.consumersStatus };
    return `${metadata.creationTimestamp ?? ''} ${Object.keys(entries).length > 0 ? 0 : 1} ${keyOf(metadata)}`;
  };
  return order(a) < order(b);
}

/** What decides which of several environments gets the requests that they all ask for. */
export interface Dated {
  /** `namespace/name` */
  readonly environment: string;
  /** When it was created, in whole seconds; empty in a manifest, which sorts before all others. */
  readonly createdAt: string;
}

/**
 * Sorts by creation time, and in the same second by namespace and name. Routes are written and conflicts are reported
 * in this order.
 */
export function byPrecedence(a: Dated, b: Dated): number {
  const [one, other] = [a, b].map(({ createdAt, environment }) => `${createdAt} ${environment}`);
  return one! < other! ? -1 : 1;
}
