// Whenever the controller process ends, the next one finishes its work: the same state after every step of a scenario, no
// workload restarted once more than need be, and in the end nothing is left.
import { describe, expect, test, vi } from 'vitest';
import type { Client } from '../../src/kube/index.ts';
import { alone } from '../scenarios/alone.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, Namespace } from './all.ts';
import { run } from './sweep.ts';

// A run keeps a thread busy: side by side they would only take longer.
vi.setConfig({ maxConcurrency: 2 });

const NAMESPACE = 'ns';
/** How many writes a process lives for: the start of one takes longer than the writes. */
const LIFETIME = 4;
/** All of them install and remove Istio, and each has its deaths at other writes of that. */
const SCENARIOS = ['production', 'blocked-deletion', 'bad-input'];

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs a scenario on a cluster that is used for nothing else. */
function onItsOwn(scenario: string, lives: readonly number[] = [], reference?: Run): Promise<Run> {
  return alone(prepare, ({ client }) => run(client, scenario, NAMESPACE, lives, reference));
}

describe.concurrent('the controllers end again and again (embedded)', () => {
  test.each(SCENARIOS)(
    '%s',
    async (scenario) => {
      const first = SCENARIOS.indexOf(scenario) + 1;
      const lives = [first, ...Array.from({ length: 1_000 }, () => LIFETIME)];
      const survived = await onItsOwn(scenario, lives, await onItsOwn(scenario));
      expect(survived.lives).toBeGreaterThan(20);
    },
    240_000,
  );
});
