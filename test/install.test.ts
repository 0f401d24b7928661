// `offshoot install` and `uninstall`: what one makes the other removes, and nothing that people still need.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { install } from '../src/cli/install/install.ts';
import { uninstall } from '../src/cli/install/uninstall.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { installIstioKinds } from './environments/install.ts';
import { environment, isIn, makeWorkload } from './environments/workload.ts';
import { allObjects } from './support/all-objects.ts';
import { until } from './support/until.ts';
import { startWithRights } from './support/with-rights.ts';
import type { WithRights } from './support/with-rights.ts';

const namespace = 'offshoot-system';
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const deployment = { namespace, name: 'offshoot' };

describeOwnClusters('offshoot install', (cluster) => {
  let client: Client;
  let before: readonly string[];
  let controllers: WithRights | undefined;
  let printed: string[];

  const made = async (): Promise<readonly string[]> =>
    (await allObjects(client)).filter((each) => !before.includes(each));
  const installed = (...set: string[]): Promise<void> =>
    install({ kubeconfig: cluster.kubeconfigPath, namespace, set });
  const uninstalled = (options = {}): Promise<void> =>
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

  test('a dry run prints the manifests and writes nothing', async () => {
    await install({ kubeconfig: cluster.kubeconfigPath, namespace, set: ['replicas=5'], dryRun: true });
    expect(printed.join('\n')).toContain('replicas: 5');
    expect(await made()).toEqual([]);
  });

  test('pods become ready, parts come and go, and an uninstall leaves nothing', { timeout: 120_000 }, async () => {
    await installed();
    await until(isReady, 60_000);
    await installed('parts.routing=true', 'parts.environments=false');
    expect(await made()).toContain('ClusterRole /offshoot-routing');
    expect(await made()).not.toContain('ClusterRole /offshoot-environments');
    // Objects of people may be of that kind.
    expect(await made()).toContain('CustomResourceDefinition /dynamicenvs.riskified.com');
    await uninstalled();
    await expect.poll(made, { timeout: 60_000 }).toEqual([]);
  });

  test('refuses to go while there is an environment, unless it is to go first', { timeout: 120_000 }, async () => {
    await installed();
    const team = await cluster.namespace('team');
    await makeWorkload(client, team, 'cart');
    await client.create(DynamicEnv, environment(team, 'feature', [{ name: 'cart', namespace: team }]));
    // Without the webhook: nobody can reach a Service here.
    controllers = await startWithRights(cluster, 'environments');
    await until(() => isIn(client, { namespace: team, name: 'feature' }, 'ready'), 60_000);
    await expect(uninstalled()).rejects.toThrow(
      `1 DynamicEnv: ${team}/feature\n  delete them, or say --delete-resources`,
    );
    expect(await made()).toContain(`Deployment ${namespace}/offshoot`);
    await uninstalled({ deleteResources: true });
    await expect
      .poll(async () => (await made()).filter((each) => !each.includes(team)), { timeout: 60_000 })
      .toEqual([]);
  });

  test('definitions that were there before stay', { timeout: 120_000 }, async () => {
    await installDefinitions(client, partsOf(['environments']));
    await installed();
    await uninstalled();
    await expect
      .poll(made, { timeout: 60_000 })
      .toEqual(expect.arrayContaining(['CustomResourceDefinition /dynamicenvs.riskified.com']));
  });

  test('a second one in another namespace is refused', { timeout: 120_000 }, async () => {
    await installed();
    const other = install({ kubeconfig: cluster.kubeconfigPath, namespace: 'other', set: [] });
    await expect(other).rejects.toThrow('Offshoot is installed in offshoot-system, and a cluster has one');
    await uninstalled();
  });

  test.each([
    ['replicas', 'replicas": write it as NAME=VALUE'],
    ['replicas=two', 'replicas: Invalid input: expected number'],
    ['parts.dashboard=true', 'parts: Unrecognized key: "dashboard"'],
  ])('--set %s is refused', async (set, message) => {
    await expect(installed(set)).rejects.toThrow(message);
    expect(await made()).toEqual([]);
  });
});
