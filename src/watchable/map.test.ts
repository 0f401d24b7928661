import { describe, expect, it } from 'vitest';
import { ClosedError, WatchableMap } from './index.ts';

interface Point {
  x: number;
  y?: number;
}

const filled = (): WatchableMap<string, Point> => {
  const map = new WatchableMap<string, Point>({ name: 'points' });
  map.store('a', { x: 1 });
  return map;
};

describe('as in Go, Close', () => {
  it('refuses Store and Delete after Close, while Load keeps working', () => {
    const map = filled();
    const before = map.load('a');
    map.close();
    expect(() => map.store('a', { x: 2 })).toThrow(ClosedError);
    expect(() => map.delete('a')).toThrow(ClosedError);
    expect(map.load('a')).toBe(before);
    expect(map.load('missing')).toBeUndefined();
  });
});

describe('as in Go, Delete', () => {
  it('is harmless on a map never used, removes a stored key, and is harmless again', () => {
    const map = new WatchableMap<string, Point>();
    expect(map.delete('a')).toBe(false);
    expect(map.loadAll().size).toBe(0);
    map.store('a', { x: 1 });
    expect(map.delete('a')).toBe(true);
    expect(map.has('a')).toBe(false);
    expect(map.delete('a')).toBe(false);
  });
});

describe('as in Go, Load', () => {
  it('returns the stored value, the same frozen object each time, and nothing after Delete', () => {
    const map = new WatchableMap<string, Point>();
    const source = { x: 1 };
    map.store('a', source);
    expect(map.load('a')).toBe(source);
    expect(map.load('a')).toBe(map.load('a'));
    expect(Object.isFrozen(map.load('a'))).toBe(true);
    map.delete('a');
    expect(map.load('a')).toBeUndefined();
  });

  it('returns a value distinct from the source when the map clones', () => {
    const map = new WatchableMap<string, Point>({ isolate: 'clone' });
    const source = { x: 1 };
    map.store('a', source);
    expect(map.load('a')).toEqual(source);
    expect(map.load('a')).not.toBe(source);
  });
});

describe('as in Go, LoadAll', () => {
  it('is empty, then holds what was stored, then is empty again', () => {
    const map = new WatchableMap<string, Point>();
    expect([map.loadAll().size, map.size]).toEqual([0, 0]);
    map.store('a', { x: 1 });
    expect([map.loadAll().size, map.size]).toEqual([1, 1]);
    expect(map.loadAll().get('a')).toBe(map.load('a'));
    map.delete('a');
    expect([map.loadAll().size, map.size]).toEqual([0, 0]);
  });

  it('gives the same view until something changes, and old views stay as they were', () => {
    const map = filled();
    const view = map.loadAll();
    expect(map.loadAll()).toBe(view);
    map.store('b', { x: 2 });
    map.delete('a');
    expect([...view]).toEqual([['a', { x: 1 }]]);
    expect([...map.loadAll()]).toEqual([['b', { x: 2 }]]);
  });

  it('offers keys, values, forEach and a detached native map', () => {
    const map = filled();
    map.store('b', { x: 2 });
    const view = map.loadAll();
    const visited: [string, number][] = [];
    view.forEach((value, key) => visited.push([key, value.x]));
    expect(visited).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect([...view.keys()]).toEqual(['a', 'b']);
    expect([...view.values()]).toEqual([{ x: 1 }, { x: 2 }]);
    expect([view.has('a'), view.has('c'), view.get('c')]).toEqual([true, false, undefined]);
    view.toMap().clear();
    expect(view.size).toBe(2);
  });
});

describe('as in Go, LoadAndDelete', () => {
  it('returns the value once', () => {
    const map = filled();
    expect(map.loadAndDelete('a')).toEqual({ value: { x: 1 }, loaded: true });
    expect(map.has('a')).toBe(false);
    expect(map.loadAndDelete('a')).toEqual({ value: undefined, loaded: false });
  });
});

describe('as in Go, LoadOrStore', () => {
  it('returns what is there, else stores what is given', () => {
    const map = filled();
    const stored = map.load('a');
    expect(map.loadOrStore('a', { x: 9 }).value).toBe(stored);
    expect(map.loadOrStore('a', { x: 9 })).toEqual({ value: { x: 1 }, loaded: true });
    expect(map.loadOrStore('b', { x: 2 })).toEqual({ value: { x: 2 }, loaded: false });
    expect(map.load('b')).toEqual({ x: 2 });
  });
});

