// The state of the cluster: every object, one version counter, and what happened lately. Writes that arrive in one turn
// of the event loop are committed together, and nobody sees or is promised a change before it is durable.
import { storedFromJson, storedFromObject } from './stored.ts';
import { Table } from './table.ts';
import { VersionConflict } from './types.ts';
import type { Backend, Change, HistoryLimits, Stored, StoreEvent } from './types.ts';

export type StoreListener = (event: StoreEvent) => void;

export interface StoreOptions {
  /** Absent keeps everything in memory only. */
  readonly backend?: Backend;
  readonly history?: Partial<HistoryLimits>;
  /** Told when a listener throws: the others and the writer are not to suffer for it. */
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

const everything = '';

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

  /** The objects of a collection in key order, of one namespace or of all; as they were at a version when one is given. */
  list(collection: string, options: { namespace?: string; at?: number } = {}): readonly Stored[] {
    const table = this.#tables.get(collection);
    if (options.at !== undefined && options.at < this.#version) {
      return this.#table(collection).listAt(options.at, options.namespace);
    }
    return table?.list(options.namespace) ?? [];
  }

  /** How many objects a collection holds. */
  count(collection: string): number {
    return this.#tables.get(collection)?.size ?? 0;
  }

  /** What happened to a collection after a version; throws `Compacted` when that is forgotten. */
  eventsAfter(collection: string, version: number): readonly StoreEvent[] {
    return this.#table(collection).eventsAfter(version);
  }

  /** Calls the listener for each later change of a collection, in order; of every collection when none is named. */
  subscribe(collection: string | undefined, listener: StoreListener): () => void {
    const name = collection ?? everything;
    const subscriber = { since: this.#version, listener };
    const subscribers = this.#subscribers.get(name) ?? new Set();
    this.#subscribers.set(name, subscribers.add(subscriber));
    return () => {
      subscribers.delete(subscriber);
    };
  }

  /** Objects as they are now, then every later change: nothing is missed or told twice in between. */
  watch(
    collection: string,
    listener: StoreListener,
  ): { readonly initial: readonly Stored[]; readonly stop: () => void } {
    return { initial: [...this.list(collection)], stop: this.subscribe(collection, listener) };
  }

  /** Makes one change; rejects with `VersionConflict` when the object is not at the expected version. */
  write(change: Change): Promise<Stored> {
    if (this.#closed) return Promise.reject(new Error('the store is closed'));
    return new Promise((resolve, reject) => {
      this.#pending.push({ change, resolve, reject });
      if (this.#pending.length > 1) return;
      // Without a disk to wait for there is nothing to share, so memory commits at the end of this very step.
      if (this.#backend === undefined) queueMicrotask(() => this.#flush());
      else setImmediate(() => this.#flush());
    });
  }

  /** Forgets the past of every collection: watches that resume from it are told to list again. */
  compact(version: number = this.#version): void {
    for (const table of this.#tables.values()) table.compact(version);
  }

  /** Commits what is pending and lets go of the disk. */
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

  /** What each write would do, one after the other, without doing it. */
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
      for (const name of [event.stored.collection, everything]) {
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
