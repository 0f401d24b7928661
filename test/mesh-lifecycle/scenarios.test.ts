// The mesh lifecycle end to end: every scenario in `scenarios`, through kubectl, on both clusters. A cluster has one
// mesh, so each scenario has its own cluster; most of the time they wait for namespaces and kinds to be deleted.
import { describe, expect, test } from 'vitest';
import { describeClusterPools } from '../cluster/pool.ts';
import { scenarios } from './all.ts';
import { startSession } from './session.ts';
import { testUsedPermissions } from '../support/used-permissions.ts';

describeClusterPools('the mesh lifecycle', (pool) => {
  describe.concurrent('scenario', () => {
    test.each(scenarios.names)(
      '%s',
      async (name) => {
        const left = await pool.use(async (cluster) => {
          const { kubeconfigPath } = cluster;
          const session = await startSession({ kubeconfigPath, client: cluster.client() }, name);
          const namespace = await cluster.namespace('mesh');
          const leftovers = await session.run(name, namespace).catch((error: unknown) => [(error as Error).message]);
          await session.stop();
          return leftovers;
        });
        expect(left).toEqual([]);
      },
      300_000,
    );
  });

  testUsedPermissions(pool, 'mesh', 'scenarios');
});
