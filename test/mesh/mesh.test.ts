// The mesh fixture itself: pods answer callers and the gateway, changes take effect, and no process is left behind.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import { isAlive, pidsIn } from '../support/alive.ts';
import { describeRequiring } from '../support/requirements.ts';
import { startOwner } from '../support/owner.ts';
import { until } from '../support/until.ts';
import { describeMeshes, meshRequirement } from './index.ts';
import type { Proxy } from './mesh.ts';
import { makeWorkloads } from './workload.ts';

describeMeshes('mesh', { debounce: '1ms' }, (handle) => {
  let web: Proxy;
  let tester: Proxy;

  beforeAll(async () => {
    const { mesh } = handle;
    await makeWorkloads(mesh.client, 'shop', ['orders'], mesh.ports[0]!);
    web = await mesh.caller({ name: 'web', namespace: 'shop', labels: { app: 'web' } });
    tester = await mesh.caller({ name: 'test', labels: { app: 'test' } });
    await mesh.settled();
  });

  test('pods answer with their identity and the request', async () => {
    const headers = [
      ['X-Many', 'a'],
      ['x-many', 'b'],
    ] as const;
    const { status, pod } = await web.ask({ host: 'orders', path: '/cart?x=1', method: 'POST', headers });
    expect(status).toBe(200);
    expect(pod).toMatchObject({ namespace: 'shop', image: 'orders:1', method: 'POST', url: '/cart?x=1' });
    expect(pod?.pod).toMatch(/^orders-/);
    expect(pod?.labels).toMatchObject({ app: 'orders', version: 'shared' });
    expect(pod?.headers.filter((_each, i) => pod.headers[i - 1] === 'x-many')).toEqual(['a', 'b']);
  });

  test('routes tell callers apart by labels and namespace, and the ingress by its gateway', async () => {
    const { mesh } = handle;
    const respond = (status: number) => ({ directResponse: { status } });
    const http = [
      { match: [{ gateways: ['istio-system/ingress'] }], ...respond(201) },
      { match: [{ sourceLabels: { app: 'test' } }], ...respond(202) },
      { match: [{ sourceNamespace: 'shop' }], ...respond(203) },
    ];
    const spec = { gateways: ['mesh', 'istio-system/ingress'], http };
    await mesh.client.patch(VirtualService, { namespace: 'shop', name: 'orders' }, { type: 'merge', body: { spec } });
    await mesh.settled();
    const host = 'orders.shop.svc.cluster.local';
    const answers = await Promise.all([mesh.ingress, tester, web].map((proxy) => proxy.ask({ host })));
    expect(answers.map(({ status }) => status)).toEqual([201, 202, 203]);
  });
});

describeRequiring('the processes of a mesh', [meshRequirement()], () => {
  test('end when their owner is killed', async () => {
    const module = (name: string): string => JSON.stringify(path.join(import.meta.dirname, name));
    const { line: dir, kill } = await startOwner(`
      import { ownClusters } from ${module('../cluster/own.ts')};
      import { startMesh } from ${module('mesh.ts')};
      import { connect, loadConfig } from ${module('../../src/kube/index.ts')};
      const { kubeconfigPath } = await ownClusters.embedded();
      const mesh = await startMesh({ client: connect(loadConfig({ path: kubeconfigPath })), kubeconfigPath });
      console.log(mesh.dir);`);
    const pids = pidsIn(dir);
    expect(pids.filter(isAlive)).toHaveLength(2);
    kill();
    await until(() => !pids.some(isAlive) && !existsSync(dir));
  });
});
