// Whenever the controllers crash, the next process finishes their work: every step of a scenario reaches the same state,
// in the same order, whichever write was the last, and in the end nothing is left.
import { expect, test } from 'vitest';
import { defineKind } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, shortLives } from '../scenarios/alone.ts';
import { testCrashes } from '../scenarios/suite.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, scenarios } from './all.ts';
import { run } from './sweep.ts';

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on a cluster that is used for nothing else. */
function onItsOwn(scenario: string, lives: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, lives, reference));
}

testCrashes({
  run: onItsOwn,
  names: scenarios.names,
  swept: ['rule-comes-and-goes'],
  leastCrashes: 20,
  atOnce: 4,
});

describeReal('the controllers crash after every few writes', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  test('rule-comes-and-goes', async () => {
    const survived = await onRealCluster(({ client }) => run(client, 'rule-comes-and-goes', NAMESPACE, shortLives(0)));
    expect(survived.lives).toBeGreaterThan(4);
  }, 240_000);
});
