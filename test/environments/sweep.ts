// One run of a scenario with a controller that crashes on the way, and its result. Called by crash.test.ts.
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { environments } from '../../src/environments/index.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { inProcess } from '../scenarios/cluster-actions.ts';
import { startCrashing } from '../scenarios/crashing-controllers.ts';
import { poll } from '../scenarios/poll.ts';
import { play } from '../scenarios/runner.ts';
import { DEADLINE_MS, perform } from '../scenarios/sweep.ts';
import type { Run, State } from '../scenarios/sweep.ts';
import { scenarios } from './all.ts';
import { DynamicEnv, leftoversInTheEnd } from './leftovers.ts';
import { KINDS, snapshot, withoutTraces } from './snapshot.ts';

/**
 * Plays a scenario with a controller that crashes after these numbers of writes, and deletes the environments in the
 * end. With a reference, every step must reach the state of the reference.
 */
export async function run(
  client: Client,
  scenario: string,
  namespace: string,
  writesUntilCrash: readonly number[] = [],
  reference?: Run,
): Promise<Run> {
  return perform({
    actions: inProcess(client),
    moves: scenarios.moves(scenario, { ns: namespace }),
    crashing: await startCrashing({ client, controllers: environments({ drainMs: 0, settleMs: 0 }) }, writesUntilCrash),
    snapshot: () => snapshot(client),
    async end() {
      const { items } = await client.list(DynamicEnv);
      for (const { metadata } of items) await client.delete(DynamicEnv, metadata);
      expect(await leftoversInTheEnd(client, () => true)).toEqual([]);
    },
    reference,
  });
}

/** The final state of a scenario if all moves for environments are left out. */
export async function runWithoutEnvironments(client: Client, scenario: string, namespace: string): Promise<State> {
  const isOthers = ({ kind, metadata }: AnyObject): boolean =>
    kind !== 'DynamicEnv' && !metadata.name.includes(`-${namespace}-`);
  const moves = scenarios
    .moves(scenario, { ns: namespace })
    .filter(({ does }) => ['apply', 'patch', 'delete'].includes(does))
    .map((move) => ({ ...move, objects: move.objects.filter(isOthers) }));
  await play(moves, { actions: inProcess(client) });
  let found: State = {};
  await poll(async () => {
    const before = found;
    found = withoutTraces(await snapshot(client));
    return isDeepStrictEqual(before, found);
  }, DEADLINE_MS);
  return found;
}

/** Deletes everything that a run left in the namespace, for the next run. */
export async function clear(client: Client, namespace: string): Promise<void> {
  for (const kind of KINDS) {
    const { items } = await client.list(kind, { namespace });
    for (const { metadata } of items) await client.delete(kind, metadata);
  }
  await poll(async () => Object.keys(await snapshot(client)).length === 0, DEADLINE_MS);
}
