import { expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

it('a bounded map evicts the entry that was set longest ago when it is full', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
  expect([...map.values()]).toEqual([3, 4]);
  expect(map.get('b')).toBeUndefined();
});
