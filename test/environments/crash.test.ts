// Whenever the controllers crash, the next process finishes their work: every step of a scenario reaches the same
// state, whichever write was the last, and in the end the cluster is as if there had never been an environment.
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, references, earlyCrashes, sweep } from '../scenarios/alone.ts';
import { TEST_LIMIT_MS } from '../scenarios/sweep.ts';
import type { Run } from '../scenarios/sweep.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { withoutTraces } from './snapshot.ts';
import { clear, run, runWithoutEnvironments } from './sweep.ts';

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
/** How many runs are concurrent. */
const AT_ONCE = 6;
const AT_ONCE_REAL = 3;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a function on a cluster of its own. */
function onItsOwn<T>(use: (client: Client) => Promise<T>): Promise<T> {
  return alone(prepare, ({ client }) => use(client));
}

/** Scenarios that are run with a crash after every number of writes; the others with a few writes before each crash. */
const SWEPT = [
  'simple',
  'add-remove-subsets',
  'delegate-virtual-service',
  'watch-annotations',
  'accidental-resources-deletion',
  'subset-becomes-consumer',
];

const undisturbed = references((scenario) => onItsOwn((client) => run(client, scenario, NAMESPACE)));

describe.concurrent('controllers that crash after every few writes (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const untouched = await onItsOwn((client) => runWithoutEnvironments(client, scenario, NAMESPACE));
      expect(withoutTraces(reference.states.at(-1)!)).toEqual(untouched);
      const writesUntilCrash = earlyCrashes(scenarios.names.indexOf(scenario));
      const survived = await onItsOwn((client) => run(client, scenario, NAMESPACE, writesUntilCrash, reference));
      expect(survived.starts).toBeGreaterThan(1);
    },
    TEST_LIMIT_MS,
  );
});

describe.concurrent('controllers that crash after the n-th write (embedded)', () => {
  test.each(SWEPT)(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const crashes = await sweep(
        (writesUntilCrash) => onItsOwn((client) => run(client, scenario, NAMESPACE, writesUntilCrash, reference)),
        AT_ONCE,
      );
      expect(crashes).toBeGreaterThan(8);
    },
    TEST_LIMIT_MS,
  );
});

describeReal('controllers that crash after the n-th write', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  test.each(['simple', 'subset-becomes-consumer'])(
    '%s',
    async (scenario) => {
      const survive = (writesUntilCrash: readonly number[], reference?: Run): Promise<Run> =>
        onRealCluster(async ({ client }) => {
          await clear(client, NAMESPACE);
          return run(client, scenario, NAMESPACE, writesUntilCrash, reference);
        });
      const reference = await survive([]);
      const crashes = await sweep((writesUntilCrash) => survive(writesUntilCrash, reference), AT_ONCE_REAL);
      expect(crashes).toBeGreaterThan(8);
    },
    TEST_LIMIT_MS,
  );
});