describe('as in Go, Store', () => {
  it('cannot be undone by mutating the source: freezing makes that an error', () => {
    const map = new WatchableMap<string, { list: number[] }>();
    const source = { list: [1] };
    map.store('a', source);
    expect(() => source.list.push(2)).toThrow(TypeError);
    expect(map.load('a')).toEqual({ list: [1] });
  });

  it('leaves the source alone and unaffected when the map clones', () => {
    const map = new WatchableMap<string, { list: number[] }>({ isolate: 'clone' });
    const source = { list: [1] };
    map.store('a', source);
    source.list.push(2);
    expect(map.load('a')).toEqual({ list: [1] });
    expect(Object.isFrozen(map.load('a')!.list)).toBe(true);
  });

  it('protects nothing when the map does not isolate', () => {
    const map = new WatchableMap<string, { when: Date }>({ isolate: 'none' });
    const source = { when: new Date(0) };
    map.store('a', source);
    expect(map.load('a')).toBe(source);
    expect(Object.isFrozen(source)).toBe(false);
  });
});

describe('as in Go, CompareAndSwap', () => {
  it('swaps only what it expects', () => {
    const map = filled();
    expect(map.compareAndSwap('a', { x: 7 }, { x: 2 })).toBe(false);
    expect(map.load('a')).toEqual({ x: 1 });
    expect(map.compareAndSwap('a', { x: 1 }, { x: 2 })).toBe(true);
    expect(map.load('a')).toEqual({ x: 2 });
    expect(map.compareAndSwap('missing', { x: 1 }, { x: 2 })).toBe(false);
  });

  it('to an equal value returns true and changes nothing', () => {
    const map = filled();
    const { version } = map;
    expect(map.compareAndSwap('a', { x: 1 }, { x: 1 })).toBe(true);
    expect(map.version).toBe(version);
  });
});

describe('a closed map', () => {
  const closed = (): WatchableMap<string, Point> => {
    const map = filled();
    map.close();
    map.close();
    return map;
  };
  const works: [string, (map: WatchableMap<string, Point>) => unknown, unknown][] = [
    ['load', (map) => map.load('a'), { x: 1 }],
    ['has', (map) => map.has('a'), true],
    ['size', (map) => map.size, 1],
    ['closed', (map) => map.closed, true],
    ['loadAll', (map) => [...map.loadAll()], [['a', { x: 1 }]]],
    ['loadAllMatching', (map) => map.loadAllMatching(() => true), new Map([['a', { x: 1 }]])],
    ['loadOrStore, present', (map) => map.loadOrStore('a', { x: 2 }), { value: { x: 1 }, loaded: true }],
    ['loadAndDelete, absent', (map) => map.loadAndDelete('b'), { value: undefined, loaded: false }],
    ['compareAndSwap, mismatch', (map) => map.compareAndSwap('a', { x: 7 }, { x: 2 }), false],
    ['compareAndSwap, absent', (map) => map.compareAndSwap('b', { x: 7 }, { x: 2 }), false],
  ];
  it.each(works)('%s works', (_name, call, result) => {
    expect(call(closed())).toEqual(result);
  });

  const throws: [string, (map: WatchableMap<string, Point>) => unknown][] = [
    ['store', (map) => map.store('b', { x: 1 })],
    ['store of an equal value', (map) => map.store('a', { x: 1 })],
    ['delete', (map) => map.delete('a')],
    ['delete of a missing key', (map) => map.delete('b')],
    ['loadOrStore, absent', (map) => map.loadOrStore('b', { x: 1 })],
    ['loadAndDelete, present', (map) => map.loadAndDelete('a')],
    ['compareAndSwap, match', (map) => map.compareAndSwap('a', { x: 1 }, { x: 2 })],
    ['compareAndSwap, match and equal', (map) => map.compareAndSwap('a', { x: 1 }, { x: 1 })],
    ['replaceAll', (map) => map.replaceAll([])],
  ];
  it.each(throws)('%s throws', (_name, call) => {
    const map = closed();
    expect(() => call(map)).toThrow(ClosedError);
    expect(() => call(map)).toThrow(/watchable map "points" is closed/);
    expect([...map.loadAll()]).toEqual([['a', { x: 1 }]]);
  });

  it('is the result of disposing a map', () => {
    const map = filled();
    map[Symbol.dispose]();
    expect(map.closed).toBe(true);
  });
});

