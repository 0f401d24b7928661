// The chart on a real node, as real pods: installed, upgraded, rolled back and uninstalled with the real Helm.
import { describe, expect, test } from 'vitest';
import { helms } from '../chart/helm.ts';
import { chart } from '../chart/values.ts';
import { offshootImage } from './images.ts';
import { describeOwnNode } from './index.ts';
import { offshootNamespace as namespace } from './offshoot.ts';

const [repository, tag] = offshootImage.split(':');
const values = [`image.repository=${repository}`, `image.tag=${tag}`, 'image.pullPolicy=Never', 'parts.targets=true'];

describeOwnNode('a release of the chart', { offshoot: true }, (node) => {
  describe.each(helms)('$title', ({ run, describeIt }) => {
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

    describeIt('as real pods', () => {
      test('its pods become ready under Pod Security "restricted", and register the webhook', async () => {
        const { kubectl } = node();
        await kubectl(['create', 'namespace', namespace]);
        await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
        await apply('install');
        expect(await ready()).toBe('2');
        await expect.poll(registered).toMatch(/vdynamicenv/);
      });

      test('it is upgraded and rolled back, and refuses what it must all the time', async () => {
        await apply('upgrade', 'logLevel=debug', 'replicas=1');
        expect(await ready()).toBe('1');
        await helm('rollback', 'offshoot', '1', '--wait', '--timeout', '90s');
        expect(await ready()).toBe('2');
        const wrong = {
          apiVersion: 'riskified.com/v1alpha1',
          kind: 'DynamicEnv',
          metadata: { name: 'wrong', namespace: 'default' },
          spec: { istioMatches: [], subsets: [] },
        };
        await expect(node().kubectl(['apply', '-f', '-'], wrong)).rejects.toThrow(/denied the request/);
      });

      test('an uninstall takes the registrations with it, and no write is refused for want of an answer', async () => {
        await helm('uninstall', 'offshoot', '--wait', '--timeout', '90s');
        expect(await registered()).toBe('');
        await node().kubectl(['delete', 'namespace', namespace, '--timeout=60s']);
        expect(await registered()).toBe('');
      });
    });
  });
});
