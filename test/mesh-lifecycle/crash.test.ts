// Whenever the controller process ends, the next one finishes its work: the same state after every step of a scenario, no
// workload restarted once more than need be, and in the end nothing is left.
import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import { alone } from '../scenarios/alone.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, Namespace, scenarios } from './all.ts';
import { run } from './sweep.ts';

// A run keeps a thread busy for seconds: side by side with many others it would miss its deadlines.
vi.setConfig({ maxConcurrency: 2 });

const NAMESPACE = 'ns';
/** How many writes a process lives for: the start of one takes longer than the writes. */
const LIFETIME = 6;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on a cluster that is used for nothing else. */
function onItsOwn(scenario: string, lives: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, lives, reference));
}

describe.concurrent('the controllers end again and again (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      // All of them install and remove Istio, and one after the other has its deaths one write later: none is left out.
      const first = (scenarios.names.indexOf(scenario) % LIFETIME) + 1;
      const lives = [first, ...Array.from({ length: 1_000 }, () => LIFETIME)];
      const survived = await onItsOwn(scenario, lives, await onItsOwn(scenario));
      expect(survived.lives).toBeGreaterThan(8);
    },
    240_000,
  );
});
