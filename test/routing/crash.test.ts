// After a crash at any write, the next process finishes the work: every step of a scenario reaches the same state, in
// the same order, and in the end nothing is left.
import { expect, test } from 'vitest';
import { defineKind } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, earlyCrashes } from '../scenarios/alone.ts';
import { testCrashes } from '../scenarios/suite.ts';
import { TEST_LIMIT_MS } from '../scenarios/sweep.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, scenarios } from './all.ts';
import { run } from './sweep.ts';

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on its own cluster. */
function onItsOwn(scenario: string, writesUntilCrash: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, writesUntilCrash, reference));
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

  test(
    'and still finish the scenario rule-comes-and-goes',
    async () => {
      const survived = await onRealCluster(({ client }) =>
        run(client, 'rule-comes-and-goes', NAMESPACE, earlyCrashes(0)),
      );
      expect(survived.starts).toBeGreaterThan(4);
    },
    TEST_LIMIT_MS,
  );
});
