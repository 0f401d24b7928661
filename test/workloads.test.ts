// Workloads on every cluster: the status of pods follows the annotation `offshoot.dev/simulate` of their template.
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type { Client } from '../src/kube/client/client.ts';
import { isNotFound } from '../src/kube/errors.ts';
import { defineKind } from '../src/kube/objects.ts';
import type { KubeObject } from '../src/kube/objects.ts';
import { describeClusters } from './cluster/index.ts';
import type { Pod } from '../src/embedded/simulate/pods/pod-status.ts';
import { until } from './support/until.ts';

interface Workload extends KubeObject {
  readonly spec: unknown;
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly readyReplicas?: number;
    readonly unavailableReplicas?: number;
  };
}

/** Long, for a busy machine. */
const deadlineMs = 25_000;

const pods = defineKind<Pod>('v1', 'Pod', 'pods');
const deployments = defineKind<Workload>('apps/v1', 'Deployment', 'deployments');
const jobs = defineKind<Workload>('batch/v1', 'Job', 'jobs');

describeClusters('workloads', (cluster) => {
  let client: Client;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('workloads');
  });

  function template(name: string, simulate: string | undefined, spec: object = {}): object {
    const annotations = simulate === undefined ? {} : { 'offshoot.dev/simulate': simulate };
    const containers = [{ name: 'main', image: 'app:1' }];
    return { metadata: { labels: { app: name }, annotations }, spec: { containers, ...spec } };
  }

  async function deploy(name: string, simulate?: string, spec: object = {}): Promise<void> {
    const selector = { matchLabels: { app: name } };
    await client.create(deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: { replicas: 2, selector, template: template(name, simulate), ...spec },
    });
  }

  async function runJob(name: string, simulate?: string): Promise<void> {
    await client.create(jobs, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace },
      spec: { backoffLimit: 0, template: template(name, simulate, { restartPolicy: 'Never' }) },
    });
  }

  async function podsOf(name: string): Promise<readonly Pod[]> {
    return (await client.list(pods, { namespace, labelSelector: `app=${name}` })).items;
  }

  async function holds(kind: typeof jobs, name: string, type: string, status = 'True'): Promise<boolean> {
    const { conditions = [] } = (await client.get(kind, { namespace, name })).status ?? {};
    return conditions.some((condition) => condition.type === type && condition.status === status);
  }

  test('a Deployment becomes available, with an address for each pod, and is deleted with its pods', async () => {
    await deploy('plain');
    await until(() => holds(deployments, 'plain', 'Available'), deadlineMs);
    const { status } = await client.get(deployments, { namespace, name: 'plain' });
    expect(status?.readyReplicas).toBe(2);
    const addresses = (await podsOf('plain')).map((pod) => pod.status?.podIP);
    expect(new Set(addresses).size).toBe(2);
    expect(addresses.every((address) => /^\d+\.\d+\.\d+\.\d+$/.test(address ?? ''))).toBe(true);

    await client.delete(deployments, { namespace, name: 'plain' }, { propagationPolicy: 'Foreground' });
    await until(() => client.get(deployments, { namespace, name: 'plain' }).then(() => false, isNotFound), deadlineMs);
    expect(await podsOf('plain')).toEqual([]);
  });

  test('slow pods are ready after their delay and not before', async () => {
    const started = performance.now();
    await deploy('slow', 'slow=2s');
    await until(() => holds(deployments, 'slow', 'Available'), deadlineMs);
    expect(performance.now() - started).toBeGreaterThanOrEqual(2_000);
  });

  test.each([
    ['pending', 'Pending', 'ContainerCreating'],
    ['crash', 'Running', 'CrashLoopBackOff'],
    ['never-ready', 'Running', undefined],
  ])(
    'pods that simulate %s never become available, and the Deployment exceeds its progress deadline',
    async (simulate, phase, waiting) => {
      await deploy(simulate, simulate, { progressDeadlineSeconds: 1 });
      await until(() => holds(deployments, simulate, 'Progressing', 'False'), deadlineMs);
      const { status } = await client.get(deployments, { namespace, name: simulate });
      const reasons = status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
      expect(reasons).toContain('Progressing=False ProgressDeadlineExceeded');
      // The deadline is a second: the pods may not have reached their final state by then.
      await until(async () => {
        const found = (await podsOf(simulate)).map((pod) => [
          pod.status?.phase,
          pod.status?.containerStatuses?.[0]?.state?.waiting?.reason,
        ]);
        return isDeepStrictEqual(found, [
          [phase, waiting],
          [phase, waiting],
        ]);
      }, deadlineMs);
      await until(async () => {
        const { status: later } = await client.get(deployments, { namespace, name: simulate });
        return later?.unavailableReplicas === 2;
      }, deadlineMs);
      expect(await holds(deployments, simulate, 'Available')).toBe(false);
    },
  );

  test('a Job completes, or fails when its pods do', async () => {
    await runJob('good');
    await runJob('bad', 'fail');
    await until(() => holds(jobs, 'good', 'Complete'), deadlineMs);
    await until(() => holds(jobs, 'bad', 'Failed'), deadlineMs);
    expect(await holds(jobs, 'good', 'Failed')).toBe(false);
    expect((await podsOf('good')).map((pod) => pod.status?.phase)).toEqual(['Succeeded']);
    expect((await podsOf('bad')).map((pod) => pod.status?.phase)).toEqual(['Failed']);
  });
});
