import { describe, expect, it } from 'vitest';
import { WatchableMap } from './index.ts';
import type { Subscription } from './index.ts';
import { brief, isWaiting, read } from './testing/streams.ts';

const big = (_key: string, value: number): boolean => value >= 10;

async function start(
  entries: Record<string, number>,
): Promise<{ map: WatchableMap<string, number>; subscription: Subscription<string, number> }> {
  const map = new WatchableMap<string, number>();
  for (const [key, value] of Object.entries(entries)) map.store(key, value);
  const subscription = map.subscribe({ include: big });
  expect((await read(subscription)).initial).toBe(true);
  return { map, subscription };
}

describe('as in Go, SubscribeSubset', () => {
  it('the first snapshot is filtered, and delivered even when empty', async () => {
    const map = new WatchableMap<string, number>();
    expect((await read(map.subscribe({ include: big }))).state.size).toBe(0);
    map.store('small', 1);
    map.store('big', 10);
    expect([...(await read(map.subscribe({ include: big }))).state]).toEqual([['big', 10]]);
  });

  it('an equal store produces nothing', async () => {
    const { map, subscription } = await start({ big: 10 });
    const parked = subscription.next();
    map.store('big', 10);
    expect(await isWaiting(parked)).toBe(true);
    map.close();
  });

  it('an overwrite produces one update', async () => {
    const { map, subscription } = await start({ big: 10 });
    map.store('big', 11);
    expect(brief((await read(subscription)).updates)).toEqual(['+big=11']);
  });

  it('a value that stops matching is a delete carrying the last matching one, and leaves the state', async () => {
    const { map, subscription } = await start({ big: 10 });
    map.store('big', 1);
    const snapshot = await read(subscription);
    expect([brief(snapshot.updates), snapshot.state.size]).toEqual([['-big=10'], 0]);
  });

  it('Close ends the stream, and one opened later has ended', async () => {
    const { map, subscription } = await start({});
    const parked = subscription.next();
    map.close();
    expect((await parked).done).toBe(true);
    expect((await map.subscribe({ include: big }).next()).done).toBe(true);
  });
});

describe('a change seen through a subset', () => {
  const cases: [string, Record<string, number>, (map: WatchableMap<string, number>) => void, string[]][] = [
    ['absent to included', {}, (map) => map.store('a', 10), ['+a=10']],
    ['excluded to included', { a: 1 }, (map) => map.store('a', 10), ['+a=10']],
    ['included to included', { a: 10 }, (map) => map.store('a', 11), ['+a=11']],
    ['included to excluded', { a: 10 }, (map) => map.store('a', 1), ['-a=10']],
    ['included to deleted', { a: 10 }, (map) => map.delete('a'), ['-a=10']],
    ['out and in again', { a: 10 }, (map) => [map.store('a', 1), map.store('a', 12)], ['-a=10', '+a=12']],
  ];
  it.each(cases)('%s', async (_name, before, change, expected) => {
    const { map, subscription } = await start(before);
    change(map);
    const snapshot = await read(subscription);
    expect(brief(snapshot.updates)).toEqual(expected);
    expect(snapshot.state.toMap()).toEqual(map.loadAllMatching(big));
  });

  const silent: [string, (map: WatchableMap<string, number>) => void][] = [
    ['excluded to excluded', (map) => map.store('a', 2)],
    ['absent to excluded', (map) => map.store('b', 2)],
    ['excluded to deleted', (map) => map.delete('a')],
  ];
  it.each(silent)('%s does not wake the reader', async (_name, change) => {
    const { map, subscription } = await start({ a: 1 });
    const parked = subscription.next();
    change(map);
    expect(await isWaiting(parked)).toBe(true);
    map.store('c', 10);
    expect(brief((await parked).value.updates)).toEqual(['+c=10']);
  });
});

describe('the predicate', () => {
  it('is called once per entry and once per store; membership is remembered when its answer changes', async () => {
    const map = new WatchableMap<string, number>();
    map.store('a', 1);
    const asked: string[] = [];
    let open = true;
    const subscription = map.subscribe({
      include: (key, value) => {
        asked.push(`${key}=${value}`);
        return open;
      },
    });
    open = false;
    expect([...(await read(subscription)).state]).toEqual([['a', 1]]);
    map.store('b', 2);
    map.delete('a');
    expect(brief((await read(subscription)).updates)).toEqual(['-a=1']);
    expect(asked).toEqual(['a=1', 'b=2']);
  });

  it('ends only its own subscription, with the error, when it throws', async () => {
    const map = new WatchableMap<string, number>();
    const include = (_key: string, value: number): boolean => {
      if (value === 13) throw new Error('unlucky');
      return true;
    };
    const [failing, other] = [map.subscribe({ include }), map.subscribe()];
    await Promise.all([read(failing), read(other)]);
    const parked = [failing.next(), failing.next()];
    map.store('a', 13);
    await expect(parked[0]).rejects.toThrow('unlucky');
    expect((await parked[1])!.done).toBe(true);
    expect((await failing.next()).done).toBe(true);
    expect(brief((await read(other)).updates)).toEqual(['+a=13']);
    expect(map.subscriptions).toBe(1);
    const fromTheStart = map.subscribe({ include });
    await expect(fromTheStart.next()).rejects.toThrow('unlucky');
    expect((await fromTheStart.next()).done).toBe(true);
  });

  it('may read, write and close the same map', async () => {
    const map = new WatchableMap<string, number>();
    const subscription = map.subscribe({
      include: (key) => {
        if (key === 'close') map.close();
        else map.store(`${key}${key}`.slice(0, 4), map.size);
        return true;
      },
    });
    await read(subscription);
    map.store('a', 1);
    expect(brief((await read(subscription)).updates)).toEqual(['+a=1']);
    expect(brief((await read(subscription)).updates)).toEqual(['+aa=1']);
    map.store('close', 1);
    expect((await subscription.next()).done).toBe(true);
  });
});
