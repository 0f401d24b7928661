// What a kind does beyond its schema when its objects are written or removed.
import type { AnyObject, JsonObject } from '../../../kube/objects.ts';
import type { Cluster, Target, UserInfo } from '../context.ts';
import type { FieldError } from '../../schema/field-error.ts';

export interface KindRules {
  /** An update must name the version that it starts from. */
  readonly needsVersion?: boolean;
  /** An update of an object that is not there creates it. */
  readonly createsOnUpdate?: boolean;
  /** Fields that stay as they were created, and so have no owner. */
  readonly unowned?: readonly string[];
  /** Completes a new object. */
  readonly prepareCreate?: (object: AnyObject, cluster: Cluster, target: Target, user: UserInfo) => AnyObject;
  /** Completes a changed object, or takes back what may not change. */
  readonly prepareUpdate?: (next: AnyObject, old: AnyObject, cluster: Cluster, target: Target) => AnyObject;
  /** Objects take what only one can have: `problems` is asked again at the moment of writing. */
  readonly exclusive?: boolean;
  /** What is wrong with an object that its schema cannot say. */
  readonly problems?: (next: AnyObject, old: AnyObject | undefined, cluster: Cluster) => FieldError[];
  /** How long an object stays after a deletion that asked for `requested` seconds. */
  readonly graceSeconds?: (object: AnyObject, requested: number | undefined) => number;
  /** A finalizer that every deletion adds, for work that the server itself has to do first. */
  readonly deletionFinalizer?: string;
  /** True for objects that the cluster cannot be without. */
  readonly stays?: (object: AnyObject) => boolean;
  /** Dependents stay when a deletion does not say what becomes of them. */
  readonly orphansByDefault?: boolean;
  /** Changes an object that starts to be deleted. */
  readonly prepareDelete?: (object: AnyObject) => AnyObject;
  /** True while something other than finalizers keeps a deleted object. */
  readonly holds?: (object: AnyObject) => boolean;
  /** Deletion answers with the object itself, not with a Status. */
  readonly returnsDeleted?: boolean;
}

/** A part of an object that is an object itself; empty when it is not there. */
export function part(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** A part of an object that is a list of objects; empty when it is not there. */
export function items(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? (value as JsonObject[]) : [];
}
