import { execFile } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { combine, WatchableMap } from './index.ts';
import type { Grown } from './testing/heap.ts';

describe('listeners and subscriptions', () => {
  it('do not leak when 100,000 subscriptions come and go on one long-lived signal', async () => {
    const map = new WatchableMap<string, number>();
    map.store('a', 1);
    const { signal } = new AbortController();
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
  let grown: Grown;
  beforeAll(async () => {
    const program = fileURLToPath(new URL('./testing/heap.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program]);
    grown = JSON.parse(stdout) as Grown;
  });

  it('does not grow when 100,000 subscriptions come and go on one long-lived signal', () => {
    expect(grown.subscriptionsThatComeAndGo).toBeLessThan(1);
  });

  it('frees replaced values while they are young, once all subscribers have read them, also after one lagged', () => {
    expect(grown.valuesThatAllHaveReadAfterOneLagged).toBeLessThan(1);
  });

  it('does not grow without subscribers', () => {
    expect(grown.noSubscribers).toBeLessThan(1);
  });

  it('does not grow with subscribers that never read', () => {
    expect(grown.subscribersThatNeverRead).toBeLessThan(4);
  });

  it('does not grow while snapshots and ended subscriptions are still referenced', () => {
    expect(grown.snapshotsThatAreKept).toBeLessThan(1);
  });
});
