// Two replicas of `offshoot run`, as processes: the one that leads dies, or is frozen and comes back, in the middle of making
// environments. The other takes over, all of it comes to an end, and never do two of them write.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../src/kube/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { beginFifty, expectAllReady, makeWorkloads, TAKEOVER_MS } from './environments/fifty.ts';
import { installKinds } from './environments/install.ts';
import { startChaos } from './support/chaos-proxy.ts';
import type { Chaos } from './support/chaos-proxy.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

interface Replica extends Running {
  /** When it sent requests that write, Leases and Events aside; by the clock of this process. */
  readonly writes: readonly number[];
  readonly leads: Promise<number>;
}

describeOwnClusters('failover', (cluster) => {
  let dir: string;
  const proxies: Chaos[] = [];
  const replicas: Running[] = [];

  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'offshoot-failover-'));
    await installKinds(cluster.client());
  });
  afterEach(async () => {
    for (const { child, exit } of replicas.splice(0)) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      await exit;
    }
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** A replica that reaches the API server by a proxy of its own, which sees what it writes. */
  async function start(name: string): Promise<Replica> {
    const { server, caPem, certPem, keyPem, token } = loadConfig({ path: cluster.kubeconfigPath });
    const writes: number[] = [];
    const proxy = await startChaos({
      target: {
        url: server,
        ...(caPem !== undefined && { caPem }),
        ...(certPem !== undefined && { certPem }),
        ...(keyPem !== undefined && { keyPem }),
        ...(token !== undefined && { token }),
      },
      onRequest: (request) => {
        if (isWrite(request)) writes.push(performance.now());
      },
    });
    proxies.push(proxy);
    const kubeconfig = path.join(dir, name);
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        clusters: [{ name: 'c', cluster: { server: proxy.url } }],
        users: [{ name: 'u', user: {} }],
      }),
    );
    const args = `run --leader-elect --no-webhook --namespace kube-system --metrics-bind-address 0
      --health-probe-bind-address 0 --rule-settle 0s --kubeconfig ${kubeconfig}`;
    const running = startOffshoot(args.split(/\s+/), { HOME: dir });
    replicas.push(running);
    await until(
      () => running.out.stderr.includes('"msg":"running"'),
      60_000,
      () => running.out.stderr,
    );
    const leads = until(() => running.out.stderr.includes('"msg":"leading"'), 60_000).then(() => performance.now());
    leads.catch(() => {});
    return { ...running, writes, leads };
  }

  /** Two replicas, of which the first leads, and environments of which some are ready and most are not. */
  async function begin(): Promise<{ first: Replica; second: Replica; namespace: string }> {
    const namespace = await cluster.namespace('failover');
    await makeWorkloads(cluster.client(), namespace);
    const first = await start('first');
    await first.leads;
    const second = await start('second');
    await beginFifty(cluster.client(), namespace);
    return { first, second, namespace };
  }

  test(
    'a leader that is killed is followed within 20 s, and all 50 environments come to be ready',
    { timeout: 300_000 },
    async () => {
      const { first, second, namespace } = await begin();
      expect(second.writes).toEqual([]);
      first.child.kill('SIGKILL');
      const killed = performance.now();
      expect((await second.leads) - killed).toBeLessThan(TAKEOVER_MS);
      await expectAllReady(cluster.client(), namespace);
      expect(second.writes.length).toBeGreaterThan(0);
      expect(second.writes[0]! - killed).toBeGreaterThan(0);
    },
  );

  test(
    'a leader that is frozen until another leads writes nothing more when it comes back, and ends',
    { timeout: 300_000 },
    async () => {
      const { first, second, namespace } = await begin();
      first.child.kill('SIGSTOP');
      const led = await second.leads;
      await until(() => second.writes.length > 0, 30_000);
      first.child.kill('SIGCONT');
      const { code } = await first.exit;
      expect(code).toBe(1);
      expect(first.out.stderr).toContain('is lost: another process may have it now');
      await expectAllReady(cluster.client(), namespace);
      expect(first.writes.filter((at) => at > led)).toEqual([]);
    },
  );
});

function isWrite({ method = '', url = '' }: IncomingMessage): boolean {
  return method !== 'GET' && !/\/(leases|events)(\/|\?|$)/.test(url);
}
