// The life of a mesh from end to end: every scenario in `scenarios`, through kubectl, on both clusters.
import { expect, test } from 'vitest';
import { describeOwnClusters } from '../cluster/index.ts';
import { scenarios } from './all.ts';
import { startSession } from './session.ts';
import { testUsedRights } from '../support/used-rights.ts';

describeOwnClusters('the life of a mesh', (cluster) => {
  test.each(scenarios.names)(
    '%s',
    async (name) => {
      const session = await startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() }, name);
      const namespace = await cluster.namespace('mesh');
      const left = await session.run(name, namespace).catch((error: unknown) => [(error as Error).message]);
      await session.stop();
      expect(left).toEqual([]);
    },
    120_000,
  );

  testUsedRights(cluster, 'mesh', 'scenarios');
});
