// An API server is down for a minute: `offshoot run` survives, retries with a backoff, and reconciles everything within
// seconds when the server is back. Needs a real one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { Deployment } from '../src/environments/index.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { Client, Kind, KubeObject, Ref } from '../src/kube/index.ts';
import { DestinationRule } from '../src/traffic/istio/objects.ts';
import { describeReal } from './cluster/index.ts';
import { startRealCluster } from './cluster/real.ts';
import type { RealCluster } from './cluster/real.ts';
import { installKinds } from './environments/install.ts';
import { makeWorkload } from './environments/workload.ts';
import { findObject } from './support/find-object.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

const OUTAGE_MS = 60_000;
/** How soon everything is reconciled again. */
const RECOVERY_MS = 10_000;
const namespace = 'default';

describeReal('an outage of the API server for a minute', () => {
  let dir: string;
  let cluster: RealCluster;
  let client: Client;
  let offshoot: Running;

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-outage-'));
    cluster = await startRealCluster();
    client = connect(loadConfig({ path: cluster.kubeconfigPath }));
    await installKinds(client);
    await makeWorkload(client, namespace, 'cart');
  }, 120_000);
  afterAll(async () => {
    offshoot?.child.kill('SIGKILL');
    await offshoot?.exit;
    client?.close();
    await cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function create(name: string): Promise<unknown> {
    const containers = [{ containerName: 'cart', image: 'cart:2' }];
    return client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: { name, namespace },
      spec: { key: name, subsets: [{ name: 'cart', namespace, containers }] },
    });
  }

  async function exists(kind: Kind<KubeObject>, ref: Ref): Promise<boolean> {
    return (await findObject(client, kind, ref)) !== undefined;
  }

  /** How many requests got no response. */
  async function unanswered(metrics: string): Promise<number> {
    const text = await (await fetch(`${metrics}/metrics`)).text();
    const counts = [...text.matchAll(/^rest_client_requests_total\{code="<error>".*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  test('is survived with few requests, and everything is reconciled within 10 s', { timeout: 300_000 }, async () => {
    const args = `run --no-webhook --namespace kube-system --rule-settle 0s --metrics-bind-address 127.0.0.1:0
      --health-probe-bind-address 0 --kubeconfig ${cluster.kubeconfigPath}`;
    offshoot = startOffshoot(args.split(/\s+/), { HOME: dir });
    const { metrics } = await offshoot.logged('running');
    await create('before');
    const state = async (): Promise<unknown> =>
      (await client.get(DynamicEnv, { name: 'before', namespace })).status?.state;
    await until(async () => (await state()) === 'ready', 60_000, state);
    const rules = await client.list(DestinationRule, { namespace });
    const rule = rules.items.find(({ metadata }) => metadata.name !== 'cart')!.metadata;

    // The outage starts before this one is reconciled.
    await create('during');
    await cluster.killApiServer();
    const before = await unanswered(metrics!);
    await delay(OUTAGE_MS); // the length of the outage itself
    const during = (await unanswered(metrics!)) - before;
    expect(during).toBeGreaterThan(0);
    expect(during).toBeLessThan(OUTAGE_MS / 100);

    await cluster.restartApiServer();
    const back = performance.now();
    await client.delete(DestinationRule, rule);
    await create('after');
    const clones = ['during', 'after'].map((name) => ({ name: `cart-${namespace}-${name}`, namespace }));
    let missing = 0;
    await until(
      async () => {
        const found = await Promise.all([
          exists(DestinationRule, rule),
          ...clones.map((each) => exists(Deployment, each)),
        ]);
        return (missing = found.filter((isFound) => !isFound).length) === 0;
      },
      RECOVERY_MS,
      () => ({ missing, log: offshoot.out.stderr.split('\n').slice(-30) }),
    );
    expect(performance.now() - back).toBeLessThan(RECOVERY_MS);
    expect(offshoot.child.exitCode).toBeNull();
  });
});
