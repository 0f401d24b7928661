import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject, KubeObject } from '../../kube/objects.ts';
import { Fault } from '../rest/fault.ts';
import { nodes, pods } from '../kinds/types.ts';
import type { Collection } from '../kinds/types.ts';
import { testCluster } from './testing/cluster.ts';
import type { TestCluster } from './testing/cluster.ts';
import { pod, service } from './testing/objects.ts';

type Any = KubeObject & JsonObject;
const slices: Collection<Any & { endpoints: JsonObject[]; ports: JsonObject[] }> = 'endpointslices.discovery.k8s.io';

function slicesOf(cluster: TestCluster, name = 'web'): (Any & { endpoints: JsonObject[]; ports: JsonObject[] })[] {
  return cluster.list(slices).filter((slice) => slice.metadata.labels?.['kubernetes.io/service-name'] === name);
}

describe('the simulation', () => {
  test('continues unfinished work after a restart', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'simulate-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const before = await testCluster(false, { dataDir });
    await before.create(pod('one', { app: 'web' }), service({ selector: { app: 'web' }, ports: [{ port: 80 }] }));
    expect(before.must(pods, 'default/one').spec.nodeName).toBeUndefined();
    await before.embedded.stop();
    const after = await testCluster({}, { dataDir });
    await after.settle();
    expect(after.must(pods, 'default/one').status?.phase).toBe('Running');
    expect(slicesOf(after)[0]?.endpoints).toHaveLength(1);
    await after.embedded.stop();
    const again = await testCluster({}, { dataDir });
    const { version } = again.embedded.store;
    await again.settle();
    expect(again.embedded.store.version).toBe(version);
  });

  test('writes nothing when there is nothing to do', async () => {
    const cluster = await testCluster({ nodes: 2 });
    await cluster.create(pod('one'));
    await cluster.settle();
    const { version } = cluster.embedded.store;
    await cluster.settle();
    expect(cluster.embedded.store.version).toBe(version);
    expect(cluster.list(nodes, '')).toHaveLength(2);
  });

  test('does not run disabled controllers', async () => {
    const cluster = await testCluster({ disabled: ['scheduler'] });
    await cluster.create(pod('one'));
    await cluster.settle();
    expect(cluster.must(pods, 'default/one').spec.nodeName).toBeUndefined();
  });

  test('records Events on objects', async () => {
    const cluster = await testCluster();
    await cluster.create(pod('one'));
    await cluster.settle();
    const events = cluster.list<Any>('events').map((event) => [event['reason'], event['message']]);
    expect(events).toContainEqual(['Scheduled', 'Successfully assigned default/one to offshoot-node-1']);
  });

  test('refuses a request with the same status as Kubernetes', async () => {
    const cluster = await testCluster();
    await cluster.create({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'none', namespace: 'default' },
      spec: { hard: { pods: '0' } },
    });
    const refusal = await cluster.create(pod('one')).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Fault);
    expect((refusal as Fault).status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { name: 'one', kind: 'pods' },
    });
  });
});
