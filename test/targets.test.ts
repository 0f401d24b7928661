// Deployment targets from end to end: every scenario in `targets/scenarios`, through kubectl, on both clusters.
import { describe } from 'vitest';
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './targets/all.ts';
import { testScenarios, useSession } from './scenarios/suite.ts';
import { credentialsSuite } from './targets/credentials.ts';
import { raceSuite } from './targets/race.ts';
import { startSession } from './targets/session.ts';
import type { TargetsSession } from './targets/session.ts';
import { testUsedPermissions } from './support/used-permissions.ts';

/** Scenarios that share controllers: those with the same settings. One that advances the clock has its own. */
const groups = Map.groupBy(scenarios.names, (name) => {
  const movesTime = scenarios.moves(name, { ns: 'ns' }).some(({ does }) => does === 'advance');
  return movesTime ? name : JSON.stringify(scenarios.settings(name));
});

describeClusters('targets', (cluster) => {
  const useTargets = (settings: object): (() => TargetsSession) =>
    useSession(() => startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() }, settings));

  describe.each([...groups.values()])('scenarios, from %s on', (...names) => {
    testScenarios(cluster, { names, prefix: 'dt', session: useTargets(scenarios.settings(names[0]!)) });
  });

  describe('races', () => {
    raceSuite(cluster, useTargets({}));
  });

  describe('credentials', () => {
    credentialsSuite(cluster, useTargets({}));
  });

  testUsedPermissions(cluster, 'targets', 'scenarios');
});
