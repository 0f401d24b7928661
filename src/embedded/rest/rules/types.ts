// Behaviour of a kind on writes and deletions, beyond its schema.
import type { AnyObject, JsonObject } from '../../../kube/objects.ts';
import type { Cluster, Target, UserInfo } from '../context.ts';
import type { FieldError } from '../../schema/field-error.ts';

export interface KindRules {
  /** An update must set `metadata.resourceVersion`. */
  readonly needsVersion?: boolean;
  /** A PUT of a missing object creates it. */
  readonly createsOnUpdate?: boolean;
  /** Fields that never change after creation, and so have no field manager. */
  readonly unowned?: readonly string[];
  /** Fills in a new object. */
  readonly prepareCreate?: (object: AnyObject, cluster: Cluster, target: Target, user: UserInfo) => AnyObject;
  /** Fills in a changed object, and resets fields that may not change. */
  readonly prepareUpdate?: (next: AnyObject, old: AnyObject, cluster: Cluster, target: Target) => AnyObject;
  /** Objects allocate unique values, such as addresses: `problems` is checked again right before the write. */
  readonly exclusive?: boolean;
  /** Validation errors that the schema cannot express. */
  readonly problems?: (next: AnyObject, old: AnyObject | undefined, cluster: Cluster) => FieldError[];
  /** The grace period of a deletion that requested `requested` seconds. */
  readonly graceSeconds?: (object: AnyObject, requested: number | undefined) => number;
  /** A finalizer that every deletion adds, for cleanup by the server itself. */
  readonly deletionFinalizer?: string;
  /** True for objects that cannot be deleted. */
  readonly isPermanent?: (object: AnyObject) => boolean;
  /** A deletion without propagation policy orphans the dependents. */
  readonly orphansByDefault?: boolean;
  /** Changes an object when its deletion starts. */
  readonly prepareDelete?: (object: AnyObject) => AnyObject;
  /** True while something other than `metadata.finalizers` blocks the deletion. */
  readonly isHeld?: (object: AnyObject) => boolean;
  /** DELETE returns the object instead of a Status. */
  readonly returnsDeleted?: boolean;
}

/** A field that is an object; `{}` when it is missing. */
export function part(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** A field that is a list of objects; `[]` when it is missing. */
export function items(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}
