import { describe, expect, it } from 'vitest';
import { WatchableMap } from './index.ts';
import type { Snapshot } from './index.ts';
import { brief, isWaiting, read } from './testing/streams.ts';

const done = { done: true, value: undefined };

const mapOf = (entries: Record<string, number>): WatchableMap<string, number> => {
  const map = new WatchableMap<string, number>({ name: 'numbers' });
  for (const [key, value] of Object.entries(entries)) map.store(key, value);
  return map;
};

const stateOf = (snapshot: Snapshot<string, number>): Record<string, number> => Object.fromEntries(snapshot.state);

describe('as in Go, Subscribe', () => {
  it('a complete snapshot is there at once, without updates', async () => {
    const snapshot = await read(mapOf({ a: 1, b: 2 }).subscribe());
    expect(stateOf(snapshot)).toEqual({ a: 1, b: 2 });
    expect(snapshot).toMatchObject({ updates: [], initial: true, coalesced: false, version: 2 });
  });

  it('unread stores do not block, and arrive in one snapshot, in order, with full state', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    await read(subscription);
    map.store('d', 4);
    map.store('e', 5);
    map.store('f', 6);
    expect(subscription.lag).toBe(3);
    const snapshot = await read(subscription);
    expect(brief(snapshot.updates)).toEqual(['+d=4', '+e=5', '+f=6']);
    expect(stateOf(snapshot)).toEqual({ a: 1, d: 4, e: 5, f: 6 });
    expect([snapshot.initial, subscription.lag]).toEqual([false, 0]);
  });

  it('deletes carry the old value, also of a value just stored', async () => {
    const map = mapOf({ a: 1, b: 2, c: 3 });
    const subscription = map.subscribe();
    await read(subscription);
    map.delete('a');
    expect(brief((await read(subscription)).updates)).toEqual(['-a=1']);
    map.loadAndDelete('b');
    expect(brief((await read(subscription)).updates)).toEqual(['-b=2']);
    map.store('c', 30);
    map.delete('c');
    const snapshot = await read(subscription);
    expect(brief(snapshot.updates)).toEqual(['+c=30', '-c=30']);
    expect(stateOf(snapshot)).toEqual({});
  });

  it('three unread stores, then cancel: ended, three times in a row', async () => {
    const map = mapOf({});
    const controller = new AbortController();
    const subscription = map.subscribe({ signal: controller.signal });
    await read(subscription);
    for (const key of ['a', 'b', 'c']) map.store(key, 1);
    controller.abort();
    for (const _read of [1, 2, 3]) expect(await subscription.next()).toEqual(done);
  });

  it('a new subscription sees everything without updates, and then waits', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    expect((await read(subscription)).updates).toEqual([]);
    expect(await isWaiting(subscription.next())).toBe(true);
    map.close();
  });

  it('cancelling while parked ends the stream', async () => {
    const controller = new AbortController();
    const subscription = mapOf({}).subscribe({ signal: controller.signal });
    await read(subscription);
    const parked = subscription.next();
    controller.abort();
    expect(await parked).toEqual(done);
  });
});

describe('as in Go, closing with unread data', () => {
  it.each([false, true])('Close drops unread data (initial snapshot read: %s)', async (readFirst) => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    if (readFirst) await read(subscription);
    map.store('b', 2);
    map.close();
    expect(await subscription.next()).toEqual(done);
  });
});

