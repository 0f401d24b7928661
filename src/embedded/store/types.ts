// The types of the store: objects, changes and events. Used by the REST verbs and the simulated controllers.
import type { AnyObject } from '../../kube/objects.ts';

/** One version of one object: frozen, and serialised once for all readers and watchers. */
export interface Stored {
  /** The plural and the group, as in `pods` or `deployments.apps`. All served versions share one collection. */
  readonly collection: string;
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly version: number;
  /** The `apiVersion` of the object, available without parsing it. */
  readonly apiVersion: string;
  readonly object: AnyObject;
  readonly bytes: Buffer;
}

/** A committed change. For a deletion, `stored` is the last state with the version of the deletion. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly stored: Stored;
  readonly previous: Stored | undefined;
}

/** A change of one object. It fails unless the stored version is the expected one. */
export interface Change {
  readonly collection: string;
  readonly key: string;
  /** The version that the change was computed from; 0 when the object must not exist. */
  readonly expect: number;
  /** The new state without its resourceVersion; undefined removes the object. */
  readonly next: AnyObject | undefined;
}

/** Durable storage of committed changes. */
export interface Backend {
  /** All committed objects, and the highest version ever used. */
  load(): { readonly version: number; readonly rows: Iterable<StoredRow> };
  /** Commits the changes durably, all or none, before it returns. */
  commit(events: readonly StoreEvent[], version: number): void;
  close(): void;
}

export interface StoredRow {
  readonly collection: string;
  readonly key: string;
  readonly version: number;
  readonly json: Uint8Array;
}

/** How much history a collection keeps for watches that resume and paged lists. */
export interface HistoryLimits {
  readonly events: number;
  readonly bytes: number;
  readonly ageMs: number;
}

/** The object is not at the version that the change expected. */
export class VersionConflict extends Error {
  readonly current: Stored | undefined;
  constructor(change: Change, current: Stored | undefined) {
    super(`${change.collection} "${change.key}" is at version ${current?.version ?? 0}, not ${change.expect}`);
    this.name = 'VersionConflict';
    this.current = current;
  }
}

/** The requested history is not kept any more. */
export class Compacted extends Error {
  readonly oldest: number;
  constructor(asked: number, oldest: number) {
    super(`too old resource version: ${asked} (${oldest})`);
    this.name = 'Compacted';
    this.oldest = oldest;
  }
}
