// A naive model of a map and its subscribers; the property tests run random steps against it.
import assert from 'node:assert/strict';
import { WatchableMap } from '../index.ts';
import type { Snapshot, Subscription } from '../index.ts';

/** One action of a writer, a reader or the owner. */
export type Step =
  | { readonly do: 'store' | 'delete' | 'swap'; readonly key: string; readonly value: number }
  | { readonly do: 'replaceAll'; readonly entries: readonly (readonly [string, number])[] }
  | { readonly do: 'subscribe'; readonly subset: boolean; readonly state: boolean }
  | { readonly do: 'read' | 'end'; readonly reader: number }
  | { readonly do: 'close' };

const even = (_key: string, number: number): boolean => number % 2 === 0;

interface Reader {
  readonly subscription: Subscription<string, number>;
  readonly controller: AbortController;
  readonly subset: boolean;
  readonly withState: boolean;
  readonly held: Map<string, number>;
  started: boolean;
  parked: Promise<IteratorResult<Snapshot<string, number>>> | undefined;
}

/** A map, readers of it, and the naive model that they are checked against after every step. */
export class World {
  readonly map: WatchableMap<string, number>;
  readonly model = new Map<string, number>();
  readonly readers: Reader[] = [];

  constructor(maxLag: number) {
    this.map = new WatchableMap({ maxLag });
  }

  async run(action: Step): Promise<void> {
    switch (action.do) {
      case 'store':
        assert.equal(this.map.store(action.key, action.value), this.model.get(action.key) !== action.value);
        this.model.set(action.key, action.value);
        break;
      case 'delete':
        assert.equal(this.map.delete(action.key), this.model.delete(action.key));
        break;
      case 'swap': {
        const matches = this.model.get(action.key) === action.value;
        assert.equal(this.map.compareAndSwap(action.key, action.value, action.value + 1), matches);
        if (matches) this.model.set(action.key, action.value + 1);
        break;
      }
      case 'replaceAll':
        this.map.replaceAll(action.entries);
        this.model.clear();
        for (const [name, number] of action.entries) this.model.set(name, number);
        break;
      case 'subscribe':
        this.subscribe(action.subset, action.state);
        break;
      case 'read':
        await this.read(this.readers[action.reader]);
        break;
      case 'end':
        this.readers[action.reader]?.controller.abort();
        break;
      case 'close':
        this.map.close();
        break;
    }
    assert.deepEqual(this.map.loadAll().toMap(), this.model);
  }

  subscribe(subset: boolean, withState: boolean): void {
    const controller = new AbortController();
    const subscription = this.map.subscribe({
      signal: controller.signal,
      state: withState,
      ...(subset ? { include: even } : {}),
    });
    this.readers.push({
      subscription,
      controller,
      subset,
      withState,
      held: new Map(),
      started: false,
      parked: undefined,
    });
  }

  // A read may park; the next read of the same reader then checks it again.
  async read(reader: Reader | undefined): Promise<void> {
    if (reader === undefined) return;
    const waiting = reader.parked === undefined;
    reader.parked ??= reader.subscription.next();
    const parked = Symbol('parked');
    const result = await Promise.race([reader.parked, turns(parked)]);
    if (typeof result === 'symbol') {
      // Parked means that nothing changed for this reader since its last read.
      if (waiting) assert.deepEqual(reader.held, this.visibleTo(reader));
      return;
    }
    reader.parked = undefined;
    if (result.done === true) assert.equal(reader.controller.signal.aborted || this.map.closed, true);
    else this.check(reader, result.value);
  }

  check(reader: Reader, snapshot: Snapshot<string, number>): void {
    assert.equal(snapshot.initial, !reader.started);
    if (snapshot.initial) for (const [name, number] of snapshot.state) reader.held.set(name, number);
    else {
      for (const update of snapshot.updates) {
        assert.equal(update.before, reader.held.get(update.key));
        if (update.delete) reader.held.delete(update.key);
        else reader.held.set(update.key, update.value);
      }
    }
    reader.started = true;
    const expected = snapshot.initial || reader.withState ? reader.held : new Map();
    assert.deepEqual(snapshot.state.toMap(), expected);
    if (snapshot.version === this.map.version) assert.deepEqual(reader.held, this.visibleTo(reader));
  }

  visibleTo(reader: Reader): Map<string, number> {
    return new Map([...this.model].filter(([name, number]) => !reader.subset || even(name, number)));
  }
}

async function turns(result: symbol): Promise<symbol> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  return result;
}
