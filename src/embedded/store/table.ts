// One collection of the store: its objects in key order, and their recent events. Only store.ts writes to it.
import { Compacted } from './types.ts';
import type { HistoryLimits, Stored, StoreEvent } from './types.ts';

export class Table {
  readonly #byKey = new Map<string, Stored>();
  readonly #sorted: Stored[] = [];
  readonly #limits: HistoryLimits;
  #log: { readonly event: StoreEvent; readonly at: number }[] = [];
  #logBytes = 0;
  /** The log is complete after this version. */
  #floor: number;

  constructor(limits: HistoryLimits, floor: number) {
    this.#limits = limits;
    this.#floor = floor;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Stored | undefined {
    return this.#byKey.get(key);
  }

  /** The objects in key order, of one namespace or of all. */
  list(namespace = ''): readonly Stored[] {
    if (namespace === '') return this.#sorted;
    const start = firstAtOrAfter(this.#sorted, `${namespace}/`);
    const end = firstAtOrAfter(this.#sorted, `${namespace}0`); // '0' follows '/'
    return this.#sorted.slice(start, end);
  }

  /** The objects at a past version; throws `Compacted` when its history is not kept any more. */
  listAt(version: number, namespace = ''): readonly Stored[] {
    const later = this.eventsAfter(version);
    if (later.length === 0) return this.list(namespace);
    const state = new Map(this.list(namespace).map((stored) => [stored.key, stored]));
    for (const event of later.toReversed()) {
      const { key } = event.stored;
      if (namespace !== '' && !key.startsWith(`${namespace}/`)) continue;
      if (event.previous === undefined) state.delete(key);
      else state.set(key, event.previous);
    }
    return [...state.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The events after a version, oldest first; throws `Compacted` when some are not kept any more. */
  eventsAfter(version: number): readonly StoreEvent[] {
    this.#trimLog(Date.now());
    if (version < this.#floor) throw new Compacted(version, this.#floor);
    let low = 0;
    let high = this.#log.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#log[middle]!.event.version <= version) low = middle + 1;
      else high = middle;
    }
    return this.#log.slice(low).map((entry) => entry.event);
  }

  /** Adds an object from durable storage, without an event. */
  restore(stored: Stored): void {
    this.#put(stored);
  }

  apply(event: StoreEvent, now: number): void {
    if (event.type === 'DELETED') this.#remove(event.stored.key);
    else this.#put(event.stored);
    this.#log.push({ event, at: now });
    this.#logBytes += event.stored.bytes.length;
    // Trimming in large steps keeps single writes fast.
    if (this.#log.length > this.#limits.events * 2 || this.#logBytes > this.#limits.bytes * 2) this.#trimLog(now);
  }

  /** Drops the events up to a version. */
  compact(version: number): void {
    const kept = this.#log.findIndex((entry) => entry.event.version > version);
    const dropped = kept < 0 ? this.#log : this.#log.slice(0, kept);
    for (const { event } of dropped) this.#logBytes -= event.stored.bytes.length;
    this.#log = kept < 0 ? [] : this.#log.slice(kept);
    this.#floor = Math.max(this.#floor, version);
  }

  #trimLog(now: number): void {
    let drop = Math.max(0, this.#log.length - this.#limits.events);
    let bytes = this.#logBytes;
    for (let index = 0; index < drop; index++) bytes -= this.#log[index]!.event.stored.bytes.length;
    const isOver = ({ at }: { readonly at: number }): boolean =>
      bytes > this.#limits.bytes || now - at > this.#limits.ageMs;
    while (drop < this.#log.length && isOver(this.#log[drop]!)) bytes -= this.#log[drop++]!.event.stored.bytes.length;
    if (drop > 0) this.compact(this.#log[drop - 1]!.event.version);
  }

  #put(stored: Stored): void {
    const index = firstAtOrAfter(this.#sorted, stored.key);
    if (this.#sorted[index]?.key === stored.key) this.#sorted[index] = stored;
    else this.#sorted.splice(index, 0, stored);
    this.#byKey.set(stored.key, stored);
  }

  #remove(key: string): void {
    const index = firstAtOrAfter(this.#sorted, key);
    if (this.#sorted[index]?.key === key) this.#sorted.splice(index, 1);
    this.#byKey.delete(key);
  }
}

function firstAtOrAfter(sorted: readonly Stored[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
