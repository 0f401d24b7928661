// Whenever the controllers crash, the next process finishes their work: every step of a scenario reaches the same
// state, in the same order, whichever write was the last, and in the end nothing is left. The same holds for objects
// that arrive in another order.
import { describe, expect, test } from 'vitest';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, earlyCrashes } from '../scenarios/alone.ts';
import { testCrashes } from '../scenarios/suite.ts';
import { TEST_LIMIT_MS } from '../scenarios/sweep.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, scenarios } from './all.ts';
import { HOST, run } from './sweep.ts';

const NAMESPACE = 'ns';

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  for (const name of [NAMESPACE, HOST]) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
}

/** Runs a scenario on a cluster of its own. */
function onItsOwn(
  scenario: string,
  writesUntilCrash: readonly number[] = [],
  reference?: Run,
  ordered?: Parameters<typeof run>[5],
): Promise<Run> {
  const server = 'https://here.example';
  return alone(prepare, ({ client }) =>
    run({ client, server }, scenario, NAMESPACE, writesUntilCrash, reference, ordered),
  );
}

const undisturbed = testCrashes({
  run: onItsOwn,
  names: scenarios.names,
  swept: ['other-owner', 'pending-claim-deleted'],
  leastCrashes: 8,
  atOnce: 4,
});

/** In reverse order, but namespaces first. */
function reversed(objects: readonly AnyObject[]): readonly AnyObject[] {
  const { first = [], rest = [] } = Object.groupBy(objects, ({ kind }) => (kind === 'Namespace' ? 'first' : 'rest'));
  return [...first, ...rest.toReversed()];
}

describe.concurrent('objects that are created in reverse order (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const { states } = await onItsOwn(scenario, [], reference, reversed);
      expect(states).toEqual(reference.states);
    },
    TEST_LIMIT_MS,
  );
});

describeReal('controllers that crash after every few writes', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  describe.concurrent('scenario', () => {
    test.each(['steps', 'namespaces'])(
      '%s',
      async (scenario) => {
        // The controllers of the cluster are slow, so states are not compared here: the scenario checks them.
        const survived = await onRealCluster(({ client, url: server }) =>
          run({ client, server }, scenario, NAMESPACE, earlyCrashes(0)),
        );
        expect(survived.starts).toBeGreaterThan(4);
      },
      TEST_LIMIT_MS,
    );
  });
});
