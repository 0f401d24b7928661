// Whenever the controllers crash, the next process finishes their work: every step of a scenario reaches the same state,
// whichever write was the last, and in the end the cluster is as if there had never been an environment.
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/kube/client/client.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealClusters, references, shortLives, sweep } from '../scenarios/alone.ts';
import type { Run } from '../scenarios/sweep.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { withoutTraces } from './snapshot.ts';
import { clear, run, runWithoutEnvironments } from './sweep.ts';

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
/** How many runs share the machine. */
const AT_ONCE = 6;
const AT_ONCE_REAL = 3;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs something on a cluster that is used for nothing else. */
function onItsOwn<T>(use: (client: Client) => Promise<T>): Promise<T> {
  return alone(prepare, ({ client }) => use(client));
}

/** Those that are tried with every number of writes; the others with a few before each crash. */
const SWEPT = [
  'simple',
  'add-remove-subsets',
  'delegate-virtual-service',
  'watch-annotations',
  'accidental-resources-deletion',
  'subset-becomes-consumer',
];

const undisturbed = references((scenario) => onItsOwn((client) => run(client, scenario, NAMESPACE)));

describe.concurrent('the controllers crash after every few writes (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const untouched = await onItsOwn((client) => runWithoutEnvironments(client, scenario, NAMESPACE));
      expect(withoutTraces(reference.states.at(-1)!)).toEqual(untouched);
      const lives = shortLives(scenarios.names.indexOf(scenario));
      const survived = await onItsOwn((client) => run(client, scenario, NAMESPACE, lives, reference));
      expect(survived.lives).toBeGreaterThan(1);
    },
    120_000,
  );
});

describe.concurrent('the controllers crash after the n-th write (embedded)', () => {
  test.each(SWEPT)(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const deaths = await sweep(
        (lives) => onItsOwn((client) => run(client, scenario, NAMESPACE, lives, reference)),
        AT_ONCE,
      );
      expect(deaths).toBeGreaterThan(8);
    },
    240_000,
  );
});

describeReal('the controllers crash after the n-th write', () => {
  const onRealCluster = aloneOnRealClusters(prepare);

  test.each(['simple', 'subset-becomes-consumer'])(
    '%s',
    async (scenario) => {
      const survive = (lives: readonly number[], reference?: Run): Promise<Run> =>
        onRealCluster(async ({ client }) => {
          await clear(client, NAMESPACE);
          return run(client, scenario, NAMESPACE, lives, reference);
        });
      const reference = await survive([]);
      const deaths = await sweep((lives) => survive(lives, reference), AT_ONCE_REAL);
      expect(deaths).toBeGreaterThan(8);
    },
    240_000,
  );
});
