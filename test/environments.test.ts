// Environments from end to end: every scenario in `environments/scenarios`, through kubectl, on both clusters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './environments/all.ts';
import { startSession } from './environments/session.ts';
import type { Session } from './scenarios/session.ts';
import { testUsedRights } from './support/used-rights.ts';

describeClusters('environments', (cluster) => {
  let session: Session;

  beforeAll(async () => {
    session = await startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() });
  });

  afterAll(async () => {
    await session.stop();
  });

  describe.concurrent('scenario', () => {
    test.each(scenarios.names)(
      '%s',
      async (name) => {
        const namespace = await cluster.namespace('env');
        await expect(session.run(name, namespace)).resolves.toEqual([]);
      },
      120_000,
    );
  });

  testUsedRights(cluster, 'environments', 'scenarios');
});
