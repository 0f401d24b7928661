// Whenever the controller process ends, the next one finishes its work: the same state after every step of a scenario,
// in the same order, whichever write was the last, and in the end nothing is left.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { startRealCluster } from '../cluster/real.ts';
import type { RealCluster } from '../cluster/real.ts';
import type { Run } from '../scenarios/sweep.ts';
import { installKinds, scenarios } from './all.ts';
import { HOST, run } from './sweep.ts';

// A run keeps a thread busy: side by side they would only take longer.
vi.setConfig({ maxConcurrency: 2 });

const NAMESPACE = 'ns';
/** How many runs share the machine. */
const AT_ONCE = 4;
const ONE_WRITE_A_LIFE = Array.from({ length: 1_000 }, () => 1);

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  for (const name of [NAMESPACE, HOST]) {
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
}

/** Runs a scenario on a cluster that is used for nothing else. */
async function onItsOwn(scenario: string, lives: readonly number[] = [], reference?: Run): Promise<Run> {
  const cluster = await startEmbedded();
  const { certPem, keyPem } = cluster.admin;
  const client = connect({ server: cluster.url, caPem: cluster.caPem, certPem, keyPem });
  try {
    await prepare(client);
    return await run({ client, server: 'https://here.example' }, scenario, NAMESPACE, lives, reference);
  } finally {
    client.close();
    await cluster.stop();
  }
}

/** Those that are tried with every number of writes; the others with one write a life. */
const SWEPT = ['other-owner', 'pending-claim-deleted'];

describe.concurrent('the controllers end after every write (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const reference = await onItsOwn(scenario);
      const survived = await onItsOwn(scenario, ONE_WRITE_A_LIFE, reference);
      expect(survived.lives).toBeGreaterThan(4);
    },
    240_000,
  );
});

describe.concurrent('the controllers end after the n-th write (embedded)', () => {
  test.each(SWEPT)(
    '%s',
    async (scenario) => {
      const reference = await onItsOwn(scenario);
      let deaths = 0;
      for (let next = 1; deaths === next - 1; next += AT_ONCE) {
        const lifetimes = Array.from({ length: AT_ONCE }, (_none, i) => [next + i]);
        const runs = await Promise.all(lifetimes.map((lives) => onItsOwn(scenario, lives, reference)));
        // Controllers that may write more often than there is something to write live to the end.
        deaths += runs.filter(({ lives }) => lives > 1).length;
      }
      expect(deaths).toBeGreaterThan(8);
    },
    240_000,
  );
});

describeReal('the controllers end after every write', () => {
  let cluster: RealCluster;
  let client: Client;

  beforeAll(async () => {
    // Other suites run controllers on the shared cluster, which would finish the work of the dead ones.
    cluster = await startRealCluster();
    client = connect(loadConfig({ path: cluster.kubeconfigPath }));
    await prepare(client);
  });

  afterAll(async () => {
    client?.close();
    await cluster?.stop();
  });

  test.each(['steps', 'namespaces'])(
    '%s',
    async (scenario) => {
      const place = { client, server: cluster.url };
      // What the cluster's own controllers do takes its time, so states are not compared here: the scenario decides.
      const survived = await run(place, scenario, NAMESPACE, ONE_WRITE_A_LIFE);
      expect(survived.lives).toBeGreaterThan(4);
    },
    240_000,
  );
});
