// The words of the store: what it holds, what changes it, what it tells. Its users are the REST verbs and the
// simulated controllers; it knows nothing of HTTP.
import type { AnyObject } from '../../kube/objects.ts';

/** One version of one object: frozen, and serialised at most once however many readers and watchers it has. */
export interface Stored {
  /** The plural and the group, as in `pods` or `deployments.apps`. All served versions share one collection. */
  readonly collection: string;
  /** `namespace/name`, or `name` for a cluster-scoped object. */
  readonly key: string;
  readonly version: number;
  readonly object: AnyObject;
  readonly bytes: Buffer;
}

/** A committed change. `stored` of a deletion is the last state, stamped with the version of the deletion. */
export interface StoreEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly stored: Stored;
  readonly previous: Stored | undefined;
}

/** A change of one object: it happens only while the stored version is still the expected one. */
export interface Change {
  readonly collection: string;
  readonly key: string;
  /** The version that the change was computed from; 0 when the object must not exist. */
  readonly expect: number;
  /** The new state without its resourceVersion; undefined removes the object. */
  readonly next: AnyObject | undefined;
}

/** Where committed changes go to outlive the process. */
export interface Backend {
  /** Everything that was committed, and the highest version ever given out. */
  load(): { readonly version: number; readonly rows: Iterable<StoredRow> };
  /** Makes the changes durable, all or none, before it returns. */
  commit(events: readonly StoreEvent[], version: number): void;
  close(): void;
}

export interface StoredRow {
  readonly collection: string;
  readonly key: string;
  readonly version: number;
  readonly json: Uint8Array;
}

/** How much of the past a collection remembers for watches that resume and lists that go on. */
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

/** The past that was asked for has been forgotten. */
export class Compacted extends Error {
  readonly oldest: number;
  constructor(asked: number, oldest: number) {
    super(`too old resource version: ${asked} (${oldest})`);
    this.name = 'Compacted';
    this.oldest = oldest;
  }
}
