import { describe, expect, it } from 'vitest';
import { combine, CycleError, derive, Tracker, WatchableMap } from '../index.ts';
import type { DerivedMap, Lookup, Read } from '../index.ts';
import { SOURCE } from '../reads/read.ts';
import { brief, isWaiting, read as next } from '../testing/streams.ts';

interface Route {
  readonly host: string;
  readonly weight: number;
}

const route = (host: string, weight: number): Route => ({ host, weight });
const microtask = (): Promise<void> => Promise.resolve();

/** Routes and what is derived from them; `computed` has one line for each computation. */
function world() {
  const routes = new WatchableMap<string, Route>({ name: 'routes', indexes: { host: ({ host }) => [host] } });
  const computed: string[] = [];
  const weights = derive('weights', (read, host: string) => {
    computed.push(`weights ${host}`);
    return read.index(routes, 'host', host).reduce((sum, { weight }) => sum + weight, 0);
  });
  const isBusy = derive('isBusy', (read, host: string) => {
    computed.push(`isBusy ${host}`);
    return read.get(weights, host)! > 10;
  });
  const heavy: DerivedMap<string, Route> = derive(
    'heavy',
    (read, name: string) => {
      computed.push(`heavy ${name}`);
      const { host, weight } = read.get(routes, name)!;
      return weight < 5 ? undefined : route(host, Math.min(weight, 9));
    },
    { keys: routes, indexes: { host: ({ host }) => [host] } },
  );
  return { routes, weights, isBusy, heavy, computed };
}

/** Reads once and stays a reader; `woken` returns how often it was woken. */
function follow(run: (read: Read) => unknown): { woken: () => number; stop: () => void } {
  let count = 0;
  const tracker = new Tracker<string>({ wake: () => count++ });
  tracker.track('follower', run);
  return {
    woken: () => {
      tracker.deliver();
      return count;
    },
    stop: () => tracker.close(),
  };
}