describe('store', () => {
  it('returns whether it changed anything, and keeps the old reference of an equal value', () => {
    const map = filled();
    const before = map.load('a');
    expect(map.store('a', { x: 1, y: undefined })).toBe(false);
    expect(map.load('a')).toBe(before);
    expect(map.store('a', { x: 2 })).toBe(true);
    expect(map.version).toBe(2);
  });

  it('replaces the reference of an equal value if asked to, without notifying anybody', () => {
    const map = new WatchableMap<string, Point>({ onEqual: 'replace' });
    map.store('a', { x: 1 });
    const next = { x: 1 };
    expect(map.store('a', next)).toBe(false);
    expect(map.load('a')).toBe(next);
    expect(map.loadAll().get('a')).toBe(next);
    expect(map.version).toBe(1);
  });

  it('uses the equality function of the map', () => {
    const map = new WatchableMap<string, Point>({ equals: (a, b) => a.x === b.x });
    map.store('a', { x: 1, y: 1 });
    expect(map.store('a', { x: 1, y: 2 })).toBe(false);
    expect(map.store('a', { x: 2, y: 2 })).toBe(true);
  });

  it('does not compare values when the same object is stored again', () => {
    let asked = 0;
    const map = new WatchableMap<string, Point>({ equals: () => ++asked < 0 });
    const value = { x: 1 };
    map.store('a', value);
    expect(map.store('a', value)).toBe(false);
    expect(asked).toBe(0);
  });

  it('keeps equal sub-trees when sharing', () => {
    const map = new WatchableMap<string, { meta: object; spec: object }>({ share: true });
    map.store('a', { meta: { name: 'a' }, spec: { n: 1 } });
    const before = map.load('a')!;
    map.store('a', { meta: { name: 'a' }, spec: { n: 2 } });
    const after = map.load('a')!;
    expect(after.meta).toBe(before.meta);
    expect(after.spec).toEqual({ n: 2 });
    expect(Object.isFrozen(after) && Object.isFrozen(after.spec)).toBe(true);
  });

  it('suppresses a repeated identical error in an error map', () => {
    const errors = new WatchableMap<string, { text: string }>();
    expect(errors.store('runner', { text: 'boom' })).toBe(true);
    expect(errors.store('runner', { text: 'boom' })).toBe(false);
  });
});

describe('a map', () => {
  it('refuses undefined, naming map and key, and accepts null', () => {
    const map = new WatchableMap<string, Point | null | undefined>({ name: 'points' });
    expect(() => map.store('a', undefined)).toThrow(/watchable map "points" was given undefined as the value of key a/);
    expect(() => map.compareAndSwap('a', null, undefined)).toThrow(TypeError);
    expect(map.store('a', null)).toBe(true);
    expect([map.has('a'), map.load('a'), map.size]).toEqual([true, null, 1]);
  });

  it('rejects unsupported values, also on a second attempt, and leaves map and value as they were', () => {
    const map = new WatchableMap<string, { inner: { when: Date } }>();
    const value = { inner: { when: new Date(0) } };
    for (const _attempt of [1, 2]) {
      expect(() => map.store('a', value)).toThrow(/value\.inner\.when is a Date/);
    }
    expect([map.size, map.version, Object.isFrozen(value)]).toEqual([0, 0, false]);
  });

  it('refuses object keys without a codec', () => {
    const map = new WatchableMap<{ name: string }, number>({ name: 'routes' });
    expect(() => map.store({ name: 'a' }, 1)).toThrow(/watchable map "routes" was given an object as key/);
  });

  it.each([0, -1, Number.NaN])('refuses maxLag %s', (maxLag) => {
    expect(() => new WatchableMap({ maxLag })).toThrow(RangeError);
  });
});

