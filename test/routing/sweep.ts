// One run of a scenario under controllers that are killed on the way, on a cluster that is used for nothing else.
// Called by crash.test.ts.
import { expect } from 'vitest';
import { keyOf } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { routing } from '../../src/routing/index.ts';
import { inProcess } from '../scenarios/hands.ts';
import { History } from '../scenarios/history.ts';
import { startPhoenix } from '../scenarios/mortal.ts';
import { lasting, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { KINDS, scenarios } from './all.ts';
import { takeAway } from './leftovers.ts';

/** What is wrong is told after two seconds, in which nothing happens: they pass while it is seen whether all is quiet. */
const PASSING_MS = 1_000;

/**
 * Plays a scenario with controllers of these lives, and takes the meshes away in the end. With a reference, every step
 * must reach the state that the reference has there.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  lifetimes: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  const history = await History.record(client, KINDS);
  const clock = new MovingClock();
  try {
    return await perform({
      hands: inProcess(client),
      moves: scenarios.moves(scenario, { ns: namespace }),
      history,
      phoenix: await startPhoenix({ client, clock, controllers: routing() }, lifetimes),
      snapshot() {
        clock.pass(PASSING_MS);
        return snapshot(client);
      },
      async end() {
        expect(await takeAway(client, namespace)).toEqual([]);
      },
      reference,
    });
  } finally {
    await history.stop();
  }
}

/** The state of a cluster without what depends on when and how often somebody wrote. */
async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  return Object.fromEntries(
    lists
      .flatMap(({ items }) => items)
      .map((object): [string, unknown] => [
        `${object.apiVersion} ${object.kind} ${keyOf(object.metadata)}`,
        // Of pods counts that they are there: the rest is not ours.
        object.kind === 'Pod' || lasting(object),
      ]),
  );
}
