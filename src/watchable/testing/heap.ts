// A program that prints by how many MB the heap grows in each of these cases, as JSON. It is a process of its own, because
// V8 allocates by what it has learnt from everything that ran before. Run it with --expose-gc.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { WatchableMap } from '../index.ts';

const collect = globalThis.gc!;

async function collectAll(): Promise<void> {
  // Twice, with a turn of the event loop between, so that what the turn still references is collected as well.
  for (let round = 0; round < 2; round++) {
    await setImmediate();
    collect();
  }
}

async function heap(): Promise<number> {
  await collectAll();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function oldGeneration(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')!.space_used_size / 2 ** 20;
}

const bulk = (index: number): { index: number; text: string } => ({ index, text: `value number ${index}` });

async function stores(map: WatchableMap<number, object>): Promise<number> {
  for (let index = 0; index < 1_000; index++) map.store(index, bulk(-1 - index));
  const before = await heap();
  for (let index = 0; index < 200_000; index++) map.store(index % 1_000, bulk(index));
  return (await heap()) - before;
}

/** Replaces 16 MB of values one by one, which two subscriptions read at once. Only the old generation counts. */
async function replaced(): Promise<number> {
  const map = new WatchableMap<string, readonly number[]>({ isolate: 'none', equals: Object.is });
  const subscriptions = [map.subscribe({ state: false }), map.subscribe({ state: false })];
  await collectAll();
  const before = oldGeneration();
  let most = before;
  for (let index = 0; index < 2_000; index++) {
    map.store(
      'a',
      Array.from({ length: 1_000 }, () => index),
    );
    for (const subscription of subscriptions) await subscription.next();
    if (index % 20 === 0) collect({ type: 'minor' });
    // At the end, a collection of everything may have hidden it.
    most = Math.max(most, oldGeneration());
  }
  for (const subscription of subscriptions) await subscription.return!();
  return most - before;
}

const cases = {
  /** The first case: while code is new, V8 learns from what survives where to allocate later. */
  async valuesThatAllHaveReadAfterOneLagged(): Promise<number> {
    const others = Array.from({ length: 100_000 }, (_, index) => bulk(index));
    for (let round = 0; round < 2; round++) {
      const map = new WatchableMap<number, object>({ maxLag: Infinity });
      const slow = map.subscribe();
      for (let index = 0; index < 60_000; index++) map.store(index % 1_000, bulk(index));
      await slow.next();
      await slow.return!();
    }
    await replaced();
    const grown = await replaced();
    assert.equal(others.length, 100_000);
    return grown;
  },

  async subscriptionsThatComeAndGo(): Promise<number> {
    const map = new WatchableMap<string, number>();
    const { signal } = new AbortController();
    const before = await heap();
    for (let index = 0; index < 100_000; index++) {
      const subscription = map.subscribe({ signal });
      if (index % 1_000 === 0) {
        await subscription.next();
        map.store('a', index);
      }
      await subscription.return!();
    }
    return (await heap()) - before;
  },

  noSubscribers(): Promise<number> {
    return stores(new WatchableMap());
  },

  async subscribersThatNeverRead(): Promise<number> {
    const map = new WatchableMap<number, object>({ maxLag: 2_000 });
    const stuck = Array.from({ length: 10 }, (_, index) => map.subscribe(index < 5 ? {} : { include: () => true }));
    const grown = await stores(map);
    assert.equal(stuck[0]!.lag, 201_000);
    return grown;
  },

  async snapshotsThatAreKept(): Promise<number> {
    const map = new WatchableMap<number, object>();
    map.store(0, {});
    const view = map.loadAll();
    const ended = map.subscribe();
    const snapshot = await ended.next();
    await ended.return!();
    const grown = await stores(map);
    assert.deepEqual([view.size, snapshot.done, ended.lag], [1, false, 0]);
    return grown;
  },
};

export type Grown = Record<keyof typeof cases, number>;

const grown: Partial<Grown> = {};
for (const [name, run] of Object.entries(cases)) grown[name as keyof Grown] = await run();
process.stdout.write(JSON.stringify(grown));
