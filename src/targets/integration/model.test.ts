// Whatever users do to claims and targets, in any order, and whenever controllers stop, start or crash: claims and
// targets follow the model, leave nothing behind but what their class retains, and in the end nothing is written any
// more.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MINUTE, someActions } from '../../../test/support/claim-model/actions.ts';
import type { Action } from '../../../test/support/claim-model/actions.ts';
import { PROCESS_NAMES } from '../../../test/support/claim-model/processes.ts';
import { TOURS } from '../../../test/support/claim-model/tours.ts';
import { ModelWorld } from '../../../test/support/claim-model/world.ts';
import { CLAIM_TRANSITIONS, TARGET_TRANSITIONS } from '../../../test/support/claim-model/model.ts';

const RUNS = 100;

/** What is left of a deleted claim of each class. */
const LEFT = {
  sandbox: [],
  'sandbox-kept': ['namespace', 'request', 'secret', 'space', 'target'],
  room: [],
  'room-kept': ['namespace', 'secret', 'target'],
} as const;

/** Every transition that was seen in any of the tests. */
const seen = new Set<string>();

async function play(actions: readonly Action[]): Promise<void> {
  const world = await ModelWorld.start();
  try {
    for (const action of actions) {
      const problems = action.do === 'settle' ? await world.settle() : await world.act(action);
      expect(problems, JSON.stringify(action)).toEqual([]);
    }
    await world.act({ do: 'let namespaces go' });
    await world.act({ do: 'start', process: 'all' });
    await world.act({ do: 'wait', ms: 11 * MINUTE });
    expect(await world.settle(), 'in the end').toEqual([]);
    expect(await writesOfNewProcesses(world)).toEqual([]);
    expect(await world.deleteClaims(), 'without claims').toEqual([]);
    expect(await world.deleteTargets(), 'without targets').toEqual([]);
    for (const each of world.monitor.seen) seen.add(each);
  } finally {
    await world.stop();
  }
}

/** What is written when all processes start again. */
async function writesOfNewProcesses(world: ModelWorld): Promise<unknown[]> {
  const before = world.api.writes.length;
  for (const name of PROCESS_NAMES) await world.processes.stop(name);
  for (const name of PROCESS_NAMES) await world.processes.start(name);
  await world.processes.settle();
  return world.api.writes.slice(before).filter(({ kind }) => kind !== 'Event');
}

describe('the model', () => {
  test.each(Object.entries(TOURS))('holds for a written sequence: %s', async (_title, actions) => {
    await expect(play(actions)).resolves.toBeUndefined();
  });
});

test('the model holds for any actions in any order', { timeout: 120_000 }, async () => {
  await fc.assert(fc.asyncProperty(someActions, play), { numRuns: RUNS });
});

test('deleted claims leave exactly what their class retains', { timeout: 60_000 }, async () => {
  const className = fc.constantFrom(...(Object.keys(LEFT) as (keyof typeof LEFT)[]));
  await fc.assert(
    fc.asyncProperty(fc.array(className, { minLength: 1, maxLength: 3 }), async (classes) => {
      const world = await ModelWorld.start();
      try {
        for (const [i, of] of classes.entries()) await world.act({ do: 'claim', name: 'abc'[i]!, class: of });
        expect(await world.settle()).toEqual([]);
        expect(world.count().phases).toEqual(classes.map(() => 'Bound'));
        expect(await world.deleteClaims()).toEqual([]);
        const left = classes.flatMap((of) => LEFT[of]);
        expect(world.count()).toEqual({
          phases: left.filter((each) => each === 'target').map(() => 'Released'),
          left: left.sort(),
        });
      } finally {
        await world.stop();
      }
    }),
    { numRuns: 15 },
  );
});

test('these tests have seen every allowed transition, and no other', () => {
  const allowed = [
    ...CLAIM_TRANSITIONS.map((each) => `claim ${each}`),
    ...TARGET_TRANSITIONS.map((each) => `target ${each}`),
  ];
  expect([...seen].sort()).toEqual(allowed.sort());
});
