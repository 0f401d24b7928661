// Kubernetes objects as plain JSON, and the descriptor of a kind. Everything that touches the API uses these.

/** Any JSON value; integers beyond 2^53 are bigints (see json.ts). */
export type Json =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** A JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update';
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: Json;
  readonly subresource?: string;
}

export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/** The shape that every stored object has. Kinds extend it with `spec`, `status` and so on. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object of unknown kind. */
export interface AnyObject extends KubeObject {
  readonly [field: string]: unknown;
}

/** Names one kind of object and where the API serves it. `T` is the object's type; it exists at compile time only. */
export interface Kind<T extends KubeObject = AnyObject> {
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly __type?: T;
}

/** A kind whose object type does not matter. */
export type AnyKind = Kind<KubeObject>;

/** Declares a kind: `defineKind<Deployment>('apps/v1', 'Deployment', 'deployments')`. */
export function defineKind<T extends KubeObject = AnyObject>(
  apiVersion: string,
  kind: string,
  plural: string,
  options: { namespaced?: boolean } = {},
): Kind<T> {
  const slash = apiVersion.indexOf('/');
  return Object.freeze({
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    plural,
    namespaced: options.namespaced ?? true,
  });
}

/** `apps/v1` or, in the core group, `v1`. */
export function apiVersionOf(kind: AnyKind): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** The name of an object, and its namespace if its kind is namespaced. */
export interface Ref {
  readonly name: string;
  readonly namespace?: string;
}

/** The key of an object inside its table: `namespace/name`, or `name` for a cluster-scoped one. */
export function keyOf(ref: Ref): string {
  return ref.namespace === undefined || ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** Identifies an object among all kinds, also among kinds of the same name in other groups. */
export function identityOf(kind: AnyKind, ref: Ref): string {
  return `${kind.plural}.${kind.group} ${keyOf(ref)}`;
}

/** The reverse of `keyOf`. */
export function refOf(key: string): Ref {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
