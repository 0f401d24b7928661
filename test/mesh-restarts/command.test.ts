// `offshoot mesh restart` as a separate process, on a cluster where nothing else restarts workloads.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../../src/api/istio.ts';
import { runnerFor } from '../../src/cli/testing/offshoot-process.ts';
import type { Runner } from '../../src/cli/testing/offshoot-process.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { MutatingWebhook } from '../../src/mesh/index.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import type { Injector } from './injector.ts';
import { observe } from './observer.ts';
import type { Observer } from './observer.ts';
import { controllers, createIstio, Deployment, prepare, reached, RESOURCE, SHOP, workload } from './world.ts';

const VERSION = '1.31.0';
const EXCLUDED = 'restarter.istio-operator.kyma-project.io/exclude';

const WINDOW = 'restarter.istio-operator.kyma-project.io/maintenance-window';

function windowInThreeDays(): string {
  const day = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'][(new Date().getUTCDay() + 3) % 7]!;
  return `${day} 00:00-01:00`;
}

describeOwnClusters('offshoot mesh restart', (cluster) => {
  let client: Client;
  let injector: Injector;
  let manager: Manager;
  let observer: Observer;
  let offshoot: Runner;

  beforeAll(async () => {
    client = cluster.client();
    offshoot = runnerFor(cluster.kubeconfigPath);
    injector = await prepare(client);
    const installing = controllers({ istioVersion: VERSION }).filter(({ name }) => name === 'mesh');
    manager = new Manager({ client, controllers: installing, logger: createLogger({ level: 'silent' }) });
    await manager.start();
  }, 60_000);
  afterAll(async () => {
    await observer?.close();
    await manager.stop();
    await injector.close();
  });

  test('fails without an Istio resource, and without --outdated', { timeout: 60_000 }, async () => {
    expect(await offshoot.run('mesh', 'restart', '--outdated')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no Istio resource') as string,
    });
    expect(await offshoot.run('mesh', 'restart')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('specify what to restart: --outdated') as string,
    });
  });

  test('lists outdated workloads, restarts them, and watches until the end', { timeout: 180_000 }, async () => {
    await createIstio(client);
    await reached(client, 'Ready', VERSION);
    for (const name of ['a', 'b', 'c']) await client.create(Deployment, workload(name, { replicas: 1 }));
    const annotations = { [EXCLUDED]: 'true' };
    await client.create(Deployment, workload('left-alone', { replicas: 1, annotations }));
    const isUp = async (): Promise<boolean> => {
      const { items } = await client.list(Deployment, { namespace: SHOP });
      return items.length === 4 && items.every(({ status }) => status?.availableReplicas === 1);
    };
    await until(isUp, 60_000);
    observer = await observe(client);
    const resources = { requests: { cpu: '40m' } };
    const body = { spec: { components: { proxy: { k8s: { resources } } } } };
    await client.patch(Istio, RESOURCE, { type: 'merge', body });
    const dryRun = (): ReturnType<Runner['run']> =>
      offshoot.run('mesh', 'restart', '--outdated', '--dry-run', '--batch-size', '1');
    await until(async () => (await dryRun()).stdout.includes('requests.cpu'), 60_000);
    const why = 'requests.cpu of its sidecar is 10m, and should be 40m';
    expect(await dryRun()).toEqual({
      code: 0,
      stderr: '',
      stdout:
        `Deployment shop/a: now; ${why}\n` +
        `Deployment shop/b: waits, the next batch; ${why}\n` +
        `Deployment shop/c: waits, the next batch; ${why}\n` +
        `Deployment shop/left-alone: waits, it is excluded by annotation ${EXCLUDED}; ${why}\n`,
    });
    expect(observer.restarts.size).toBe(0);

    const begun = await offshoot.run('mesh', 'restart', '--outdated', '--batch-size', '1');
    expect([begun.code, begun.stdout]).toEqual([0, expect.stringContaining('of 4 workloads are up to date.')]);
    expect(observer.restarts.size).toBeGreaterThan(0);

    const watched = await offshoot.run('mesh', 'restart', '--outdated', '--watch', '--batch-size', '1');
    expect(watched).toMatchObject({
      code: 0,
      stdout:
        '3 of 4 workloads are up to date.\n1 is excluded by annotation.\nSee offshoot mesh restart --outdated --dry-run.\n',
    });
    expect(watched.stderr).toContain('workloads: 3 of 4 are up to date');
    expect(watched.stderr).toContain('Deployment shop/c: restarted');
    expect(watched.stderr).toContain(`Deployment shop/left-alone: it is excluded by annotation ${EXCLUDED}`);
    expect([...observer.restarts].map(([name, marks]) => `${name} ${marks.size}`).sort()).toEqual([
      'a 1',
      'b 1',
      'c 1',
    ]);

    const annotation = { [EXCLUDED]: null, [WINDOW]: windowInThreeDays() };
    const ref = { namespace: SHOP, name: 'left-alone' };
    await client.patch(Deployment, ref, { type: 'merge', body: { metadata: { annotations: annotation } } });
    expect(await offshoot.run('mesh', 'restart', '--outdated', '--watch')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        '3 of 4 workloads are up to date.\n1 waits for a maintenance window.\n',
      ) as string,
      stderr: expect.stringContaining('error: not everything that is outdated was restarted') as string,
    });
  });

  test.each([
    ['--dry-run --watch', '--dry-run restarts nothing that --watch could show'],
    ['-n shop', '-n "shop": a cluster has one mesh'],
  ])('refuses %s', async (flags, message) => {
    expect(await offshoot.run('mesh', 'restart', '--outdated', ...flags.split(' '))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(message) as string,
    });
  });

  test('refuses --uninjected if nothing injects sidecars', { timeout: 60_000 }, async () => {
    await client.delete(MutatingWebhook, { name: 'test-injector' });
    expect(await offshoot.run('mesh', 'restart', '--outdated', '--uninjected', '--dry-run')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('nothing injects sidecars into new pods of this cluster') as string,
    });
  });
});
