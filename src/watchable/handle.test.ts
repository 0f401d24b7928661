import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ClosedError, handleSubscription, WatchableMap } from './index.ts';
import type { Logger, Snapshot, StateView, Update, WatchableMetrics } from './index.ts';
import { brief, until } from './testing/streams.ts';

interface Recorder {
  readonly logger: Logger;
  readonly metrics: WatchableMetrics;
  readonly logged: { err: Error; text: string }[];
  readonly counts: Record<string, number>;
  readonly depths: number[];
}

function recorder(): Recorder {
  const counts: Record<string, number> = {};
  const depths: number[] = [];
  const logged: { err: Error; text: string }[] = [];
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  return {
    counts,
    depths,
    logged,
    logger: { error: (fields, text) => logged.push({ err: (fields as { err: Error }).err, text }) },
    metrics: {
      published: () => count('published'),
      event: (_labels, type) => count(type),
      succeeded: () => count('succeeded'),
      failed: (_labels, reason) => count(`failed ${reason}`),
      panicRecovered: () => count('panics'),
      duration: (_labels, seconds) => count(seconds >= 0 ? 'durations' : 'negative'),
      depth: (_labels, mutations) => depths.push(mutations),
    },
  };
}

const labels = { runner: 'test', message: 'numbers' };
const mapOf = (entries: Record<string, number>): WatchableMap<string, number> => {
  const map = new WatchableMap<string, number>();
  for (const [key, value] of Object.entries(entries)) map.store(key, value);
  return map;
};

describe('as in Go, HandleSubscription', () => {
  it('already closed stream: the handler is never called', async () => {
    const map = mapOf({ a: 1 });
    map.close();
    let calls = 0;
    await handleSubscription(map.subscribe(), () => void calls++, labels);
    expect(calls).toBe(0);
  });

  it('panic in the handler: called for existing and for later entries, although both calls throw', async () => {
    const map = mapOf({ a: 1 });
    const { logger, metrics, logged, counts } = recorder();
    const calls: string[] = [];
    const loop = handleSubscription(
      map.subscribe(),
      (update) => {
        calls.push(...brief([update]));
        throw new Error(`boom ${update.key}`);
      },
      { ...labels, logger, metrics },
    );
    await until(() => calls.length === 1);
    map.store('b', 2);
    await until(() => calls.length === 2);
    map.close();
    await loop;
    expect(calls).toEqual(['+a=1', '+b=2']);
    expect(logged.map(({ err }) => err.message)).toEqual(['boom a', 'boom b']);
    expect(logged[0]!.err.stack).toContain('handle.test.ts');
    expect(counts).toEqual({ update: 2, 'failed panic': 2, panics: 2, durations: 2 });
  });

  it('already initialised: one delete and at most two stores for a burst with no-ops', async () => {
    const map = mapOf({ foo: 1 });
    const calls: string[] = [];
    const loop = handleSubscription(map.subscribe(), (update) => void calls.push(...brief([update])), labels);
    await until(() => calls.length === 1);
    map.store('baz', 2);
    map.delete('qux');
    map.store('foo', 1);
    map.delete('baz');
    await until(() => calls.some((call) => call.startsWith('-')));
    map.close();
    await loop;
    expect(calls).toEqual(['+foo=1', '-baz=2']);
  });

  const sorted = (names: string[]): string[] => names.toSorted();
  const resources: [string, string[], string[], number][] = [
    ['classes reordered', ['c1', 'c2'], ['c2', 'c1'], 1],
    ['a class added', ['c1', 'c2'], ['c2', 'c1', 'c3'], 2],
    ['nested gateways reordered', ['c1/g1', 'c1/g2'], ['c1/g2', 'c1/g1'], 1],
    ['a nested gateway added', ['c1/g1'], ['c1/g2', 'c1/g1'], 2],
    ['counts that differ both ways', ['c1/g1', 'c2/g1'], ['c2/g2', 'c1/g1', 'c2/g1'], 2],
  ];
  it.each(resources)('controller resource update: %s', async (_name, before, after, calls) => {
    const map = new WatchableMap<string, string[]>();
    const handled: string[][] = [];
    map.store('controller', sorted(before));
    const loop = handleSubscription(
      map.subscribe(),
      (update) => {
        handled.push(update.value);
        if (handled.length === 2) map.close();
      },
      labels,
    );
    await until(() => handled.length === 1);
    expect(map.store('controller', sorted(after))).toBe(calls === 2);
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    map.close();
    await loop;
    expect(handled).toEqual([sorted(before), sorted(after)].slice(0, calls));
  });

  it('values that differ only in what their equality ignores are equal both ways', () => {
    const equals = (a: { ir: number; trace: string }, b: { ir: number; trace: string }): boolean => a.ir === b.ir;
    for (const [first, second] of [
      ['x', 'y'],
      ['y', 'x'],
    ] as const) {
      const map = new WatchableMap<string, { ir: number; trace: string }>({ equals });
      map.store('ir', { ir: 1, trace: first });
      expect(map.store('ir', { ir: 1, trace: second })).toBe(false);
    }
  });

  it('sweeping: nothing for empty input, then exactly the unmarked keys, null values included', () => {
    const map = new WatchableMap<string, number | null>();
    expect(map.replaceAll([])).toEqual({ stored: 0, deleted: 0, unchanged: 0 });
    map.replaceAll([
      ['a', 1],
      ['b', null],
      ['c', 3],
    ]);
    expect(map.replaceAll([['a', 1]])).toEqual({ stored: 0, deleted: 2, unchanged: 1 });
    expect(map.replaceAll([])).toEqual({ stored: 0, deleted: 1, unchanged: 0 });
  });

  it('runner data race: no handler runs after the loop has returned, even if the map is closed at once', async () => {
    for (const delay of [0, 1, 5]) {
      const map = mapOf({ a: 1, b: 2 });
      let running = 0;
      const loop = handleSubscription(
        map.subscribe(),
        async () => {
          running++;
          await setImmediate();
          running--;
        },
        labels,
      );
      for (let turn = 0; turn < delay; turn++) await setImmediate();
      map.close();
      await loop;
      expect(running).toBe(0);
    }
  });
});

