// After a crash of the controllers, the next process finishes the work: every step of a scenario reaches the same
// state, no workload is restarted more often than necessary, and in the end nothing is left.
import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import { alone } from '../scenarios/alone.ts';
import { TEST_LIMIT_MS } from '../scenarios/sweep.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, Namespace, scenarios } from './all.ts';
import { run } from './sweep.ts';

// A run keeps a thread busy for seconds: with many at the same time it would miss its deadlines.
vi.setConfig({ maxConcurrency: 2 });

const NAMESPACE = 'ns';
/** The number of writes before a crash. Starting a process takes longer than the writes. */
const WRITES_UNTIL_CRASH = 6;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on its own cluster. */
function onItsOwn(scenario: string, writesUntilCrash: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, writesUntilCrash, reference));
}

describe.concurrent('the controllers crash after every few writes (embedded)', () => {
  test.each(scenarios.names)(
    'and still finish the scenario %s',
    async (scenario) => {
      // All scenarios install and remove Istio. Each next one crashes one write later, so that every write is covered.
      const first = (scenarios.names.indexOf(scenario) % WRITES_UNTIL_CRASH) + 1;
      const writesUntilCrash = [first, ...Array.from({ length: 1_000 }, () => WRITES_UNTIL_CRASH)];
      const survived = await onItsOwn(scenario, writesUntilCrash, await onItsOwn(scenario));
      expect(survived.starts).toBeGreaterThan(8);
    },
    TEST_LIMIT_MS,
  );
});