describe('keys', () => {
  interface Name {
    namespace?: string;
    name: string;
  }
  const coded = (): WatchableMap<Name, number> =>
    new WatchableMap({ key: ({ namespace, name }) => JSON.stringify([namespace ?? null, name]) });

  it('are compared by their codec if they are objects', () => {
    const map = coded();
    map.store({ namespace: 'a/b', name: 'c' }, 1);
    map.store({ namespace: 'a', name: 'b/c' }, 2);
    map.store({ namespace: '', name: 'c' }, 3);
    map.store({ name: 'c' }, 4);
    expect(map.size).toBe(4);
    expect(map.load({ name: 'c' })).toBe(4);
    expect(map.loadAll().get({ namespace: 'a', name: 'b/c' })).toBe(2);
    expect(map.delete({ namespace: '', name: 'c' })).toBe(true);
    const left = [
      [{ namespace: 'a/b', name: 'c' }, 1],
      [{ namespace: 'a', name: 'b/c' }, 2],
      [{ name: 'c' }, 4],
    ];
    expect([...map.loadAll()]).toEqual(left);
    expect([...map.keys()]).toEqual(left.map(([key]) => key));
    const visited: unknown[] = [];
    map.loadAll().forEach((value, key) => visited.push([key, value]));
    expect(visited).toEqual(left);
  });

  it('are frozen if they are objects, and stay the same object while present', () => {
    const map = coded();
    const key = { name: 'a' };
    map.store(key, 1);
    map.store({ name: 'a' }, 2);
    expect([...map.keys()][0]).toBe(key);
    expect(Object.isFrozen(key)).toBe(true);
  });

  it('are distinguished by type if they are primitives', () => {
    const map = new WatchableMap<string | number | bigint | boolean, string>();
    for (const key of [1, '1', 1n, true, 'true', Number.NaN, 1.5]) map.store(key, typeof key);
    expect(map.size).toBe(7);
    expect([map.load(1), map.load('1'), map.load(1n), map.load(Number.NaN)]).toEqual([
      'number',
      'string',
      'bigint',
      'number',
    ]);
  });
});

describe('loadAllMatching', () => {
  it('returns what matches, and the predicate may call back into the map', () => {
    const map = new WatchableMap<string, number>();
    for (let index = 0; index < 10; index++) map.store(`k${index}`, index);
    const even = map.loadAllMatching((key, value) => {
      map.delete(key);
      return value % 2 === 0;
    });
    expect([...even.keys()]).toEqual(['k0', 'k2', 'k4', 'k6', 'k8']);
    expect(map.size).toBe(0);
  });
});

describe('replaceAll', () => {
  it('stores new values, deletes missing keys and leaves equal values alone', () => {
    const map = new WatchableMap<string, Point>();
    map.store('same', { x: 1 });
    map.store('changed', { x: 1 });
    map.store('gone', { x: 1 });
    const kept = map.load('same');
    const counts = map.replaceAll([
      ['same', { x: 1 }],
      ['changed', { x: 2 }],
      ['new', { x: 3 }],
    ]);
    expect(counts).toEqual({ stored: 2, deleted: 1, unchanged: 1 });
    expect(map.load('same')).toBe(kept);
    expect(map.loadAll().toMap()).toEqual(
      new Map([
        ['same', { x: 1 }],
        ['changed', { x: 2 }],
        ['new', { x: 3 }],
      ]),
    );
  });

  it('takes the last entry of a repeated key', () => {
    const map = new WatchableMap<string, number>();
    expect(
      map.replaceAll([
        ['a', 1],
        ['a', 2],
      ]),
    ).toEqual({ stored: 1, deleted: 0, unchanged: 0 });
    expect(map.load('a')).toBe(2);
  });

  it('changes nothing when one of the values is refused', () => {
    const map = new WatchableMap<string, unknown>();
    map.store('a', 1);
    expect(() =>
      map.replaceAll([
        ['b', 2],
        ['c', new Map()],
      ]),
    ).toThrow(TypeError);
    expect([...map.loadAll()]).toEqual([['a', 1]]);
  });
});

describe('metrics', () => {
  it('count effective mutations only', () => {
    const published: string[] = [];
    const map = new WatchableMap<string, number>({
      name: 'm',
      metrics: { published: ({ message }) => published.push(message) },
    });
    map.store('a', 1);
    map.store('a', 1);
    map.delete('b');
    map.delete('a');
    expect(published).toEqual(['m', 'm']);
  });
});
