// Routing rules from end to end: every scenario in `routing/scenarios`, through kubectl, on both clusters.
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './routing/all.ts';
import { startSession } from './routing/session.ts';
import { testScenarios, useSession } from './scenarios/suite.ts';
import { testUsedPermissions } from './support/used-permissions.ts';

describeClusters('routing rules', (cluster) => {
  const session = useSession(() => startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() }));

  testScenarios(cluster, { names: scenarios.names, prefix: 'rr', session });
  testUsedPermissions(cluster, 'routing', 'scenarios');
});
