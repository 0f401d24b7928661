// The life of a mesh from end to end: every scenario in `scenarios`, through kubectl, on both clusters. There is one mesh in
// a cluster, so each has one for itself; most of the time they wait for namespaces and kinds to go.
import { describe, expect, test } from 'vitest';
import { describeClusterPools } from '../cluster/pool.ts';
import { scenarios } from './all.ts';
import { startSession } from './session.ts';
import { testUsedRights } from '../support/used-rights.ts';

describeClusterPools('the life of a mesh', (pool) => {
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

  testUsedRights(pool, 'mesh', 'scenarios');
});
