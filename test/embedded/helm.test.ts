// The life cycle of a chart, with both versions of Helm: install, upgrade, roll back, list, test, uninstall.
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { defineKind } from '../../src/kube/objects.ts';
import { helms } from '../chart/helm.ts';
import { describeClusters } from '../cluster/index.ts';

const chart = path.join(import.meta.dirname, 'testdata/chart');
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
const timeout = 90_000;

for (const { title, describeIt, run } of helms) {
  describeIt(title, () => {
    describeClusters('a Helm release', (cluster) => {
      let namespace: string;

      beforeAll(async () => {
        namespace = await cluster.namespace('helm');
      });

      const helm = (...args: string[]): Promise<string> =>
        run([...args, '--namespace', namespace, '--kubeconfig', cluster.kubeconfigPath]);
      const wait = ['--wait', '--timeout', '60s'];
      const replicas = async (): Promise<unknown> => {
        const { spec, status } = await cluster.client().get(Deployment, { namespace, name: 'web' });
        return [(spec as { replicas: number }).replicas, (status as { readyReplicas: number }).readyReplicas];
      };
      const releases = async (): Promise<unknown> => JSON.parse(await helm('list', '--output', 'json')) as unknown;

      test('can be installed, upgraded and rolled back', { timeout }, async () => {
        await helm('install', 'web', chart, ...wait);
        expect(await replicas()).toEqual([1, 1]);
        await helm('upgrade', 'web', chart, '--set', 'replicas=3', ...wait);
        expect(await replicas()).toEqual([3, 3]);
        await helm('rollback', 'web', '1', ...wait);
        expect(await replicas()).toEqual([1, 1]);
        expect(await releases()).toMatchObject([
          { name: 'web', revision: '3', status: 'deployed', chart: 'web-1.0.0' },
        ]);
      });

      test('can be tested: its test pod succeeds, or fails if simulated', { timeout }, async () => {
        await helm('test', 'web', '--timeout', '60s');
        await helm('upgrade', 'web', chart, '--set', 'simulate=fail', ...wait);
        await expect(helm('test', 'web', '--timeout', '60s')).rejects.toThrow(/web-test failed/);
      });

      test('leaves nothing behind when it is uninstalled', { timeout }, async () => {
        await helm('uninstall', 'web', ...wait);
        expect(await releases()).toEqual([]);
        const maps = await cluster.client().list(ConfigMap, { namespace });
        expect(maps.items.map(({ metadata }) => metadata.name)).toEqual(['kube-root-ca.crt']);
      });
    });
  });
}
