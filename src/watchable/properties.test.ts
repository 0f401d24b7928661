// Any interleaving of writers and readers, compared with a naive model: the state that a subscriber had, plus the
// updates it got, is the state that it has now and the state of the map.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WatchableMap } from './index.ts';
import { World } from './testing/world.ts';
import type { Step } from './testing/world.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const value = fc.nat(6);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constantFrom('store', 'delete', 'swap'), key, value }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('replaceAll'), entries: fc.array(fc.tuple(key, value), { maxLength: 4 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('subscribe'), subset: fc.boolean(), state: fc.boolean() }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('read'), reader: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end'), reader: fc.nat(5) }) },
);

describe('a watchable map, for every interleaving,', () => {
  it('delivers the updates from the previous state to the new one, whatever is stored, read or closed', async () => {
    const runs = fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.constantFrom(1, 3, 65_536),
      fc.boolean(),
      async (steps, maxLag, closeAtEnd) => {
        const world = new World(maxLag);
        for (const action of steps) await world.run(action);
        if (closeAtEnd) await world.run({ do: 'close' });
        for (const reader of world.readers) await world.read(reader);
        world.map.close();
        expect(world.map.subscriptions).toBe(0);
        const last = await Promise.all(world.readers.map(({ subscription }) => subscription.next()));
        expect(last.every(({ done }) => done === true)).toBe(true);
      },
    );
    await fc.assert(runs, { numRuns: 150 });
  });

  it('delivers the same mutations in the same order to all subscribers', async () => {
    const writes = fc.array(fc.tuple(key, value), { maxLength: 50, size: 'max' });
    await fc.assert(
      fc.asyncProperty(writes, fc.array(fc.nat(50), { maxLength: 10 }), async (entries, pauses) => {
        const map = new WatchableMap<string, number>();
        const collect = async (): Promise<string[]> => {
          const seen: string[] = [];
          for await (const { updates } of map.subscribe()) {
            for (const update of updates) seen.push(`${update.key}=${update.value}`);
            if (seen.at(-1) === 'end=0') break;
          }
          return seen;
        };
        const collectors = [collect(), collect(), collect()];
        for (const [index, [name, number]] of entries.entries()) {
          map.store(name, number);
          if (pauses.includes(index)) await Promise.resolve();
        }
        map.store('end', 0);
        const [first, ...others] = await Promise.all(collectors);
        for (const other of others) expect(other).toEqual(first);
        expect(first!.at(-1)).toBe('end=0');
      }),
      { numRuns: 50 },
    );
  });
});
