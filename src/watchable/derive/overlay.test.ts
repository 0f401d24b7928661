import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { derive, deriveAsync, Overlay, Tracker, WatchableMap } from '../index.ts';
import type { Readable } from '../index.ts';

interface Route {
  readonly host: string;
  readonly weight: number;
}

const route = (host: string, weight: number): Route => ({ host, weight });
const microtask = (): Promise<void> => Promise.resolve();

/** Routes, the weight of each host, and the hosts that carry much. */
function world() {
  const routes = new WatchableMap<string, Route>({ name: 'routes', indexes: { host: ({ host }) => [host] } });
  let computed = 0;
  const weights = derive(
    'weights',
    (read, host: string) => {
      computed++;
      return read.index(routes, 'host', host).reduce((sum, { weight }) => sum + weight, 0);
    },
    { keys: (read) => new Set(read.list(routes).map(({ host }) => host)) },
  );
  const busy = derive('busy', (read, host: string) => read.get(weights, host)! > 5 || undefined, { keys: weights });
  const doubled = derive('doubled', (read, key: string) => (read.get(routes, key)?.weight ?? -1) * 2, { keys: routes });
  return { routes, weights, busy, doubled, computed: () => computed };
}

/** Everything that can be read of a map. */
function contents<V>(map: Readable<string, V>, keys: readonly string[]): unknown {
  const values = map.list();
  return {
    values,
    keys: [...map.keys()].sort(),
    size: map.size,
    each: keys.map((key) => [map.load(key), map.has(key)]),
    matching: map.list({ matches: (value) => value === values[0] }),
  };
}

