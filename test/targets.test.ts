// Deployment targets from end to end: every scenario in `targets/scenarios`, through kubectl, on both clusters.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { describeClusters } from './cluster/index.ts';
import { scenarios } from './targets/all.ts';
import { credentialsSuite } from './targets/credentials.ts';
import { raceSuite } from './targets/race.ts';
import { startSession } from './targets/session.ts';
import type { TargetsSession } from './targets/session.ts';
import { testUsedRights } from './support/used-rights.ts';

// Most of the time scenarios wait for the cluster.
vi.setConfig({ maxConcurrency: 10 });

/** Scenarios that share their controllers: those with the same settings, but whoever moves the clock is alone. */
const groups = Map.groupBy(scenarios.names, (name) => {
  const movesTime = scenarios.moves(name, { ns: 'ns' }).some(({ does }) => does === 'pass');
  return movesTime ? name : JSON.stringify(scenarios.settings(name));
});

describeClusters('targets', (cluster) => {
  let session: TargetsSession;
  const withSession = (settings: object): void => {
    beforeAll(async () => {
      session = await startSession({ kubeconfigPath: cluster.kubeconfigPath, client: cluster.client() }, settings);
    });
    afterAll(async () => {
      await session.stop();
    });
  };

  describe.each([...groups.values()])('scenarios, from %s on', (...names) => {
    withSession(scenarios.settings(names[0]!));

    describe.concurrent('scenario', () => {
      test.each(names)(
        '%s',
        async (name) => {
          const namespace = await cluster.namespace('dt');
          const left = await session.run(name, namespace).catch((error: unknown) => [(error as Error).message]);
          expect(left).toEqual([]);
        },
        120_000,
      );
    });
  });

  describe('races', () => {
    withSession({});
    raceSuite(cluster, () => session);
  });

  describe('credentials', () => {
    withSession({});
    credentialsSuite(cluster, () => session);
  });

  testUsedRights(cluster, 'targets', 'scenarios');
});
