import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Delays } from './delays.ts';

test('a key that is delayed again and again does not accumulate entries', () => {
  const delays = new Delays();
  for (let pass = 0; pass < 100_000; pass++) {
    const key = `key-${pass % 10}`;
    delays.delete(key);
    delays.set(key, pass + 3_600_000, 0);
  }
  expect(delays.size).toBe(10);
  expect(delays.held).toBeLessThan(100);
});

test('keys become due in the order of their times, whatever was set, moved earlier and removed before', () => {
  const change = fc.record({ key: fc.nat(30), at: fc.nat(1000), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 300 }), (changes) => {
      const delays = new Delays();
      const model = new Map<string, number>();
      for (const { key, at, remove } of changes) {
        const name = String(key);
        if (remove) {
          delays.delete(name);
          model.delete(name);
        } else {
          delays.set(name, at, 0);
          model.set(name, Math.min(at, model.get(name) ?? Infinity));
        }
      }
      const taken: [string, number][] = [];
      for (let due = delays.takeDue(1000); due; due = delays.takeDue(1000)) taken.push([due.key, due.at]);
      expect(new Map(taken)).toEqual(model);
      expect(taken.map(([, at]) => at)).toEqual(taken.map(([, at]) => at).sort((a, b) => a - b));
      expect(delays.held).toBe(0);
    }),
  );
});