describe('an overlay', () => {
  it('adds, changes and deletes entries, in lists and indexes too, and leaves the original unchanged', () => {
    const { routes } = world();
    routes.store('a', route('shop', 1));
    routes.store('b', route('shop', 2));
    routes.store('d', route('blog', 4));
    const overlay = new Overlay();
    overlay.store(routes, 'c', route('shop', 3));
    overlay.store(routes, 'a', route('blog', 1));
    overlay.delete(routes, 'b');
    const overlaid = overlay.of(routes);
    expect(overlaid.load('a')).toEqual(route('blog', 1));
    expect([...overlaid.keys()]).toEqual(['a', 'c', 'd']);
    expect(overlaid.list({ index: ['host', 'shop'] })).toEqual([route('shop', 3)]);
    expect(overlaid.list({ index: ['host', 'blog'], matches: ({ weight }) => weight > 1 })).toEqual([route('blog', 4)]);
    expect([overlaid.size, overlaid.has('b')]).toEqual([3, false]);
    expect(routes.list({ index: ['host', 'shop'] })).toEqual([route('shop', 1), route('shop', 2)]);
  });

  it('finds entries by an index without indexing the others again, and follows later changes', () => {
    let asked = 0;
    const byHost = ({ host }: Route): string[] => [host].slice(0, ++asked);
    const routes = new WatchableMap<string, Route>({ name: 'routes', indexes: { host: byHost } });
    const overlay = new Overlay();
    for (let i = 0; i < 1_000; i++) overlay.store(routes, `r${i}`, route(`host-${i}`, i));
    const on = (host: string): readonly Route[] => overlay.of(routes).list({ index: ['host', host] });
    expect(on('host-1')).toEqual([route('host-1', 1)]);
    asked = 0;
    for (let i = 0; i < 1_000; i++) expect(on(`host-${i}`)).toHaveLength(1);
    expect(asked).toBe(0);
    overlay.store(routes, 'r1', route('host-2', 1));
    overlay.delete(routes, 'r3');
    expect(['host-1', 'host-2', 'host-3'].map((host) => on(host).length)).toEqual([0, 2, 0]);
  });

  it('has derived maps of its own, and does not wake readers of the originals', async () => {
    const { routes, weights, busy, computed } = world();
    routes.store('a', route('shop', 1));
    let woken = 0;
    const tracker = new Tracker<string>({ wake: () => woken++ });
    tracker.track('reader', (read) => [read.list(weights), read.list(busy)]);
    const before = computed();
    const overlay = new Overlay();
    overlay.store(routes, 'b', route('shop', 10));
    expect(overlay.read.list(weights)).toEqual([11]);
    expect([...overlay.of(busy).keys()]).toEqual(['shop']);
    expect(overlay.of(overlay.of(weights))).toBe(overlay.of(weights));
    expect(computed()).toBe(before + 1);
    expect(weights.list()).toEqual([1]);
    await microtask();
    tracker.deliver();
    expect([woken, computed()]).toEqual([0, before + 1]);
    tracker.close();
  });

  it('follows the originals, and wakes its readers', () => {
    const { routes, busy } = world();
    const overlay = new Overlay();
    const names: string[] = [];
    const tracker = new Tracker<string>({ overlay, wake: (name) => names.push(name) });
    const follow = (): readonly true[] => tracker.track('reader', (read) => read.list(busy));
    overlay.store(routes, 'a', route('shop', 1));
    expect(follow()).toEqual([]);
    routes.store('b', route('shop', 8));
    tracker.deliver();
    expect(names).toEqual(['reader']);
    expect(follow()).toEqual([true]);
    // The overlay hides this change.
    routes.store('a', route('shop', 100));
    tracker.deliver();
    expect(names).toEqual(['reader']);
    overlay.delete(routes, 'b');
    tracker.deliver();
    expect(names).toEqual(['reader', 'reader']);
    expect(follow()).toEqual([]);
    tracker.close();
  });

  it('rejects entries for derived maps, which are computed', () => {
    const { weights } = world();
    expect(() => new Overlay().store(weights, 'shop', 1)).toThrow('a derived map follows from others: overlay those');
  });

  it('computes asynchronous values separately from the originals', async () => {
    const inputs = new WatchableMap<string, string>();
    const runs: string[] = [];
    const slow = deriveAsync(
      'slow',
      (read, key: string) => read.get(inputs, key),
      async (input) => (runs.push(input), input.toUpperCase()),
    );
    inputs.store('x', 'real');
    const overlay = new Overlay();
    overlay.store(inputs, 'x', 'imagined');
    const tracker = new Tracker<string>({ wake: () => {}, overlay });
    const real = new Tracker<string>({ wake: () => {} });
    real.track('reader', (read) => read.get(slow, 'x'));
    tracker.track('reader', (read) => read.get(slow, 'x'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(slow.load('x')).toEqual({ state: 'ready', value: 'REAL' });
    expect(overlay.read.get(slow, 'x')).toEqual({ state: 'ready', value: 'IMAGINED' });
    expect(runs).toEqual(['real', 'imagined']);
    tracker.close();
    real.close();
  });
});

describe('an overlay, for every interleaving,', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const value = fc.record({ host: fc.constantFrom('shop', 'blog', 'news'), weight: fc.nat(8) });
  const step = fc.record({ imagined: fc.boolean(), key, value: fc.option(value), read: fc.boolean() });

  it('reads as if its changes had been made, and leaves the originals unchanged', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, isTracked) => {
        const [actual, untouched, changed] = [world(), world(), world()];
        const overlay = new Overlay();
        const tracker = new Tracker<string>({ wake: () => {}, overlay });
        const hidden = new Set<string>();
        for (const action of steps) {
          const { imagined } = action;
          const write = (map: WatchableMap<string, Route>): unknown =>
            action.value === null ? map.delete(action.key) : map.store(action.key, action.value);
          if (!imagined) {
            write(actual.routes);
            write(untouched.routes);
          } else if (action.value === null) overlay.delete(actual.routes, action.key);
          else overlay.store(actual.routes, action.key, action.value);
          if (imagined) hidden.add(action.key);
          if (imagined || !hidden.has(action.key)) write(changed.routes);
          if (!action.read) continue;
          const keys = ['a', 'b', 'c', 'd', 'shop', 'blog', 'news'];
          for (const name of ['routes', 'weights', 'busy', 'doubled'] as const) {
            const map = actual[name] as Readable<string, unknown>;
            if (isTracked) tracker.track(name, (read) => [read.list(map), read.keys(map)]);
            const mine = overlay.of(map);
            expect(contents(mine, keys)).toEqual(contents<unknown>(changed[name], keys));
            expect(contents(map, keys)).toEqual(contents<unknown>(untouched[name], keys));
          }
        }
        tracker.close();
      }),
      { numRuns: 100 },
    );
  });
});
