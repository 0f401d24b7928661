// The state of the cluster: all objects, one version counter, and recent events. Writes of one event loop turn are
// committed together. A change is visible and acknowledged only after it is durable.
import { storedFromJson, storedFromObject } from './stored.ts';
import { Table } from './table.ts';
import { VersionConflict } from './types.ts';
import type { Backend, Change, HistoryLimits, Stored, StoreEvent } from './types.ts';

export type StoreListener = (event: StoreEvent) => void;

export interface StoreOptions {
  /** Without a back end, objects are kept in memory only. */
  readonly backend?: Backend;
  readonly history?: Partial<HistoryLimits>;
  /** Called when a listener throws. Neither the writer nor other listeners are affected. */
  readonly onError?: (error: unknown) => void;
}

interface PendingWrite {
  readonly change: Change;
  readonly resolve: (stored: Stored) => void;
  readonly reject: (reason: Error) => void;
}

interface Subscriber {
  readonly since: number;
  readonly listener: StoreListener;
}

const allCollections = '';

export class Store {
  readonly #backend: Backend | undefined;
  readonly #history: HistoryLimits;
  readonly #tables = new Map<string, Table>();
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  readonly #floor: number;
  readonly #onError: (error: unknown) => void;
  #pending: PendingWrite[] = [];
  #version: number;
  #closed = false;

  constructor(options: StoreOptions = {}) {
    this.#backend = options.backend;
    this.#onError = options.onError ?? ((error) => console.error(error));
    this.#history = { events: 5_000, bytes: 32 * 1024 * 1024, ageMs: 5 * 60_000, ...options.history };
    const { version, rows } = this.#backend?.load() ?? { version: 1, rows: [] };
    this.#version = version;
    this.#floor = version;
    for (const row of rows) {
      this.#table(row.collection).restore(storedFromJson(row.collection, row.key, row.version, row.json));
    }
  }

  /** The version of the latest committed change. */
  get version(): number {
    return this.#version;
  }

  get(collection: string, key: string): Stored | undefined {
    return this.#tables.get(collection)?.get(key);
  }

  /** The objects of a collection in key order, of one namespace or of all, now or at the version `at`. */
  list(collection: string, options: { namespace?: string; at?: number } = {}): readonly Stored[] {
    const table = this.#tables.get(collection);
    if (options.at !== undefined && options.at < this.#version) {
      return this.#table(collection).listAt(options.at, options.namespace);
    }
    return table?.list(options.namespace) ?? [];
  }

  /** The number of objects in a collection. */
  count(collection: string): number {
    return this.#tables.get(collection)?.size ?? 0;
  }

  /** The events of a collection after a version; throws `Compacted` when they are not kept any more. */
  eventsAfter(collection: string, version: number): readonly StoreEvent[] {
    return this.#table(collection).eventsAfter(version);
  }

  /** Calls the listener for every later change of a collection, in order; without a name, of all collections. */
  subscribe(collection: string | undefined, listener: StoreListener): () => void {
    const name = collection ?? allCollections;
    const subscriber = { since: this.#version, listener };
    const subscribers = this.#subscribers.get(name) ?? new Set();
    this.#subscribers.set(name, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
    };
  }

  /** Returns the current objects and subscribes to later changes, without gaps or duplicates. */
  watch(
    collection: string,
    listener: StoreListener,
  ): { readonly initial: readonly Stored[]; readonly stop: () => void } {
    return { initial: [...this.list(collection)], stop: this.subscribe(collection, listener) };
  }

  /** Commits one change; rejects with `VersionConflict` when the object is not at the expected version. */
  write(change: Change): Promise<Stored> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, resolve, reject });
      if (this.#pending.length > 1) return;
      // Batching only pays off with a disk: without one, commit in the next microtask.
      if (this.#backend === undefined) queueMicrotask(() => this.#flush());
      else setImmediate(() => this.#flush());
    });
  }

  /** Drops the history of all collections: watches that resume from it must list again. */
  compact(version: number = this.#version): void {
    for (const table of this.#tables.values()) table.compact(version);
  }

  /** Commits pending writes and closes the back end. */
  close(): void {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.#subscribers.clear();
    this.#backend?.close();
  }

  #flush(): void {
    const writes = this.#pending;
    this.#pending = [];
    if (writes.length === 0) return;
    const { events, outcomes, version } = this.#evaluate(writes);
    try {
      if (events.length > 0) this.#backend?.commit(events, version);
    } catch (error) {
      for (const write of writes) write.reject(error as Error);
      return;
    }
    const now = Date.now();
    for (const event of events) this.#table(event.stored.collection).apply(event, now);
    this.#version = version;
    for (const [index, write] of writes.entries()) {
      const outcome = outcomes[index]!;
      if (outcome instanceof Error) write.reject(outcome);
      else write.resolve(outcome);
    }
    this.#publish(events);
  }

  /** Computes the result of each write in order, without changing the state. */
  #evaluate(writes: readonly PendingWrite[]): { events: StoreEvent[]; outcomes: (Stored | Error)[]; version: number } {
    const ahead = new Map<string, Stored | undefined>();
    const events: StoreEvent[] = [];
    let version = this.#version;
    const outcomes = writes.map(({ change }) => {
      const { collection, key, expect, next } = change;
      const id = `${collection} ${key}`;
      const current = ahead.has(id) ? ahead.get(id) : this.get(collection, key);
      if ((current?.version ?? 0) !== expect) return new VersionConflict(change, current);
      const body = next ?? current?.object;
      if (body === undefined) return new VersionConflict(change, current);
      version++;
      const stored = storedFromObject(collection, key, version, body);
      const type = next === undefined ? 'DELETED' : current === undefined ? 'ADDED' : 'MODIFIED';
      events.push({ type, version, stored, previous: current });
      ahead.set(id, next === undefined ? undefined : stored);
      return stored;
    });
    return { events, outcomes, version };
  }

  #publish(events: readonly StoreEvent[]): void {
    for (const event of events) {
      for (const name of [event.stored.collection, allCollections]) {
        for (const { since, listener } of this.#subscribers.get(name) ?? []) {
          if (event.version <= since) continue;
          try {
            listener(event);
          } catch (error) {
            this.#onError(error);
          }
        }
      }
    }
  }

  #table(collection: string): Table {
    let table = this.#tables.get(collection);
    if (table === undefined) {
      table = new Table(this.#history, this.#floor);
      this.#tables.set(collection, table);
    }
    return table;
  }
}
