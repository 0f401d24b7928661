// The chart on a real node, with real pods: installed, upgraded, rolled back and uninstalled with the real Helm, and a
// failover between its two replicas.
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, loadConfig } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { helms } from '../chart/helm.ts';
import { chart } from '../chart/values.ts';
import { writesByPods } from '../cluster/audit.ts';
import { beginFifty, expectAllReady, makeWorkloads, TAKEOVER_MS, WORKLOADS } from '../environments/fifty.ts';
import { installIstioKinds } from '../environments/install.ts';
import { poll } from '../scenarios/poll.ts';
import { offshootImage } from './images.ts';
import { describeOwnNode } from './index.ts';
import { killLeader, leaderOf, offshootNamespace as namespace } from './offshoot.ts';

const [repository, tag] = offshootImage.split(':');
const values = [`image.repository=${repository}`, `image.tag=${tag}`, 'image.pullPolicy=Never', 'parts.targets=true'];

const aliases = WORKLOADS.flatMap((name) => [`${name}:1`, `${name}:2`]);

describeOwnNode('a release of the chart', { offshoot: true, aliases }, (node) => {
  let client: Client;
  beforeAll(async () => {
    client = connect(loadConfig({ path: node().kubeconfigPath }));
    await installIstioKinds(client);
  });
  afterAll(() => client?.close());

  describe.each(helms)('$title', ({ title, run, describeIt }) => {
    const helm = (...args: string[]): Promise<string> =>
      run([...args, '--namespace', namespace, '--kubeconfig', node().kubeconfigPath]);
    const apply = (command: string, ...sets: string[]): Promise<string> =>
      helm(
        command,
        'offshoot',
        chart,
        '--wait',
        '--timeout',
        '90s',
        ...[...values, ...sets].flatMap((set) => ['--set', set]),
      );
    const ready = (): Promise<string> =>
      node().kubectl(['get', '-n', namespace, 'deployment/offshoot', '-o', 'jsonpath={.status.readyReplicas}']);
    const registered = (): Promise<string> =>
      node().kubectl(['get', 'validatingwebhookconfigurations', '-o', 'jsonpath={.items[*].webhooks[*].name}']);

    describeIt('on real pods', () => {
      test('pods become ready under Pod Security "restricted", and register the webhook', async () => {
        const { kubectl } = node();
        await kubectl(['create', 'namespace', namespace]);
        await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
        await apply('install');
        expect(await ready()).toBe('2');
        await expect.poll(registered).toMatch(/vdynamicenv/);
      });

      test('an upgrade and a rollback succeed, and the webhook still denies invalid objects', async () => {
        await apply('upgrade', 'logLevel=debug', 'replicas=1');
        expect(await ready()).toBe('1');
        await helm('rollback', 'offshoot', '1', '--wait', '--timeout', '90s');
        expect(await ready()).toBe('2');
        const invalid = {
          apiVersion: 'riskified.com/v1alpha1',
          kind: 'DynamicEnv',
          metadata: { name: 'wrong', namespace: 'default' },
          spec: { istioMatches: [], subsets: [] },
        };
        await expect(node().kubectl(['apply', '-f', '-'], invalid)).rejects.toThrow(/denied the request/);
      });

      // The pods are the same with every version of Helm.
      test.runIf(title === helms.at(-1)!.title)(
        'a standby takes over within 20 s when the leader is killed amid 50 environments, and never do both write',
        async () => {
          const shop = 'shop';
          await node().kubectl(['create', 'namespace', shop]);
          await makeWorkloads(client, shop);
          await beginFifty(client, shop);
          const killed = await killLeader(client);
          await poll(async () => ![killed, ''].includes((await leaderOf(client)).pod), TAKEOVER_MS);
          const { pod: other } = await leaderOf(client);
          await expectAllReady(client, shop);
          const writers = writesByPods(path.join(node().dir, 'control-plane'), shop).map(({ pod }) => pod);
          expect(writers.filter((pod, at) => pod !== writers[at - 1])).toEqual([killed, other]);
        },
        360_000,
      );

      test('uninstall removes the webhook registrations, so that no write fails for lack of an endpoint', async () => {
        await helm('uninstall', 'offshoot', '--wait', '--timeout', '90s');
        expect(await registered()).toBe('');
        await node().kubectl(['delete', 'namespace', namespace, '--timeout=60s']);
        expect(await registered()).toBe('');
      });
    });
  });
});
