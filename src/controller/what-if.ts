// "What if": the cluster after changes that nobody has made. Ordinary plans run on it, without a controller and without
// writing anything; the tables and their readers are not affected. For `plan` and admission.
import { keyOf } from '../kube/objects.ts';
import type { AnyKind, Kind, KubeObject, Ref } from '../kube/objects.ts';
import type { Tables } from '../kube/tables/tables.ts';
import { Overlay } from '../watchable/index.ts';
import type { Notes } from './definition.ts';
import { factsOf } from './facts.ts';
import type { Facts } from './facts.ts';
import { Reads } from './view.ts';
import type { ReadsOptions, Refusal, View } from './view.ts';

export class WhatIf {
  /** The state with the changes; reading it here subscribes to nothing. */
  readonly facts: Facts;
  readonly #tables: Tables;
  readonly #overlay = new Overlay();
  readonly #reads: Reads;
  readonly #outdated = new Set<string>();

  /** Starts from the tables, and follows them in everything that is not changed here. */
  constructor({ tables, ...time }: Pick<ReadsOptions, 'tables' | 'now' | 'lastExpiry'>) {
    this.#tables = tables;
    this.facts = factsOf(tables, this.#overlay.read);
    const wake = (reader: string): void => void this.#outdated.add(reader);
    this.#reads = new Reads({ tables, ...time, wake, overlay: this.#overlay });
  }

  /** Adds an object, or replaces another of its name. */
  put<T extends KubeObject>(kind: Kind<T>, object: T): void {
    const key = keyOf(object.metadata);
    for (const table of this.#tables.holding(kind)) {
      const kept = table.form(object);
      if (kept === undefined) this.#overlay.delete(table.map, key);
      else this.#overlay.store(table.map, key, kept);
    }
  }

  /** Deletes an object. */
  remove<T extends KubeObject>(kind: Kind<T>, ref: Ref): void {
    for (const { map } of this.#tables.holding(kind)) this.#overlay.delete(map, keyOf(ref));
  }

  /** An object, as complete as any table has it. */
  whole<T extends KubeObject>(kind: Kind<T>, ref: Ref): T | undefined {
    const own = this.facts.get(kind, ref);
    const tables = this.#tables.holding(kind).filter(({ holdsWholeObjects }) => holdsWholeObjects);
    const [whole] = tables.flatMap(({ map }) => this.#overlay.read.get(map, keyOf(ref)) ?? []);
    // One table may have an older version than the other.
    return own === undefined || whole?.metadata.resourceVersion === own.metadata.resourceVersion ? whole : own;
  }

  /** Sets whether the server serves a kind. */
  serve(kind: AnyKind, isServed: boolean): void {
    for (const { state } of this.#tables.holding(kind)) this.#overlay.store(state, 'served', isServed);
  }

  /** In-memory maps of controllers, as they would be here. */
  get notes(): Pick<Notes, 'read' | 'store' | 'delete'> {
    return {
      read: this.#overlay.read,
      store: (map, key, value) => this.#overlay.store(map, key, value),
      delete: (map, key) => this.#overlay.delete(map, key),
    };
  }

  /** Runs a plan on a view of this state, and tracks its reads for `reader`, as a controller does for a key. */
  plan<R>(reader: string, plan: (view: View) => R, refusal?: Refusal): R {
    this.#outdated.delete(reader);
    return this.#reads.track(reader, plan, refusal);
  }

  /** Stops tracking a reader. */
  forget(reader: string): void {
    this.#outdated.delete(reader);
    this.#reads.forget(reader);
  }

  /**
   * The readers whose plans read something that has changed since, as a controller would wake them. Each is returned
   * once until it is planned for again.
   */
  takeOutdated(): readonly string[] {
    this.#reads.deliver();
    const outdated = [...this.#outdated];
    this.#outdated.clear();
    return outdated;
  }

  /** Stops tracking all readers. */
  close(): void {
    this.#reads.close();
  }
}
