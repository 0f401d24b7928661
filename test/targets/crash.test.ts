// Whenever the controllers crash, the next process finishes their work: every step of a scenario reaches the same state,
// in the same order, whichever write was the last, and in the end nothing is left. The same holds for objects that
// arrive in another order.
import { describe, expect, test } from 'vitest';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, shortLives } from '../scenarios/alone.ts';
import { testCrashes } from '../scenarios/suite.ts';
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

/** Runs a scenario on a cluster that is used for nothing else. */
function onItsOwn(
  scenario: string,
  lives: readonly number[] = [],
  reference?: Run,
  ordered?: Parameters<typeof run>[5],
): Promise<Run> {
  const server = 'https://here.example';
  return alone(prepare, ({ client }) => run({ client, server }, scenario, NAMESPACE, lives, reference, ordered));
}

const undisturbed = testCrashes({
  run: onItsOwn,
  names: scenarios.names,
  swept: ['other-owner', 'pending-claim-deleted'],
  leastCrashes: 8,
  atOnce: 4,
});

/** A claim that is there before the target which is reserved for it has a space asked for, and keeps the request. */
const IN_ORDER = new Set(['foreign-requests']);

/** The other way round, but namespaces come before what is in them. */
function reversed(objects: readonly AnyObject[]): readonly AnyObject[] {
  const { first = [], rest = [] } = Object.groupBy(objects, ({ kind }) => (kind === 'Namespace' ? 'first' : 'rest'));
  return [...first, ...rest.toReversed()];
}

describe.concurrent('what is applied at once arrives the other way round (embedded)', () => {
  test.each(scenarios.names.filter((name) => !IN_ORDER.has(name)))(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const { states } = await onItsOwn(scenario, [], reference, reversed);
      expect(states).toEqual(reference.states);
    },
    240_000,
  );
});

describeReal('the controllers crash after every few writes', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  describe.concurrent('scenario', () => {
    test.each(['steps', 'namespaces'])(
      '%s',
      async (scenario) => {
        // What the cluster's own controllers do takes its time, so states are not compared here: the scenario decides.
        const survived = await onRealCluster(({ client, url: server }) =>
          run({ client, server }, scenario, NAMESPACE, shortLives(0)),
        );
        expect(survived.lives).toBeGreaterThan(4);
      },
      240_000,
    );
  });
});