describe('coalescing', () => {
  async function* snapshots(updates: Update<string, number>[]): AsyncIterable<Snapshot<string, number>> {
    const state: StateView<string, number> = new WatchableMap<string, number>().loadAll();
    await Promise.resolve();
    yield { state, updates: [], initial: true, coalesced: false, version: 0 };
    yield { state, updates, initial: false, coalesced: false, version: updates.length };
  }
  const put = (key: string, value: number): Update<string, number> => ({ key, delete: false, value });
  const drop = (key: string, value: number): Update<string, number> => ({ key, delete: true, value });

  const cases: [string, Update<string, number>[], string[]][] = [
    ['empty stays empty', [], []],
    ['distinct keys stay in order', [put('a', 1), put('b', 2), drop('c', 3)], ['+a=1', '+b=2', '-c=3']],
    [
      'the last operation per key, in order of last occurrence',
      [put('a', 1), put('b', 1), drop('a', 1), put('c', 1), put('b', 2), put('a', 2)],
      ['+c=1', '+b=2', '+a=2'],
    ],
  ];
  it.each(cases)('%s', async (_name, updates, expected) => {
    const calls: string[] = [];
    await handleSubscription(snapshots(updates), (update) => void calls.push(...brief([update])), labels);
    expect(calls).toEqual(expected);
  });

  it('tells object keys apart by their codec', async () => {
    const map = new WatchableMap<{ name: string }, number>({ key: ({ name }) => name });
    const calls: number[] = [];
    const loop = handleSubscription(map.subscribe(), ({ value }) => void calls.push(value), labels);
    await setImmediate();
    for (const value of [1, 2, 3]) {
      map.store({ name: 'a' }, value);
      map.delete({ name: 'a' });
    }
    map.store({ name: 'a' }, 4);
    await until(() => calls.length > 0);
    map.close();
    await loop;
    expect(calls).toEqual([4]);
  });
});

