// What is foretold is what happens: for any world and any change of it, a forecast says exactly what the controllers then
// do. On an API in memory, where time moves only when told to.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { someActions } from '../../../test/support/claim-model/actions.ts';
import type { Action } from '../../../test/support/claim-model/actions.ts';
import { allControllers, PROCESS_NAMES } from '../../../test/support/claim-model/processes.ts';
import { ModelWorld } from '../../../test/support/claim-model/world.ts';
import { changesOf, reportedChange, reportForecast, reportOf, UNKNOWN } from '../../controller/index.ts';
import type { Intent, ReportedChange, Write } from '../../controller/index.ts';
import { Tables } from '../../kube/index.ts';
import { targetTables } from '../tables.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';

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

type State = ReadonlyMap<AnyKind, ReadonlyMap<string, KubeObject>>;

function stateOf({ api }: ModelWorld): State {
  const tables = [...new Tables(targetTables)];
  return new Map(tables.map(({ kind }) => [kind, new Map(api.all(kind))]));
}

/** What differs between two states, object by object. */
function differencesOf(before: State, after: State): Write[] {
  return [...before].flatMap(([kind, objects]) => {
    const others = after.get(kind)!;
    const keys = [...new Set([...objects.keys(), ...others.keys()])].sort();
    return keys
      .filter((key) => objects.get(key) !== others.get(key))
      .map((key): Write => {
        const [one, other] = [objects.get(key), others.get(key)];
        return { kind, before: one, after: other, by: '', for: { kind, object: (other ?? one)! } };
      });
  });
}

function intentsOf(before: State, after: State): Intent[] {
  return differencesOf(before, after).map(({ kind, before: one, after: other }) =>
    other === undefined ||
    (other.metadata.deletionTimestamp !== undefined && one?.metadata.deletionTimestamp === undefined)
      ? { kind, delete: one!.metadata }
      : { kind, put: other },
  );
}

function tablesOf(state: State): Tables {
  const tables = new Tables(targetTables);
  for (const [kind, objects] of state) for (const object of objects.values()) tables.of(kind).observe(object);
  return tables;
}

/** A change in one line; of what is made, all that it says. */
function lineOf({ by: _by, ...change }: ReportedChange): string {
  const sorted = (_name: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return JSON.stringify(change, sorted);
}

/** Whether a line is what was foretold, where not everything was known. */
function fits(foretold: string, line: string): boolean {
  const pattern = foretold.split(UNKNOWN).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.join('[^"]+')}$`).test(line);
}

/** What would change, in one line each, if controllers ran in a state of a world in which somebody does something. */
function forecastOf({ processes }: ModelWorld, state: State, intents: readonly Intent[] = []): string[] {
  const options = {
    controllers: allControllers(),
    tables: tablesOf(state),
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
    const unforeseen = happened.filter((line) => !foretold.some((each) => fits(each, line)));
    const missing = foretold.filter((line) => !happened.some((each) => fits(line, each)));
    expect({ unforeseen, missing }).toEqual({ unforeseen: [], missing: [] });
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
