// Whenever the controller process ends, the next one finishes its work: the same state after every step of a scenario, in
// the same order, whichever write was the last, and in the end nothing is left.
import { describe, expect, test, vi } from 'vitest';
import { defineKind } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { describeReal } from '../cluster/index.ts';
import { alone, aloneOnRealCluster, references, shortLives, sweep } from '../scenarios/alone.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, scenarios } from './all.ts';
import { run } from './sweep.ts';

// A run keeps a thread busy: side by side they would only take longer.
vi.setConfig({ maxConcurrency: 2 });

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
/** How many runs share the machine. */
const AT_ONCE = 4;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on a cluster that is used for nothing else. */
function onItsOwn(scenario: string, lives: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, lives, reference));
}

const undisturbed = references((scenario) => onItsOwn(scenario));

describe.concurrent('the controllers end after every few writes (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const lives = shortLives(scenarios.names.indexOf(scenario));
      const survived = await onItsOwn(scenario, lives, await undisturbed(scenario));
      expect(survived.lives).toBeGreaterThan(1);
    },
    240_000,
  );
});

describe.concurrent('the controllers end after the n-th write (embedded)', () => {
  test.each(['rule-comes-and-goes'])(
    '%s',
    async (scenario) => {
      const reference = await undisturbed(scenario);
      const deaths = await sweep((lives) => onItsOwn(scenario, lives, reference), AT_ONCE);
      expect(deaths).toBeGreaterThan(20);
    },
    240_000,
  );
});

describeReal('the controllers end after every few writes', () => {
  const cluster = aloneOnRealCluster(prepare);

  test('rule-comes-and-goes', async () => {
    const survived = await run(cluster().client, 'rule-comes-and-goes', NAMESPACE, shortLives(0));
    expect(survived.lives).toBeGreaterThan(4);
  }, 240_000);
});
