// Environments from end to end: every scenario in `environments/scenarios`, through kubectl, on both clusters.
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './environments/all.ts';
import { startSession } from './environments/session.ts';
import { testScenarios, useSession } from './scenarios/suite.ts';
import { testUsedPermissions } from './support/used-permissions.ts';

describeClusters('environments', (cluster) => {
  const session = useSession(() => startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() }));

  testScenarios(cluster, { names: scenarios.names, prefix: 'env', session });
  testUsedPermissions(cluster, 'environments', 'scenarios');
});
