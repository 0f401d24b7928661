// `offshoot install` and `uninstall`: the latter removes what the former created, except for what is still in use.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { install } from '../src/cli/install/install.ts';
import { uninstall } from '../src/cli/install/uninstall.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { installIstioKinds } from './environments/install.ts';
import { environment, isIn, makeWorkload } from './environments/workload.ts';
import { allObjects } from './support/all-objects.ts';
import { Deployment } from './support/core-kinds.ts';
import { until } from './support/until.ts';
import { startWithPermissions } from './support/with-permissions.ts';
import type { WithPermissions } from './support/with-permissions.ts';

const namespace = 'offshoot-system';
const deployment = { namespace, name: 'offshoot' };

describeOwnClusters('offshoot install', (cluster) => {
  let client: Client;
  let before: readonly string[];
  let controllers: WithPermissions | undefined;
  let printed: string[];

  const created = async (): Promise<readonly string[]> =>
    (await allObjects(client)).filter((each) => !before.includes(each));
  const runInstall = (...set: string[]): Promise<void> =>
    install({ kubeconfig: cluster.kubeconfigPath, namespace, set });
  const runUninstall = (options = {}): Promise<void> =>
    uninstall({
      kubeconfig: cluster.kubeconfigPath,
      namespace,
      deleteResources: false,
      keepResources: false,
      timeout: 60_000,
      ...options,
    });
  const isReady = async (): Promise<boolean> => {
    const { status } = (await client.get(Deployment, deployment)) as AnyObject & {
      status?: { readyReplicas?: number };
    };
    return status?.readyReplicas === 2;
  };

  beforeAll(async () => {
    client = cluster.client();
    await installIstioKinds(client);
  });
  beforeEach(async () => {
    printed = [];
    vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
    before = await allObjects(client);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await controllers?.plane.stop();
  });

  test('prints the manifests and writes nothing in a dry run', async () => {
    await install({ kubeconfig: cluster.kubeconfigPath, namespace, set: ['replicas=5'], dryRun: true });
    expect(printed.join('\n')).toContain('replicas: 5');
    expect(await created()).toEqual([]);
  });

  test(
    'starts pods and enables and disables parts, and uninstall removes everything',
    { timeout: 120_000 },
    async () => {
      await runInstall();
      await until(isReady, 60_000);
      await runInstall('parts.routing=true', 'parts.environments=false');
      expect(await created()).toContain('ClusterRole /offshoot-routing');
      expect(await created()).not.toContain('ClusterRole /offshoot-environments');
      // There may be objects of that kind.
      expect(await created()).toContain('CustomResourceDefinition /dynamicenvs.riskified.com');
      await runUninstall();
      await expect.poll(created, { timeout: 60_000 }).toEqual([]);
    },
  );

  test('can be undone while there is an environment only with --delete-resources', { timeout: 120_000 }, async () => {
    await runInstall();
    const team = await cluster.namespace('team');
    await makeWorkload(client, team, 'cart');
    await client.create(DynamicEnv, environment(team, 'feature', [{ name: 'cart', namespace: team }]));
    // Without the webhook, since a Service cannot be reached here.
    controllers = await startWithPermissions(cluster, 'environments');
    await until(() => isIn(client, { namespace: team, name: 'feature' }, 'ready'), 60_000);
    await expect(runUninstall()).rejects.toThrow(
      `1 DynamicEnv: ${team}/feature\n  delete them, or say --delete-resources`,
    );
    expect(await created()).toContain(`Deployment ${namespace}/offshoot`);
    await runUninstall({ deleteResources: true });
    await expect
      .poll(async () => (await created()).filter((each) => !each.includes(team)), { timeout: 60_000 })
      .toEqual([]);
  });

  test('uses existing definitions, which uninstall keeps', { timeout: 120_000 }, async () => {
    await installDefinitions(client, partsOf(['environments']));
    await runInstall();
    await runUninstall();
    await expect
      .poll(created, { timeout: 60_000 })
      .toEqual(expect.arrayContaining(['CustomResourceDefinition /dynamicenvs.riskified.com']));
  });

  test('rejects a second installation in another namespace', { timeout: 120_000 }, async () => {
    await runInstall();
    const other = install({ kubeconfig: cluster.kubeconfigPath, namespace: 'other', set: [] });
    await expect(other).rejects.toThrow('Offshoot is installed in offshoot-system, and a cluster has one');
    await runUninstall();
  });

  test.each([
    ['replicas', 'replicas": write it as NAME=VALUE'],
    ['replicas=two', 'replicas: Invalid input: expected number'],
    ['parts.dashboard=true', 'parts: Unrecognized key: "dashboard"'],
  ])('rejects --set %s', async (set, message) => {
    await expect(runInstall(set)).rejects.toThrow(message);
    expect(await created()).toEqual([]);
  });
});
