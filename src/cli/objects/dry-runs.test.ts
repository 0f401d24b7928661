// Plans take the results of server dry runs into account, also for writes that depend on others and for joint writes.
import { expect, test } from 'vitest';
import { MemoryCluster } from '../../../test/environments/memory-cluster.ts';
import { environment, workload } from '../../../test/environments/workload.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { defaultSettings, environments, planEnvironments } from '../../environments/index.ts';
import type { EnvironmentPlan } from '../../environments/index.ts';
import { Deployment } from '../../environments/objects.ts';
import type { KubeObject } from '../../kube/index.ts';
import { DryRuns } from './dry-runs.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** Plans one environment per name, all with routes in one VirtualService, with server dry runs. */
async function planned(refuse: (object: KubeObject) => string | undefined): Promise<EnvironmentPlan> {
  const cluster = await MemoryCluster.of(Object.values(workload('shop', 'cart')));
  cluster.refuse = refuse;
  const before = JSON.stringify(cluster.list(Deployment));
  const { tables, client, now } = cluster;
  const controllers = environments();
  const { signal } = new AbortController();
  const intents = NAMES.map((name) => {
    const env = environment('shop', name, [{ name: 'cart', namespace: 'shop' }]);
    const istioMatches = [{ headers: { user: { exact: name } } }];
    return { kind: DynamicEnv, put: { ...env, spec: { ...env.spec, istioMatches } } };
  });
  const dryRuns = new DryRuns({ client, tables, controller: controllers[0]!.name, signal });
  const plan = await dryRuns.repeat((known) =>
    planEnvironments({ controllers, settings: defaultSettings, tables, now, intents, ...known }),
  );
  expect(JSON.stringify(cluster.list(Deployment))).toBe(before);
  return plan;
}

const statesOf = ({ environments: all }: EnvironmentPlan): string =>
  all.map(({ environment: key, state }) => `${key.slice(-1)} ${state}`).join(', ');

test('all environments are ready if the server accepts all writes', async () => {
  expect(statesOf(await planned(() => undefined))).toBe('a ready, b ready, c ready, d ready, e ready');
});

test('only the environments whose routes the server rejects are degraded', async () => {
  const isRejected = (object: KubeObject): boolean => /"exact":"[bd]"/.test(JSON.stringify(object));
  const made = await planned((object) =>
    object.kind === 'VirtualService' && isRejected(object) ? 'denied the request' : undefined,
  );
  expect(statesOf(made)).toBe('a ready, b degraded, c ready, d degraded, e ready');
  expect(made.environments[1]?.problem).toContain('denied the request');
  const routes = made.changes.find(({ kind }) => kind === 'VirtualService')?.fields ?? [];
  expect(routes.filter(({ path }) => path.startsWith('spec.http'))).toHaveLength(3);
});

test('an environment whose clone the server rejects gets no routes', async () => {
  const made = await planned(({ kind, metadata }) =>
    kind === 'Deployment' && metadata.name === 'cart-shop-c' ? 'exceeded quota' : undefined,
  );
  expect(statesOf(made)).toBe('a ready, b ready, c degraded, d ready, e ready');
});