describe('updates', () => {
  const cases: [string, (map: WatchableMap<string, number>) => void, string[]][] = [
    ['A to B to A', (map) => [map.store('a', 2), map.store('a', 1)], ['+a=2', '+a=1']],
    ['add and delete', (map) => [map.store('n', 1), map.delete('n')], ['+n=1', '-n=1']],
    ['replaceAll', (map) => map.replaceAll([['b', 2]]), ['+b=2', '-a=1']],
  ];
  it.each(cases)('are all reported for %s, although the state may be unchanged', async (_name, change, expected) => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    await read(subscription);
    change(map);
    expect(brief((await read(subscription)).updates)).toEqual(expected);
  });

  const nothing: [string, (map: WatchableMap<string, number>) => void][] = [
    ['an equal store', (map) => map.store('a', 1)],
    ['a delete of a missing key', (map) => map.delete('b')],
    ['a swap to an equal value', (map) => map.compareAndSwap('a', 1, 1)],
    ['replaceAll with the same entries', (map) => map.replaceAll([['a', 1]])],
  ];
  it.each(nothing)('are not reported for %s: the reader stays parked', async (_name, change) => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    await read(subscription);
    const parked = subscription.next();
    change(map);
    expect(await isWaiting(parked)).toBe(true);
    map.close();
  });

  it('made between subscribing and the first read are in the first snapshot, and in its state', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    map.store('b', 2);
    map.delete('a');
    const snapshot = await read(subscription);
    expect(stateOf(snapshot)).toEqual({ b: 2 });
    expect(brief(snapshot.updates)).toEqual(['+b=2', '-a=1']);
    expect(snapshot.initial).toBe(true);
  });

  it('of one synchronous run reach a parked reader together', async () => {
    const map = mapOf({});
    const subscription = map.subscribe();
    await read(subscription);
    const parked = read(subscription);
    for (let index = 0; index < 100; index++) map.store(`k${index}`, index);
    expect((await parked).updates).toHaveLength(100);
  });

  it('cannot be tampered with by one subscriber at the cost of another', async () => {
    const map = mapOf({});
    const [first, second] = [map.subscribe(), map.subscribe()];
    map.store('a', 1);
    const update = (await read(first)).updates[0]!;
    expect(() => Object.assign(update, { value: 2 })).toThrow(TypeError);
    expect(brief((await read(second)).updates)).toEqual(['+a=1']);
  });
});

describe('state', () => {
  it('of an old snapshot stays intact while the map changes and grows', async () => {
    const map = new WatchableMap<string, number>();
    for (let index = 0; index < 100; index++) map.store(`k${index}`, index);
    const { state } = await read(map.subscribe());
    for (let index = 0; index < 1_000; index++) map.store(`k${index}`, -1);
    map.delete('k7');
    expect([state.size, state.get('k7'), state.get('k500')]).toEqual([100, 7, undefined]);
    expect([...state.values()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  });

  it('of one version is shared by all subscribers', async () => {
    const map = mapOf({ a: 1 });
    const [first, second] = [map.subscribe(), map.subscribe()];
    expect((await read(first)).state).toBe((await read(second)).state);
  });

  it('is left out after the first snapshot if asked to', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe({ state: false });
    expect(stateOf(await read(subscription))).toEqual({ a: 1 });
    map.store('b', 2);
    const snapshot = await read(subscription);
    expect([snapshot.state.size, brief(snapshot.updates)]).toEqual([0, ['+b=2']]);
  });

  it('of an empty map is delivered too', async () => {
    expect((await read(mapOf({}).subscribe())).state.size).toBe(0);
  });
});

describe('a subscription', () => {
  it('has ended if it starts with an aborted signal', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe({ signal: AbortSignal.abort() });
    expect(await subscription.next()).toEqual(done);
    expect([map.subscriptions, subscription.lag]).toEqual([0, 0]);
  });

  it('has ended, without a snapshot, if it starts on a closed map', async () => {
    const map = mapOf({ a: 1 });
    map.close();
    expect(await map.subscribe().next()).toEqual(done);
  });

  it('drops pending updates when it is aborted before they are delivered', async () => {
    const map = mapOf({});
    const controller = new AbortController();
    const subscription = map.subscribe({ signal: controller.signal });
    await read(subscription);
    const parked = subscription.next();
    map.store('a', 1);
    controller.abort();
    expect(await parked).toEqual(done);
  });

  it('ends before a read made by an earlier listener of the same signal', async () => {
    const map = mapOf({ a: 1 });
    const controller = new AbortController();
    const reads: Promise<unknown>[] = [];
    controller.signal.addEventListener('abort', () => reads.push(subscription.next()));
    const subscription = map.subscribe({ signal: controller.signal });
    controller.abort();
    expect(await reads[0]).toEqual(done);
  });

  it('can be ended inside a loop over the same map', async () => {
    const map = mapOf({ a: 1 });
    let passes = 0;
    for await (const _snapshot of map.subscribe()) {
      passes++;
      map.close();
    }
    expect(passes).toBe(1);
  });

  it('leaves nothing registered, however it ends', async () => {
    const map = mapOf({ a: 1 });
    for await (const _snapshot of map.subscribe()) break;
    expect(map.subscriptions).toBe(0);
    const failing = async (): Promise<void> => {
      for await (const _snapshot of map.subscribe()) throw new Error('mine');
    };
    await expect(failing()).rejects.toThrow('mine');
    expect(map.subscriptions).toBe(0);
    const disposed = map.subscribe();
    expect(map.subscriptions).toBe(1);
    await disposed[Symbol.asyncDispose]();
    expect(map.subscriptions).toBe(0);
    const controller = new AbortController();
    map.subscribe({ signal: controller.signal });
    controller.abort();
    expect(map.subscriptions).toBe(0);
  });

  it('finishes parked and later reads after return', async () => {
    const subscription = mapOf({}).subscribe();
    await read(subscription);
    const parked = [subscription.next(), subscription.next()];
    expect(await subscription.return!()).toEqual(done);
    expect(await Promise.all([...parked, subscription.next()])).toEqual([done, done, done]);
  });
});

