import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { combine, WatchableMap } from './index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;

function oldGeneration(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')!.space_used_size / 2 ** 20;
}

async function heap(): Promise<number> {
  // Twice, with a turn of the event loop between, so that what the turn still references is collected as well.
  for (let round = 0; round < 2; round++) {
    await setImmediate();
    collect();
  }
  return process.memoryUsage().heapUsed / 2 ** 20;
}

describe('listeners and subscriptions', () => {
  it('do not leak when 100,000 subscriptions come and go on one long-lived signal', async () => {
    const map = new WatchableMap<string, number>();
    map.store('a', 1);
    const { signal } = new AbortController();
    const before = await heap();
    let most = 0;
    for (let index = 0; index < 100_000; index++) {
      const subscription = map.subscribe({ signal });
      if (index % 1_000 === 0) {
        await subscription.next();
        map.store('a', index);
        most = Math.max(most, getEventListeners(signal, 'abort').length);
      }
      await subscription.return!();
    }
    expect(most).toBe(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(map.subscriptions).toBe(0);
    expect((await heap()) - before).toBeLessThan(8);
  });

  it('are all removed when a signal with 20,000 subscriptions aborts', () => {
    const map = new WatchableMap<string, number>();
    const controller = new AbortController();
    for (let index = 0; index < 20_000; index++) map.subscribe({ signal: controller.signal });
    expect([map.subscriptions, getEventListeners(controller.signal, 'abort').length]).toEqual([20_000, 1]);
    controller.abort();
    expect([map.subscriptions, getEventListeners(controller.signal, 'abort').length]).toEqual([0, 0]);
  });

  it('do not leak when combined streams come and go', async () => {
    const maps = { a: new WatchableMap<string, number>(), b: new WatchableMap<string, number>() };
    const { signal } = new AbortController();
    for (let index = 0; index < 1_000; index++) {
      for await (const _element of combine(maps, { signal })) break;
    }
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(maps.a.subscriptions + maps.b.subscriptions).toBe(0);
  });

  it('are removed from their signal when the map is closed', () => {
    const map = new WatchableMap<string, number>();
    const { signal } = new AbortController();
    map.subscribe({ signal });
    map.close();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

describe('the heap', () => {
  const bulk = (index: number): { index: number; text: string } => ({ index, text: `value number ${index}` });
  const stores = async (map: WatchableMap<number, object>): Promise<number> => {
    for (let index = 0; index < 1_000; index++) map.store(index, bulk(-1 - index));
    const before = await heap();
    for (let index = 0; index < 200_000; index++) map.store(index % 1_000, bulk(index));
    return (await heap()) - before;
  };

  it('frees replaced values while they are young, once all subscribers have read them', async () => {
    const map = new WatchableMap<string, readonly number[]>({ isolate: 'none', equals: Object.is });
    const subscriptions = [map.subscribe({ state: false }), map.subscribe({ state: false })];
    const grown: number[] = [];
    // Whatever else moves objects to the old generation does not do so every time.
    for (let round = 0; round < 3; round++) {
      const before = await heap().then(oldGeneration);
      for (let index = 0; index < 2_000; index++) {
        map.store(
          'a',
          Array.from({ length: 1_000 }, () => index),
        );
        for (const subscription of subscriptions) await subscription.next();
        if (index % 20 === 0) collect({ type: 'minor' });
      }
      grown.push(oldGeneration() - before);
    }
    expect(Math.min(...grown)).toBeLessThan(4);
    for (const subscription of subscriptions) await subscription.return!();
  });

  it('does not grow without subscribers', async () => {
    expect(await stores(new WatchableMap())).toBeLessThan(8);
  });

  it('does not grow with subscribers that never read', async () => {
    const map = new WatchableMap<number, object>({ maxLag: 2_000 });
    const stuck = Array.from({ length: 10 }, (_, index) => map.subscribe(index < 5 ? {} : { include: () => true }));
    expect(await stores(map)).toBeLessThan(12);
    expect(stuck[0]!.lag).toBe(201_000);
    map.close();
  });

  it('does not grow while snapshots and ended subscriptions are still referenced', async () => {
    const map = new WatchableMap<number, object>();
    map.store(0, {});
    const view = map.loadAll();
    const ended = map.subscribe();
    const snapshot = await ended.next();
    await ended.return!();
    expect(await stores(map)).toBeLessThan(8);
    expect([view.size, snapshot.done, ended.lag]).toEqual([1, false, 0]);
  });
});