describe('a derived value', () => {
  it('is computed on first read, and again only when something that it read has changed', () => {
    const { routes, isBusy, computed } = world();
    routes.store('a', route('shop', 4));
    expect(computed).toEqual([]);
    follow((read) => read.get(isBusy, 'shop'));
    expect(isBusy.load('shop')).toBe(false);
    expect(computed.splice(0)).toEqual(['isBusy shop', 'weights shop']);
    routes.store('b', route('blog', 40));
    expect(isBusy.load('shop')).toBe(false);
    expect(computed).toEqual([]);
    routes.store('a', route('shop', 40));
    expect(computed).toEqual([]);
    expect(isBusy.load('shop')).toBe(true);
    expect(computed).toEqual(['weights shop', 'isBusy shop']);
  });

  it('wakes nobody and keeps its reference when it is recomputed to an equal value', () => {
    const { routes, computed } = world();
    const hosts = derive('hosts', (read, _key: 'all') => [...new Set(read.list(routes).map(({ host }) => host))]);
    routes.store('a', route('shop', 4));
    const follower = follow((read) => read.get(hosts, 'all'));
    const before = hosts.load('all');
    routes.store('b', route('shop', 5));
    expect(follower.woken()).toBe(0);
    expect(hosts.load('all')).toBe(before);
    routes.store('c', route('blog', 5));
    expect(follower.woken()).toBe(1);
    expect(computed).toEqual([]);
  });

  it('is computed once per change, however many paths lead to it, and never from a mix of old and new', () => {
    const numbers = new WatchableMap<string, number>();
    const twice = derive('twice', (read, key: string) => read.get(numbers, key)! * 2);
    const thrice = derive('thrice', (read, key: string) => read.get(numbers, key)! * 3);
    const seen: number[][] = [];
    const all = derive('all', (read, key: string) => {
      seen.push([read.get(numbers, key)!, read.get(twice, key)!, read.get(thrice, key)!]);
      return seen.length;
    });
    numbers.store('x', 1);
    const follower = follow((read) => read.get(all, 'x'));
    numbers.store('x', 2);
    expect(follower.woken()).toBe(1);
    numbers.store('x', 3);
    expect(all.load('x')).toBe(3);
    expect(seen).toEqual([1, 2, 3].map((x) => [x, x * 2, x * 3]));
  });

  it('does not refresh what it would no longer read', () => {
    const flags = new WatchableMap<string, boolean>();
    const values = new WatchableMap<string, number>();
    let inversions = 0;
    const inverse = derive('inverse', (read, key: string) => {
      inversions++;
      const value = read.get(values, key)!;
      if (value === 0) throw new Error('nothing to divide by');
      return 1 / value;
    });
    const safe = derive('safe', (read, key: string) => (read.get(flags, key) === true ? read.get(inverse, key) : 0));
    flags.store('x', true);
    values.store('x', 2);
    follow((read) => read.get(safe, 'x'));
    flags.store('x', false);
    values.store('x', 0);
    expect(safe.load('x')).toBe(0);
    expect(inversions).toBe(1);
  });

  it('is dropped when its last reader leaves, with everything that was computed for it alone', async () => {
    const { routes, weights, isBusy } = world();
    const one = follow((read) => read.get(isBusy, 'shop'));
    const two = follow((read) => read.get(isBusy, 'shop'));
    one.stop();
    await microtask();
    expect([isBusy.kept, weights.kept]).toEqual([1, 1]);
    two.stop();
    await microtask();
    expect([isBusy.kept, weights.kept]).toEqual([0, 0]);
    expect(routes[SOURCE].topics.isRead).toBe(false);
    isBusy.load('shop');
    expect(isBusy.kept).toBe(1);
    await microtask();
    expect(isBusy.kept).toBe(0);
  });

  it('is frozen unless "isolate" is "none", and rejects what cannot be frozen', () => {
    const objects = derive('objects', (_read, key: string) => ({ key }));
    expect(Object.isFrozen(objects.load('a'))).toBe(true);
    const functions = derive('functions', (_read, key: string) => () => key, { isolate: 'none' });
    expect(functions.load('a')!()).toBe('a');
    expect(() => derive('dates', () => new Date() as unknown).load('a')).toThrow(/which freezing cannot protect/);
  });

  it('throws the new error to indirect readers when only the properties of the error have changed', () => {
    class Missing extends Error {
      readonly what: string;
      constructor(what: string) {
        super('something is missing');
        this.what = what;
      }
    }
    const there = new WatchableMap<string, boolean>();
    const first = derive('first', (read, _key: string): number => {
      for (const what of ['a', 'b']) if (!read.get(there, what)) throw new Missing(what);
      return 1;
    });
    const second = derive('second', (read, key: string) => read.get(first, key));
    const tracker = new Tracker<string>({ wake: () => undefined });
    const missing = (): unknown => {
      try {
        return tracker.track('reader', (read) => read.get(second, 'x'));
      } catch (error) {
        return (error as Missing).what;
      }
    };
    expect(missing()).toBe('a');
    there.store('a', true);
    expect(missing()).toBe('b');
    there.store('b', true);
    expect(missing()).toBe(1);
  });

  it('throws its error to every reader, until something that it read changes', () => {
    const numbers = new WatchableMap<string, number>();
    let runs = 0;
    const roots = derive('roots', (read, key: string) => {
      runs++;
      const number = read.get(numbers, key) ?? 0;
      if (number < 0) throw new RangeError(`${key} is negative`);
      return Math.sqrt(number);
    });
    const careful = derive('careful', (read, key: string) => {
      try {
        return read.get(roots, key);
      } catch {
        return -1;
      }
    });
    numbers.store('x', -4);
    const follower = follow((read) => read.get(careful, 'x'));
    expect(() => roots.load('x')).toThrow('x is negative');
    expect(() => roots.load('x')).toThrow(RangeError);
    expect(runs).toBe(1);
    numbers.store('x', -9);
    expect(follower.woken()).toBe(0);
    numbers.store('x', 9);
    expect(follower.woken()).toBe(1);
    expect(careful.load('x')).toBe(3);
  });

  it('accepts object keys with a codec, and rejects them without one', () => {
    const pairs = derive('pairs', (_read, { a, b }: { a: string; b: string }) => a + b, {
      key: ({ a, b }) => JSON.stringify([a, b]),
    });
    follow((read) => read.get(pairs, { a: 'x', b: 'y' }));
    expect(pairs.load({ b: 'y', a: 'x' })).toBe('xy');
    expect(pairs.kept).toBe(1);
    const plain = derive('plain', (_read, key: object) => key);
    expect(() => plain.load({})).toThrow(
      'derived map "plain" was given an object as key: derive it with the option "key"',
    );
  });
});