describe('handleSubscription', () => {
  it('replays the first state once and ignores its updates', async () => {
    const map = mapOf({ a: 1 });
    const subscription = map.subscribe();
    map.store('b', 2);
    map.delete('a');
    const calls: string[] = [];
    const { metrics, depths } = recorder();
    const loop = handleSubscription(subscription, (update) => void calls.push(...brief([update])), {
      ...labels,
      metrics,
    });
    await until(() => depths.length === 2);
    map.close();
    await loop;
    expect([calls, depths]).toEqual([['+b=2'], [2, 0]]);
  });

  it('takes the next snapshot when all calls have finished, so that updates coalesce for a slow handler', async () => {
    const map = mapOf({ a: 0 });
    const calls: number[] = [];
    const { metrics, depths } = recorder();
    const loop = handleSubscription(
      map.subscribe(),
      async ({ value }) => {
        calls.push(value);
        if (value === 0) for (let next = 1; next <= 80; next++) map.store('a', next);
        await setImmediate();
      },
      { ...labels, metrics },
    );
    await until(() => calls.length === 2);
    map.close();
    await loop;
    expect([calls, depths.slice(0, 2)]).toEqual([
      [0, 80],
      [0, 80],
    ]);
  });

  it('counts a reported error as a failure and not as a success', async () => {
    const map = mapOf({ a: 1, b: 2 });
    const { logger, metrics, logged, counts } = recorder();
    const loop = handleSubscription(
      map.subscribe(),
      ({ key }, { error }) => {
        if (key === 'a') error('not fatal');
      },
      { ...labels, logger, metrics },
    );
    await until(() => counts['succeeded'] === 1);
    map.close();
    await loop;
    expect(logged.map(({ err }) => err.message)).toEqual(['not fatal']);
    expect(counts).toEqual({ update: 2, 'failed error': 1, succeeded: 1, durations: 2 });
  });

  it('ignores an error reported after it has returned', async () => {
    const map = mapOf({ a: 1 });
    const { logger, metrics, logged, counts } = recorder();
    let late: ((error: unknown) => void) | undefined;
    const loop = handleSubscription(map.subscribe(), (_update, { error }) => void (late = error), {
      ...labels,
      logger,
      metrics,
    });
    await until(() => late !== undefined);
    map.close();
    await loop;
    late!(new Error('too late'));
    expect([logged, counts['failed error']]).toEqual([[], undefined]);
  });

  it('treats a ClosedError as shutdown after the subscription has ended, and as a failure before', async () => {
    const output = mapOf({});
    output.close();
    const { logger, metrics, counts } = recorder();
    const controller = new AbortController();
    const map = mapOf({ early: 1 });
    const loop = handleSubscription(
      map.subscribe({ signal: controller.signal }),
      ({ key, value }, { signal }) => {
        expect(signal).toBe(controller.signal);
        if (key === 'late') controller.abort();
        output.store(key, value);
      },
      { ...labels, logger, metrics },
    );
    await until(() => counts['panics'] === 1);
    map.store('late', 2);
    await loop;
    expect(counts).toEqual({ update: 2, 'failed panic': 1, panics: 1, durations: 2 });
    expect(() => output.store('x', 1)).toThrow(ClosedError);
  });

  it('skips the remaining updates after an abort', async () => {
    const controller = new AbortController();
    const calls: string[] = [];
    await handleSubscription(
      mapOf({ a: 1, b: 2, c: 3 }).subscribe({ signal: controller.signal }),
      ({ key }) => {
        calls.push(key);
        if (key === 'b') controller.abort();
      },
      labels,
    );
    expect(calls).toEqual(['a', 'b']);
  });

  it('lets a handler close its own map, and still handles the rest of the snapshot', async () => {
    const map = mapOf({ a: 1, b: 2 });
    const calls: string[] = [];
    await handleSubscription(
      map.subscribe(),
      ({ key }) => {
        calls.push(key);
        map.close();
      },
      labels,
    );
    expect(calls).toEqual(['a', 'b']);
  });

  it('runs different keys in parallel up to its concurrency, and never one key twice at once', async () => {
    const map = mapOf(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 0])));
    const running = new Map<string, number>();
    let most = 0;
    let overlap = 0;
    let calls = 0;
    const loop = handleSubscription(
      map.subscribe(),
      async ({ key }) => {
        calls++;
        running.set(key, (running.get(key) ?? 0) + 1);
        if (running.get(key)! > 1) overlap++;
        most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
        if (calls < 40) map.store(key, calls);
        await setImmediate();
        running.set(key, running.get(key)! - 1);
      },
      { ...labels, concurrency: 4 },
    );
    await until(() => calls >= 40);
    map.close();
    await loop;
    expect([most, overlap]).toEqual([4, 0]);
  });

  it('rejects with the error of a failing predicate, and for an invalid concurrency', async () => {
    const include = (): boolean => {
      throw new Error('bad predicate');
    };
    await expect(handleSubscription(mapOf({ a: 1 }).subscribe({ include }), () => {}, labels)).rejects.toThrow(
      'bad predicate',
    );
    const subscription = mapOf({}).subscribe();
    await expect(handleSubscription(subscription, () => {}, { ...labels, concurrency: 0 })).rejects.toThrow(
      /concurrency is 0/,
    );
  });

  it('merges a delete and a re-creation into one store, so a handler that must notice compares uids', async () => {
    const map = new WatchableMap<string, { uid: string }>();
    map.store('pod', { uid: 'first' });
    const calls: string[] = [];
    const loop = handleSubscription(map.subscribe(), (update) => void calls.push(...brief([update])), labels);
    await until(() => calls.length === 1);
    map.delete('pod');
    map.store('pod', { uid: 'second' });
    await until(() => calls.length === 2);
    map.close();
    await loop;
    expect(calls).toEqual(['+pod={"uid":"first"}', '+pod={"uid":"second"}']);
  });
});
