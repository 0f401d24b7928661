// Any interleaving of changes, reads, drops and subscriptions, compared with recomputing everything from plain maps.
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { Pyramid } from './testing/pyramid.ts';
import type { Level, Step } from './testing/pyramid.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd');
const level: fc.Arbitrary<Level> = fc.constantFrom('twice', 'either', 'parts', 'groups', 'totals', 'top');
const asked = fc.record({ level, key: fc.constantFrom('a', 'b', 'c', 'd', '0', '1', '2'), whole: fc.boolean() });
const change: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('store'), map: fc.nat(1), key, value: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete'), map: fc.nat(1), key }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: change },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('load'), asked }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('track'),
      reader: fc.nat(3),
      questions: fc.array(asked, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('forget', 'turn'), reader: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('subscribe', 'unsubscribe'), reader: fc.nat(3) }) },
);

describe('derived maps, for every interleaving,', () => {
  it('give the same reads, lists, updates and wake-ups as recomputing everything', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const pyramid = new Pyramid();
        for (const action of steps) await pyramid.run(action);
        await pyramid.end();
        assert.deepEqual(pyramid.keptAfterEnd(), []);
      }),
      { numRuns: 300 },
    );
  });

  it('recompute a value only if something that it read has changed, and wake only the readers affected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40, size: 'max' }), async (steps) => {
        const pyramid = new Pyramid();
        pyramid.readEverything();
        for (const action of steps) {
          pyramid.countNeedless = true;
          await pyramid.run(action);
          await pyramid.run({ do: 'turn' });
        }
        await pyramid.end();
        assert.deepEqual(pyramid.keptAfterEnd(), []);
      }),
      { numRuns: 50 },
    );
  });
});
