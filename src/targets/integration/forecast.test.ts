// What is foretold is what happens: for any world and any change of it, a forecast says exactly what the controllers then
// do. On an API in memory, where time moves only when told to.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { someActions } from '../../../test/support/claim-model/actions.ts';
import type { Action } from '../../../test/support/claim-model/actions.ts';
import { allControllers, PROCESS_NAMES } from '../../../test/support/claim-model/processes.ts';
import { ModelWorld } from '../../../test/support/claim-model/world.ts';
import { differencesOf, intentsOf, lineOf, surprises, tablesOf } from '../../../test/support/foretold.ts';
import type { State } from '../../../test/support/foretold.ts';
import { changesOf, reportedChange, reportForecast, reportOf } from '../../controller/index.ts';
import type { Intent } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import { targetTables } from '../tables.ts';

const HORIZON_MS = 10_000;
/** What people change: not how controllers and namespaces are. */
const EDITS: ReadonlySet<Action['do']> = new Set([
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

/** What would change, in one line each, if controllers ran in a state of a world in which somebody does something. */
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

async function foretell(actions: readonly Action[], edits: readonly Action[]): Promise<void> {
  const world = await ModelWorld.start();
  try {
    for (const action of actions) await world.act(action);
    for (const name of PROCESS_NAMES) await world.processes.stop(name);
    const start = stateOf(world);
    for (const edit of edits) await world.act(edit);
    const foretold = forecastOf(world, start, intentsOf(start, stateOf(world)));
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
    expect(surprises(foretold, happened)).toEqual({ unforeseen: [], missing: [] });
    expect(forecastOf(world, stateOf(world)), 'after that').toEqual([]);
  } finally {
    await world.stop();
  }
}

const SETTLE: readonly Action[] = [{ do: 'let namespaces go' }, { do: 'start', process: 'all' }, { do: 'settle' }];
/** One, or none: of two at once it depends on who is faster what follows from them. */
const someEdits = someActions.map((actions) => actions.filter((each) => EDITS.has(each.do)).slice(0, 1));

test('for any world that has settled, and any change of it', { timeout: 240_000 }, async () => {
  const play = (actions: readonly Action[], edits: readonly Action[]) => foretell([...actions, ...SETTLE], edits);
  const isForetold = fc.assert(fc.asyncProperty(someActions, someEdits, play), { numRuns: 50 });
  await expect(isForetold).resolves.toBeUndefined();
});

test('for any world that controllers left in the middle of their work', { timeout: 240_000 }, async () => {
  const isForetold = fc.assert(fc.asyncProperty(someActions, someEdits, foretell), { numRuns: 50 });
  await expect(isForetold).resolves.toBeUndefined();
});
