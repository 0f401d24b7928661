// Runs a scenario with controllers that crash, on its own cluster. Called by crash.test.ts.
import { expect } from 'vitest';
import { keyOf } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { routing } from '../../src/routing/index.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { History } from '../scenarios/history.ts';
import { startCrashing } from '../scenarios/crashing-controllers.ts';
import { lasting, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { MovingClock } from '../support/moving-clock.ts';
import { KINDS, scenarios } from './all.ts';
import { deleteMeshes } from './leftovers.ts';

/** Problems are reported after two seconds without a change: the clock advances by this step with each snapshot. */
const CLOCK_STEP_MS = 1_000;

/**
 * Plays a scenario with controllers that crash after these numbers of writes, and deletes the meshes in the end. With a reference, every step
 * must reach the same state as the reference.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  writesUntilCrash: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  const history = await History.record(client, KINDS);
  const clock = new MovingClock();
  try {
    return await perform({
      actions: inProcess(client),
      moves: scenarios.moves(scenario, { ns: namespace }),
      history,
      crashing: await startCrashing({ client, clock, controllers: routing() }, writesUntilCrash),
      snapshot() {
        clock.advance(CLOCK_STEP_MS);
        return snapshot(client);
      },
      async end() {
        expect(await deleteMeshes(client, namespace)).toEqual([]);
      },
      reference,
    });
  } finally {
    await history.stop();
  }
}

/** The state of a cluster, without fields that depend on the time and number of writes. */
async function snapshot(client: Client): Promise<State> {
  const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
  return Object.fromEntries(
    lists
      .flatMap(({ items }) => items)
      .map((object): [string, unknown] => [
        `${object.apiVersion} ${object.kind} ${keyOf(object.metadata)}`,
        // For pods, only their existence matters.
        object.kind === 'Pod' || lasting(object),
      ]),
  );
}
