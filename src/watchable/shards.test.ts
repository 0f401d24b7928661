import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Shards } from './shards.ts';

describe('Shards', () => {
  it('grows fourfold when shards average more than 48 entries, up to 4,096 shards, and starts small again when emptied', () => {
    const shards = new Shards<number>();
    const fillTo = (size: number): number => {
      while (shards.size < size) shards.set(shards.size, 0);
      return shards.snapshot().length;
    };
    for (const count of [1, 4, 16, 64, 256, 1024]) {
      expect([fillTo(48 * count), fillTo(48 * count + 1)]).toEqual([count, 4 * count]);
    }
    expect(fillTo(48 * 4096 + 1)).toBe(4096);
    while (shards.size > 0) shards.delete(shards.size - 1);
    expect(shards.snapshot()).toHaveLength(1);
  });

  it.each([
    ['strings', (index: number) => `team-${index % 7}/route-${index}`],
    ['numbers', (index: number) => index * 4096],
    ['bigints', (index: number) => BigInt(index)],
  ])('spreads %s evenly', (_name, idOf) => {
    const shards = new Shards<number>();
    for (let index = 0; index < 10_000; index++) shards.set(idOf(index), index);
    const sizes = shards.snapshot().map((shard) => shard.size);
    expect(sizes).toHaveLength(256);
    expect(Math.max(...sizes)).toBeLessThan(100);
  });

  it('keeps every snapshot as it was, whatever is written afterwards', () => {
    const step = fc.record({ id: fc.nat(300), kind: fc.constantFrom('set', 'delete', 'snapshot') });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
        const shards = new Shards<number>();
        const model = new Map<number, number>();
        const taken: [ReturnType<typeof shards.snapshot>, Map<number, number>][] = [];
        for (const [index, { id, kind }] of steps.entries()) {
          if (kind === 'snapshot') taken.push([shards.snapshot(), new Map(model)]);
          else if (kind === 'set') {
            shards.set(id, index);
            model.set(id, index);
          } else if (model.delete(id)) shards.delete(id);
        }
        taken.push([shards.snapshot(), model]);
        for (const [directory, expected] of taken) {
          expect(new Map(directory.flatMap((shard) => [...shard]))).toEqual(expected);
        }
        expect(shards.size).toBe(model.size);
      }),
      { numRuns: 50 },
    );
  });
});
