// Whenever the controller process ends, the next one finishes its work: the same state after every step of a scenario,
// whichever write was the last, and in the end the cluster is as if there had never been an environment.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Client } from '../../src/kube/client.ts';
import { connect } from '../../src/kube/connect.ts';
import { loadConfig } from '../../src/kube/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import { describeReal } from '../cluster/index.ts';
import { startRealCluster } from '../cluster/real.ts';
import type { RealCluster } from '../cluster/real.ts';
import type { Run } from '../scenarios/sweep.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { withoutTraces } from './snapshot.ts';
import { clear, run, runWithoutEnvironments } from './sweep.ts';

const NAMESPACE = 'ns';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
/** How many runs share the machine. */
const AT_ONCE = 6;

async function prepare(client: Client): Promise<void> {
  await installKinds(client);
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
}

/** Runs something on a cluster that is used for nothing else. */
async function onItsOwn<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const server = await startEmbedded();
  const { certPem, keyPem } = server.admin;
  const client = connect({ server: server.url, caPem: server.caPem, certPem, keyPem });
  try {
    await prepare(client);
    return await use(client);
  } finally {
    client.close();
    await server.stop();
  }
}

/** Those that are tried with every number of writes; the others with one write a life. */
const SWEPT = [
  'simple',
  'add-remove-subsets',
  'delegate-virtual-service',
  'watch-annotations',
  'accidental-resources-deletion',
  'subset-becomes-consumer',
];

describe.concurrent('the controller ends after every write (embedded)', () => {
  test.each(scenarios.names)(
    '%s',
    async (scenario) => {
      const reference = await onItsOwn((client) => run(client, scenario, NAMESPACE));
      const untouched = await onItsOwn((client) => runWithoutEnvironments(client, scenario, NAMESPACE));
      expect(withoutTraces(reference.states.at(-1)!)).toEqual(untouched);
      const lives = Array.from({ length: 1_000 }, () => 1);
      const survived = await onItsOwn((client) => run(client, scenario, NAMESPACE, lives, reference));
      expect(survived.lives).toBeGreaterThan(4);
    },
    120_000,
  );
});

describe.concurrent('the controller ends after the n-th write (embedded)', () => {
  test.each(SWEPT)(
    '%s',
    async (scenario) => {
      const reference = await onItsOwn((client) => run(client, scenario, NAMESPACE));
      const survive = (lives: readonly number[]): Promise<Run> =>
        onItsOwn((client) => run(client, scenario, NAMESPACE, lives, reference));
      let deaths = 0;
      for (let next = 1; deaths === next - 1; next += AT_ONCE) {
        const runs = await Promise.all(Array.from({ length: AT_ONCE }, (_none, i) => survive([next + i])));
        // A controller that may write more often than there is something to write lives to the end.
        deaths += runs.filter(({ lives }) => lives > 1).length;
      }
      expect(deaths).toBeGreaterThan(8);
    },
    240_000,
  );
});

describeReal('the controller ends after the n-th write', () => {
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

  test.each(['simple', 'subset-becomes-consumer'])(
    '%s',
    async (scenario) => {
      const reference = await run(client, scenario, NAMESPACE);
      let deaths = 0;
      for (let lifetime = 1; deaths === lifetime - 1; lifetime++) {
        await clear(client, NAMESPACE);
        const { lives } = await run(client, scenario, NAMESPACE, [lifetime], reference);
        deaths += lives > 1 ? 1 : 0;
      }
      expect(deaths).toBeGreaterThan(8);
      await clear(client, NAMESPACE);
    },
    240_000,
  );
});
