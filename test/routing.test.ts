// Routing rules from end to end: every scenario in `routing/scenarios`, through kubectl, on both clusters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './routing/all.ts';
import { startSession } from './routing/session.ts';
import type { Session } from './scenarios/session.ts';
import { testUsedRights } from './support/used-rights.ts';

describeClusters('routing rules', (cluster) => {
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
        const namespace = await cluster.namespace('rr');
        const left = await session.run(name, namespace).catch((error: unknown) => [(error as Error).message]);
        expect(left).toEqual([]);
      },
      120_000,
    );
  });

  testUsedRights(cluster, 'routing', 'scenarios');
});