describe('reading', () => {
  it('serves concurrent reads first come, first served', async () => {
    const map = mapOf({});
    const subscription = map.subscribe();
    const order: string[] = [];
    const reads = ['first', 'second', 'third'].map(async (name) => {
      const { updates } = await read(subscription);
      order.push(`${name} ${brief(updates).join()}`);
    });
    await reads[0];
    map.store('a', 1);
    await reads[1];
    map.store('b', 2);
    await reads[2];
    expect(order).toEqual(['first ', 'second +a=1', 'third +b=2']);
  });

  it('refuses a second loop over one subscription', () => {
    const subscription = mapOf({}).subscribe();
    subscription[Symbol.asyncIterator]();
    expect(() => subscription[Symbol.asyncIterator]()).toThrow(/watchable map "numbers" is already being iterated/);
  });
});

describe('a backlog beyond maxLag', () => {
  const lagging = (maxLag: number): WatchableMap<string, number> => new WatchableMap({ maxLag });

  it('is folded to the last update of each key, in order of last occurrence', async () => {
    const map = lagging(4);
    const subscription = map.subscribe();
    await read(subscription);
    for (const [key, value] of [
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['a', 2],
    ] as const)
      map.store(key, value);
    map.delete('b');
    const snapshot = await read(subscription);
    expect(brief(snapshot.updates)).toEqual(['+c=1', '+a=2', '-b=1']);
    expect(snapshot.coalesced).toBe(true);
    map.store('d', 1);
    expect(await read(subscription)).toMatchObject({ coalesced: false, initial: false });
  });

  it('is not folded up to maxLag', async () => {
    const map = lagging(4);
    const subscription = map.subscribe();
    for (let value = 1; value <= 4; value++) map.store('a', value);
    expect(await read(subscription)).toMatchObject({ coalesced: false, updates: { length: 4 } });
  });

  it('is folded while the reader is away, for each of several readers, and for subsets by their predicate', async () => {
    const map = lagging(100);
    const [first, second] = [map.subscribe(), map.subscribe()];
    const subset = map.subscribe({ include: (key) => key === 'k1' });
    for (let index = 0; index < 5_000; index++) map.store(`k${index % 3}`, index);
    expect(first.lag).toBe(5_000);
    const expected = ['+k0=4998', '+k1=4999', '+k2=4997'];
    expect(brief((await read(first)).updates).toSorted()).toEqual(expected);
    for (let index = 0; index < 5_000; index++) map.store('k0', -index - 1);
    expect(brief((await read(second)).updates).toSorted()).toEqual(['+k0=-5000', ...expected.slice(1)]);
    expect(brief((await read(first)).updates)).toEqual(['+k0=-5000']);
    const snapshot = await read(subset);
    expect([brief(snapshot.updates), Object.fromEntries(snapshot.state)]).toEqual([['+k1=4999'], { k1: 4999 }]);
  });

  it('forgets keys that came and went, so that churn cannot grow it without limit', async () => {
    const map = lagging(100);
    map.store('known', 0);
    const subscription = map.subscribe();
    await read(subscription);
    map.delete('known');
    for (let index = 0; index < 20_000; index++) {
      map.store(`pod-${index}`, index);
      map.delete(`pod-${index}`);
    }
    const { updates } = await read(subscription);
    expect(updates.length).toBeLessThan(2_000);
    expect(brief(updates)).toContain('-known=0');
  });
});
