import { expect, test } from 'vitest';
import { WatchableMap } from './index.ts';

type Key = string | number | bigint | symbol | undefined;

/** A map with an index that files all entries under one value; both ways to list them must agree. */
function indexed(): { readonly map: WatchableMap<Key, string>; readonly listed: () => readonly string[] } {
  const map = new WatchableMap<Key, string>({ indexes: { all: () => ['all'] } });
  const listed = (): readonly string[] => {
    const values = map.list({ index: ['all', 'all'] });
    expect(map.list().toSorted()).toEqual(values.toSorted());
    return values;
  };
  return { map, listed };
}

test('a listing shows each change after it was read, and earlier listings stay as they were', () => {
  const { map, listed } = indexed();
  map.store('b', 'b1');
  map.store('a', 'a1');
  const first = listed();
  map.store('b', 'b2');
  const second = listed();
  map.store('a', 'a2');
  map.store('b', 'b3');
  const third = listed();
  map.store('b', 'b4');
  map.store('c', 'c1');
  map.delete('a');
  expect([first, second, third, listed()]).toEqual([
    ['a1', 'b1'],
    ['a1', 'b2'],
    ['a2', 'b3'],
    ['b4', 'c1'],
  ]);
});

test.each<{ readonly title: string; readonly keys: readonly Key[] }>([
  { title: 'of several types', keys: ['a', undefined, 1, -2, 3n] },
  { title: 'that are not numbers', keys: [2, Number.NaN, 'x'] },
  { title: 'that look alike', keys: [Symbol('s'), Symbol('s'), Symbol('s')] },
])('keys $title are listed with their current values', ({ keys }) => {
  const { map, listed } = indexed();
  for (const [at, key] of keys.entries()) map.store(key, `${at} before`);
  for (const [at, key] of keys.entries()) {
    expect(listed()).toContain(`${at} before`);
    map.store(key, `${at} after`);
    expect(listed()).toContain(`${at} after`);
    expect(listed()).not.toContain(`${at} before`);
  }
  expect(listed()).toHaveLength(keys.length);
});
