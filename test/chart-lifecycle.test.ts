// A release of the chart on a real API server, with the real Helm: installed, upgraded, rolled back, uninstalled. The
// pods are simulated; the controllers run in this process, with the permissions of the release.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ValidatingWebhookConfiguration } from '../src/controller/webhook/registration.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { helms } from './chart/helm.ts';
import { chart } from './chart/values.ts';
import { clusterRequirement, ownDrivers, start } from './cluster/index.ts';
import type { Started } from './cluster/index.ts';
import { everything } from './node/everything.ts';
import { kubectlFor } from './node/kubectl.ts';
import type { Kubectl } from './node/kubectl.ts';
import { CustomResourceDefinition, Deployment } from './support/core-kinds.ts';
import { describeRequiring } from './support/requirements.ts';
import { until } from './support/until.ts';
import { startWithPermissions } from './support/with-permissions.ts';
import type { WithPermissions } from './support/with-permissions.ts';

const NAMESPACE = 'offshoot-system';
const real = ownDrivers.find(({ name }) => name === 'real')!;

/** A next version of the chart: another version number, and a change in a definition. */
function nextVersion(): string {
  const dir = path.join(mkdtempSync(path.join(tmpdir(), 'offshoot-chart-')), 'offshoot');
  cpSync(chart, dir, { recursive: true });
  const edit = (file: string, from: RegExp, to: string): void => {
    const text = readFileSync(path.join(dir, file), 'utf8');
    expect(text).toMatch(from);
    writeFileSync(path.join(dir, file), text.replace(from, to));
  };
  edit('Chart.yaml', /^version: .*$/m, 'version: 99.0.0');
  edit('definitions/environments.yaml', /^( +)- de$/m, '$&\n$1- denv');
  return dir;
}

for (const { title, requirement, run } of helms) {
  describeRequiring(`a release of ${title}`, [requirement, clusterRequirement(real)], () => {
    let cluster: Started;
    let client: Client;
    let kubectl: Kubectl;
    let before: readonly string[];
    let controllers: WithPermissions | undefined;
    let next: string;

    const helm = (...args: string[]): Promise<string> =>
      run([...args, '--namespace', NAMESPACE, '--kubeconfig', cluster.kubeconfigPath]);
    const deployment = (): Promise<AnyObject> => client.get(Deployment, { namespace: NAMESPACE, name: 'offshoot' });
    const shortNames = async (): Promise<unknown> => {
      const { spec } = await client.get(CustomResourceDefinition, { name: 'dynamicenvs.riskified.com' });
      return (spec as { names: { shortNames: string[] } }).names.shortNames;
    };
    const registered = async (): Promise<number> => {
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, { name: 'offshoot-environments' });
      return (webhooks ?? []).length;
    };

    beforeAll(async () => {
      next = nextVersion();
      cluster = await start(real);
      ({ client } = cluster);
      kubectl = kubectlFor(cluster.kubeconfigPath);
      await kubectl(['create', 'namespace', NAMESPACE]);
      await kubectl(['label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted']);
      await until(async () => (await everything(kubectl)).includes(`ServiceAccount ${NAMESPACE}/default`));
      before = await everything(kubectl);
    }, 120_000);
    afterAll(async () => {
      await controllers?.plane.stop();
      await cluster?.stop();
      rmSync(path.dirname(next), { recursive: true, force: true });
    });

    test('is installed, and its pods become ready under Pod Security "restricted"', async () => {
      await helm('install', 'offshoot', chart, '--wait', '--timeout', '60s');
      expect(await deployment()).toMatchObject({ spec: { replicas: 2 }, status: { readyReplicas: 2 } });
    });

    test('lets the controllers write the webhook configuration, with the permissions of the release', async () => {
      const webhook = { port: 0, reach: { service: 'offshoot-webhook' }, existingOnly: true, drainMs: 0 };
      controllers = await startWithPermissions(cluster, 'environments', { webhook });
      await until(async () => (await registered()) > 0);
      expect(controllers.refused).toEqual([]);
    });

    test('updates definitions in an upgrade, and keeps what the controllers wrote', async () => {
      await helm('upgrade', 'offshoot', next, '--set', 'replicas=3', '--wait', '--timeout', '60s');
      expect(await deployment()).toMatchObject({ spec: { replicas: 3 } });
      expect(await shortNames()).toContain('denv');
      expect(await registered()).toBeGreaterThan(0);
    });

    test('can be rolled back', async () => {
      await helm('rollback', 'offshoot', '1', '--wait', '--timeout', '60s');
      expect(await deployment()).toMatchObject({ spec: { replicas: 2 } });
      expect(await registered()).toBeGreaterThan(0);
    });

    test('leaves the definitions and the webhook certificate behind when it is uninstalled', async () => {
      await helm('uninstall', 'offshoot', '--wait', '--timeout', '60s');
      const left = async (): Promise<readonly string[]> =>
        (await everything(kubectl)).filter((each) => !before.includes(each));
      await expect
        .poll(left, { timeout: 20_000 })
        .toEqual([
          'APIService /v1alpha1.riskified.com',
          'CustomResourceDefinition /dynamicenvs.riskified.com',
          `Secret ${NAMESPACE}/offshoot-webhook-tls`,
        ]);
    });
  });
}