describe('a cycle', () => {
  it('is an error that names its path, and ends when one of its values reads something else', () => {
    const parents = new WatchableMap<string, string>();
    const depth: Lookup<string, number> = derive('depth', (read, name: string): number => {
      const parent = read.get(parents, name);
      return parent === undefined ? 0 : read.get(depth, parent)! + 1;
    });
    for (const [child, parent] of [
      ['leaf', 'a'],
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ])
      parents.store(child!, parent!);
    let error: unknown;
    const follower = follow((read) => {
      try {
        return read.get(depth, 'leaf');
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(error).toBeInstanceOf(CycleError);
    expect((error as CycleError).path).toEqual(['depth["a"]', 'depth["b"]', 'depth["c"]', 'depth["a"]']);
    expect(String(error)).toContain('depth["a"] → depth["b"] → depth["c"] → depth["a"]');
    parents.delete('b');
    expect(follower.woken()).toBe(1);
    expect(depth.load('leaf')).toBe(2);
    expect(depth.load('c')).toBe(2);
  });

  it('is detected through the entries of a map and through its keys, too', () => {
    const names = new WatchableMap<string, number>();
    names.store('a', 1);
    const all: DerivedMap<string, number> = derive('all', (read, _key: string) => read.list(all).length, {
      keys: names,
    });
    expect(() => all.list()).toThrow('the entries of all → all["a"] → the entries of all');
    expect(() => all.load('a')).toThrow(CycleError);
    const own: DerivedMap<string, number> = derive('own', () => 1, { keys: (read) => read.keys(own) });
    expect(() => own.list()).toThrow(CycleError);
  });

  it('leaves nothing behind', async () => {
    const switches = new WatchableMap<string, boolean>();
    const left: Lookup<string, number> = derive('left', (read, key: string): number =>
      read.get(switches, key) === true ? read.get(right, key)! : 1,
    );
    const right = derive('right', (read, key: string): number => read.get(left, key)!);
    switches.store('x', true);
    for (const map of [left, right]) {
      const follower = follow((read) => {
        try {
          read.get(map, 'x');
        } catch {}
      });
      switches.store('x', false);
      expect(follower.woken()).toBe(1);
      switches.store('x', true);
      expect(follower.woken()).toBe(2);
      follower.stop();
      await microtask();
      expect(right.kept).toBe(0);
      expect(switches[SOURCE].topics.isRead).toBe(false);
    }
  });
});

describe('a derived map with keys', () => {
  it('is listed and indexed like a watchable map', () => {
    const { routes, heavy } = world();
    routes.store('b', route('shop', 20));
    routes.store('a', route('blog', 7));
    routes.store('c', route('shop', 1));
    expect(heavy.list()).toEqual([route('blog', 7), route('shop', 9)]);
    expect(heavy.list({ index: ['host', 'shop'] })).toEqual([route('shop', 9)]);
    expect(heavy.list({ matches: ({ weight }) => weight < 8 })).toEqual([route('blog', 7)]);
    expect([...heavy.keys()]).toEqual(['a', 'b']);
    expect(heavy.size).toBe(2);
    expect(heavy.has('c')).toBe(false);
    expect(heavy.load('nobody')).toBeUndefined();
    expect(heavy.loadAll().toMap()).toEqual(
      new Map([
        ['a', route('blog', 7)],
        ['b', route('shop', 9)],
      ]),
    );
    expect(heavy.loadAllMatching((key) => key === 'a').size).toBe(1);
  });

  it('recomputes only the entries that a change affects, and wakes only their readers', () => {
    const { routes, heavy, computed } = world();
    for (let number = 0; number < 100; number++) routes.store(`r${number}`, route(`h${number % 10}`, 7));
    const followers = Array.from({ length: 10 }, (_none, host) =>
      follow((read) => read.index(heavy, 'host', `h${host}`)),
    );
    const counts = follow((read) => read.size(heavy));
    expect(computed.splice(0)).toHaveLength(100);
    routes.store('r42', route('h2', 8));
    expect(followers.map(({ woken }) => woken())).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    expect(counts.woken()).toBe(0);
    routes.store('r42', route('h3', 2));
    expect(followers.map(({ woken }) => woken())).toEqual([0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    expect(counts.woken()).toBe(1);
    routes.delete('r43');
    routes.store('r100', route('h0', 3));
    expect(followers.map(({ woken }) => woken())).toEqual([0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
    expect(counts.woken()).toBe(2);
    expect(computed).toEqual(['heavy r42', 'heavy r42', 'heavy r100']);
  });

  it('can take its keys from a function', () => {
    const { routes } = world();
    let runs = 0;
    const hosts = derive('hosts', (read, host: string) => (runs++, read.index(routes, 'host', host).length), {
      keys: (read) => new Set(read.list(routes).map(({ host }) => host)),
    });
    routes.store('a', route('shop', 1));
    const follower = follow((read) => read.list(hosts));
    expect(hosts.list()).toEqual([1]);
    routes.store('b', route('blog', 1));
    expect(follower.woken()).toBe(1);
    expect([...hosts.loadAll()]).toEqual([
      ['shop', 1],
      ['blog', 1],
    ]);
    expect(hosts.load('nobody')).toBeUndefined();
    expect(runs).toBe(2);
    routes.delete('a');
    expect([...hosts.keys()]).toEqual(['blog']);
    expect(runs).toBe(2);
  });

  it('can be subscribed to, alone or combined with its tables, and is consistent with them', async () => {
    const { routes, heavy } = world();
    routes.store('a', route('shop', 7));
    const subscription = heavy.subscribe();
    expect((await next(subscription)).state.toMap()).toEqual(new Map([['a', route('shop', 7)]]));
    const waiting = next(subscription);
    routes.store('b', route('shop', 1));
    expect(await isWaiting(waiting)).toBe(true);
    routes.store('c', route('blog', 70));
    routes.delete('a');
    expect(brief((await waiting).updates).sort()).toEqual([
      '+c={"host":"blog","weight":9}',
      '-a={"host":"shop","weight":7}',
    ]);
    const stream = combine({ routes, heavy });
    await next(stream);
    const element = next(stream);
    routes.store('d', route('shop', 6));
    const { state, changed } = await element;
    expect([...changed]).toEqual(['routes', 'heavy']);
    expect([state.routes.has('d'), state.heavy.has('d')]).toEqual([true, true]);
  });

  it('is never older than the tables, even for the subscriber that is served first', async () => {
    const { routes, heavy } = world();
    const subscription = heavy.subscribe();
    await next(subscription);
    routes.store('a', route('shop', 7));
    const snapshot = next(subscription);
    expect((await snapshot).state.has('a')).toBe(true);
  });

  it('keeps nothing when its last reader has left', async () => {
    const { routes, heavy, computed } = world();
    routes.store('a', route('shop', 7));
    const stopping = new AbortController();
    const subscription = heavy.subscribe({ signal: stopping.signal });
    await next(subscription);
    const follower = follow((read) => read.index(heavy, 'host', 'shop'));
    stopping.abort();
    await microtask();
    expect(routes[SOURCE].topics.isRead).toBe(true);
    follower.stop();
    await microtask();
    expect(routes[SOURCE].topics.isRead).toBe(false);
    computed.length = 0;
    routes.store('a', route('shop', 8));
    await microtask();
    expect(computed).toEqual([]);
    expect(heavy.list()).toEqual([route('shop', 8)]);
  });

  it('throws the latest error, even if its message equals the one before', () => {
    const sources = new WatchableMap<string, { readonly about: string }>({ name: 'sources' });
    sources.store('a', { about: 'first' });
    const failing = derive('failing', (read, key: string): never => {
      throw Object.assign(new Error('not yet'), read.get(sources, key));
    });
    const tracker = new Tracker<string>({ wake: () => undefined });
    const failure = (): unknown => {
      try {
        return tracker.track('reader', (read) => read.get(failing, 'a'));
      } catch (error) {
        return (error as { about?: string }).about;
      }
    };
    expect(failure()).toBe('first');
    sources.store('a', { about: 'second' });
    expect(failure()).toBe('second');
  });

  it('throws for lists while an entry fails, keeps the last value for subscribers, and recovers', async () => {
    const numbers = new WatchableMap<string, number>();
    const roots = derive(
      'roots',
      (read, key: string) => {
        const number = read.get(numbers, key)!;
        if (number < 0) throw new RangeError(`${key} is negative`);
        return Math.sqrt(number);
      },
      { keys: numbers },
    );
    numbers.store('a', 4);
    numbers.store('b', 9);
    const subscription = roots.subscribe();
    await next(subscription);
    const follower = follow((read) => read.list(roots));
    numbers.store('a', -4);
    numbers.store('b', 16);
    expect(follower.woken()).toBe(1);
    expect(() => roots.list()).toThrow('a is negative');
    expect(() => roots.size).toThrow(RangeError);
    expect(roots.load('b')).toBe(4);
    const { state, updates } = await next(subscription);
    expect(brief(updates)).toEqual(['+b=4']);
    expect(state.get('a')).toBe(2);
    numbers.store('a', 4);
    expect(follower.woken()).toBe(2);
    expect(roots.list()).toEqual([2, 4]);
    numbers.store('a', -1);
    expect(() => roots.list()).toThrow('a is negative');
    numbers.delete('a');
    expect(roots.list()).toEqual([4]);
  });

  it('throws for lists while its keys cannot be computed, and recovers', () => {
    const flags = new WatchableMap<string, boolean>();
    const map = derive('map', (_read, key: string) => key, {
      keys: (read) => {
        if (read.get(flags, 'broken') === true) throw new Error('which?');
        return ['a'];
      },
    });
    flags.store('broken', true);
    let error: unknown;
    const follower = follow((read) => {
      try {
        read.list(map);
      } catch (thrown) {
        error = thrown;
      }
    });
    expect(String(error)).toBe('Error: which?');
    flags.store('broken', false);
    expect(follower.woken()).toBe(1);
    expect(map.list()).toEqual(['a']);
    flags.store('broken', true);
    expect(follower.woken()).toBe(2);
    expect(() => map.list()).toThrow('which?');
  });
});
