import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { combine, WatchableMap } from './index.ts';
import type { ReadonlyWatchable } from './index.ts';
import { brief, isWaiting, read } from './testing/streams.ts';

const pair = (): { routes: WatchableMap<string, number>; hosts: WatchableMap<string, string> } => {
  const maps = { routes: new WatchableMap<string, number>(), hosts: new WatchableMap<string, string>() };
  maps.routes.store('r', 1);
  maps.hosts.store('h', 'one');
  return maps;
};

describe('combine', () => {
  it('emits one initial element with all maps', async () => {
    const maps = pair();
    const stream = combine(maps);
    const first = await read(stream);
    expect(first.initial).toBe(true);
    expect([...first.changed]).toEqual(['routes', 'hosts']);
    expect([...first.state.routes, ...first.state.hosts]).toEqual([
      ['r', 1],
      ['h', 'one'],
    ]);
    expect(first.updates).toEqual({ routes: [], hosts: [] });
    expect(await isWaiting(stream.next())).toBe(true);
    await stream.return!();
  });

  it('emits one element for changes of two maps in one synchronous run', async () => {
    const maps = pair();
    const stream = combine(maps);
    await read(stream);
    const parked = read(stream);
    maps.routes.store('r', 2);
    maps.hosts.delete('h');
    const element = await parked;
    expect([...element.changed]).toEqual(['routes', 'hosts']);
    expect([brief(element.updates.routes), brief(element.updates.hosts)]).toEqual([['+r=2'], ['-h="one"']]);
    expect(await isWaiting(stream.next())).toBe(true);
    await stream.return!();
  });

  it('names the map that changed, and carries the state of the other', async () => {
    const maps = pair();
    const stream = combine(maps);
    await read(stream);
    maps.hosts.store('h', 'two');
    const element = await read(stream);
    expect([...element.changed]).toEqual(['hosts']);
    expect(element.updates.routes).toEqual([]);
    expect([element.initial, element.state.routes.get('r'), element.state.hosts.get('h')]).toEqual([false, 1, 'two']);
  });

  it('is always consistent: maps changed together are never seen with only one of the changes', async () => {
    const maps = { a: new WatchableMap<string, number>(), b: new WatchableMap<string, number>() };
    const torn: unknown[] = [];
    let seen = -1;
    const consume = async (): Promise<void> => {
      for await (const { state } of combine(maps)) {
        if (state.a.get('n') !== state.b.get('n')) torn.push([state.a.get('n'), state.b.get('n')]);
        seen = state.a.get('n') ?? -1;
        if (seen === 499) break;
      }
    };
    const consumer = consume();
    for (let n = 0; n < 500; n++) {
      maps.a.store('n', n);
      maps.b.store('n', n);
      if (n % 3 === 0) await Promise.resolve();
      if (n % 50 === 0) await setImmediate();
    }
    await consumer;
    expect([torn, seen, maps.a.subscriptions, maps.b.subscriptions]).toEqual([[], 499, 0, 0]);
  });

  it('drops a closed source, keeps its last state, and ends with the last source', async () => {
    const maps = pair();
    const stream = combine(maps);
    await read(stream);
    const parked = stream.next();
    maps.hosts.close();
    expect(await isWaiting(parked)).toBe(true);
    maps.routes.store('r', 2);
    const element = await parked;
    expect(element.done !== true && element.value.state.hosts.get('h')).toBe('one');
    const last = stream.next();
    maps.routes.close();
    expect((await last).done).toBe(true);
  });

  it('includes the final state of a map that is already closed, and ends at once when all are closed', async () => {
    const maps = pair();
    maps.hosts.close();
    expect((await read(combine(maps))).state.hosts.get('h')).toBe('one');
    maps.routes.close();
    expect((await combine(maps).next()).done).toBe(true);
  });

  it('leaves nothing registered after break, abort or dispose', async () => {
    const maps = pair();
    const registered = (): number => maps.routes.subscriptions + maps.hosts.subscriptions;
    for await (const _element of combine(maps)) break;
    expect(registered()).toBe(0);
    const controller = new AbortController();
    const stream = combine(maps, { signal: controller.signal });
    expect(registered()).toBe(2);
    await read(stream);
    const parked = stream.next();
    maps.routes.store('r', 9);
    controller.abort();
    expect((await parked).done).toBe(true);
    await combine(maps)[Symbol.asyncDispose]();
    expect(registered()).toBe(0);
    expect((await combine(maps, { signal: AbortSignal.abort() }).next()).done).toBe(true);
  });

  it('waits until changes settle if asked to, but not for the first element', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const maps = pair();
      const stream = combine(maps, { settleMs: 50 });
      expect((await read(stream)).initial).toBe(true);
      maps.routes.store('r', 2);
      const parked = stream.next();
      await setImmediate();
      vi.advanceTimersByTime(40);
      maps.routes.store('r', 3);
      await setImmediate();
      vi.advanceTimersByTime(40);
      expect(await isWaiting(parked)).toBe(true);
      vi.advanceTimersByTime(20);
      const element = await parked;
      expect(element.done !== true && brief(element.value.updates.routes)).toEqual(['+r=2', '+r=3']);
      maps.hosts.store('h', 'two');
      const second = stream.next();
      expect(await isWaiting(second)).toBe(true);
      vi.advanceTimersByTime(50);
      expect((await second).done).toBe(false);
      maps.hosts.store('h', 'three');
      await setImmediate();
      await stream.return!();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects objects that are not watchable maps, and a negative settleMs', () => {
    const map = new WatchableMap<string, number>();
    const impostor = {
      loadAll: () => map.loadAll(),
      subscribe: () => Object.create(null) as never,
    } as unknown as ReadonlyWatchable<string, number>;
    expect(() => combine({ map, impostor })).toThrow(/combine: "impostor" does not subscribe to a WatchableMap/);
    expect(map.subscriptions).toBe(0);
    expect(() => combine({ map }, { settleMs: -1 })).toThrow(/settleMs is -1/);
  });
});
