// A forecast is exact: for any world and any change, it says exactly what the controllers then do. Runs on an API in
// memory with a fake clock.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { someActions } from '../../../test/support/claim-model/actions.ts';
import type { Action } from '../../../test/support/claim-model/actions.ts';
import { allControllers, PROCESS_NAMES } from '../../../test/support/claim-model/processes.ts';
import { ModelWorld } from '../../../test/support/claim-model/world.ts';
import { differencesOf, intentsOf, lineOf, surprises, tablesOf } from '../../../test/support/planned-changes.ts';
import type { State } from '../../../test/support/planned-changes.ts';
import { changesOf, reportedChange, reportForecast, reportOf } from '../../controller/index.ts';
import type { Intent } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import { targetTables } from '../tables.ts';

const HORIZON_MS = 10_000;
/** Actions of users; not those on controllers and namespaces. */
const USER_ACTIONS: ReadonlySet<Action['do']> = new Set([
  'claim',
  'edit claim',
  'delete claim',
  'target',
  'edit target',
  'delete target',
  'recycle target',
  'class',
  'delete class',
  'environment',
  'delete environment',
]);

function stateOf({ api }: ModelWorld): State {
  const tables = [...new Tables(targetTables)];
  return new Map(tables.map(({ kind }) => [kind, new Map(api.all(kind))]));
}

/** One line for each change that the controllers would make in this state, given the intents. */
function forecastOf({ processes }: ModelWorld, state: State, intents: readonly Intent[] = []): string[] {
  const options = {
    controllers: allControllers(),
    tables: tablesOf(targetTables, state),
    now: processes.clock.now(),
    intents,
    horizonMs: HORIZON_MS,
    simulatesCluster: false,
  };
  return reportForecast(options, reportOf).changes.map(lineOf).sort();
}

async function checkForecast(actions: readonly Action[], edits: readonly Action[]): Promise<void> {
  const world = await ModelWorld.start();
  try {
    for (const action of actions) await world.act(action);
    for (const name of PROCESS_NAMES) await world.processes.stop(name);
    const start = stateOf(world);
    for (const edit of edits) await world.act(edit);
    const predicted = forecastOf(world, start, intentsOf(start, stateOf(world)));
    for (const name of PROCESS_NAMES) await world.processes.start(name);
    await world.processes.settle();
    for (let ms = 0; ms < HORIZON_MS; ms += 1000) {
      await world.processes.clock.advance(1000);
      await world.processes.settle();
    }
    const happened = changesOf(differencesOf(start, stateOf(world)))
      .map(reportedChange)
      .map(lineOf)
      .sort();
    expect(surprises(predicted, happened)).toEqual({ unplanned: [], missing: [] });
    expect(forecastOf(world, stateOf(world)), 'after that').toEqual([]);
  } finally {
    await world.stop();
  }
}

const SETTLE: readonly Action[] = [{ do: 'let namespaces go' }, { do: 'start', process: 'all' }, { do: 'settle' }];
/** Several edits, each of another object. */
const someEdits = someActions.map((actions) => {
  const byObject = new Map(actions.filter((each) => USER_ACTIONS.has(each.do)).map((each) => [objectOf(each), each]));
  return [...byObject.values()].slice(0, 3);
});

/** The object that a user's action is about: `claim a`. */
function objectOf(action: Action): string {
  const name = 'name' in action ? action.name : 'claim' in action ? action.claim : '';
  return `${action.do.split(' ').at(-1)} ${name}`;
}

/** Worlds in which the result depended on which of two objects a controller saw first. */
const ONCE_WRONG: [Action[], Action[]][] = [
  // The space was requested for a class that retains it, and stands behind a target of a class that does not.
  [{ do: 'delete target', name: 't' } as const],
  // A target that is made available just when its claim is deleted.
  [{ do: 'recycle target', name: 't' } as const],
].map((edits) => [
  [
    { do: 'claim', name: 'a', class: 'sandbox-kept' },
    { do: 'start', process: 'all' },
    { do: 'target', name: 't', class: 'sandbox', claim: 'a' },
    { do: 'settle' },
  ],
  [...edits, { do: 'delete claim', name: 'a' }],
]);

test('a forecast is exact for any settled world and any change', { timeout: 240_000 }, async () => {
  const play = (actions: readonly Action[], edits: readonly Action[]) => checkForecast([...actions, ...SETTLE], edits);
  const isExact = fc.assert(fc.asyncProperty(someActions, someEdits, play), { numRuns: 50, examples: ONCE_WRONG });
  await expect(isExact).resolves.toBeUndefined();
});

test(
  'a forecast is exact for any world whose controllers were stopped in the middle of their work',
  { timeout: 240_000 },
  async () => {
    const isExact = fc.assert(fc.asyncProperty(someActions, someEdits, checkForecast), { numRuns: 50 });
    await expect(isExact).resolves.toBeUndefined();
  },
);
