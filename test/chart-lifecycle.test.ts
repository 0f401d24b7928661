// A release of the chart on a real API server, with the real Helm: installed, upgraded, rolled back, uninstalled. Pods
// are those of the kubelet's stand-in; the controllers run here, with the rights of the release.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineKind } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { helms } from './chart/helm.ts';
import { chart } from './chart/values.ts';
import { clusterNeed, ownDrivers, start } from './cluster/index.ts';
import type { Started } from './cluster/index.ts';
import { everything } from './node/everything.ts';
import { kubectlFor } from './node/kubectl.ts';
import type { Kubectl } from './node/kubectl.ts';
import { describeNeeding } from './support/needs.ts';
import { until } from './support/until.ts';
import { startWithRights } from './support/with-rights.ts';
import type { WithRights } from './support/with-rights.ts';

const NAMESPACE = 'offshoot-system';
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const Registration = defineKind(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  { namespaced: false },
);
const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const real = ownDrivers.find(({ name }) => name === 'real')!;

/** The chart as a next version might be: another number, and one more field in a definition. */
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

for (const { title, need, run } of helms) {
  describeNeeding(`a release of ${title}`, [need, clusterNeed(real)], () => {
    let cluster: Started;
    let client: Client;
    let kubectl: Kubectl;
    let before: readonly string[];
    let controllers: WithRights | undefined;
    let next: string;

    const helm = (...args: string[]): Promise<string> =>
      run([...args, '--namespace', NAMESPACE, '--kubeconfig', cluster.kubeconfigPath]);
    const deployment = (): Promise<AnyObject> => client.get(Deployment, { namespace: NAMESPACE, name: 'offshoot' });
    const shortNames = async (): Promise<unknown> => {
      const { spec } = await client.get(Definition, { name: 'dynamicenvs.riskified.com' });
      return (spec as { names: { shortNames: string[] } }).names.shortNames;
    };
    const registered = async (): Promise<number> => {
      const configuration: AnyObject = await client.get(Registration, { name: 'offshoot-environments' });
      return (configuration['webhooks'] as unknown[] | undefined)?.length ?? 0;
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

    test('the controllers fill in the registration of the webhook with the rights of the release', async () => {
      const webhook = { port: 0, reach: { service: 'offshoot-webhook' }, existingOnly: true, drainMs: 0 };
      controllers = await startWithRights(cluster, 'environments', { webhook });
      await until(async () => (await registered()) > 0);
      expect(controllers.refused).toEqual([]);
    });

    test('an upgrade brings definitions up to date, and leaves alone what the controllers wrote', async () => {
      await helm('upgrade', 'offshoot', next, '--set', 'replicas=3', '--wait', '--timeout', '60s');
      expect(await deployment()).toMatchObject({ spec: { replicas: 3 } });
      expect(await shortNames()).toContain('denv');
      expect(await registered()).toBeGreaterThan(0);
    });

    test('a rollback takes it back', async () => {
      await helm('rollback', 'offshoot', '1', '--wait', '--timeout', '60s');
      expect(await deployment()).toMatchObject({ spec: { replicas: 2 } });
      expect(await registered()).toBeGreaterThan(0);
    });

    test('an uninstall leaves the definitions, and of the controllers their leases and certificate', async () => {
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
