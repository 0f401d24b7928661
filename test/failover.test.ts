// Two replicas of `offshoot run`, as processes: the one that leads dies, or is frozen and comes back, in the middle of making
// environments. The other takes over, all of it comes to an end, and never do two of them write. Most of the time the tests
// wait for a Lease, so they run side by side, on a cluster each.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../src/kube/index.ts';
import type { Cluster } from './cluster/index.ts';
import { describeClusterPools } from './cluster/pool.ts';
import {
  beginFifty,
  ENVIRONMENTS,
  expectAllReady,
  makeEnvironment,
  makeWorkloads,
  TAKEOVER_MS,
} from './environments/fifty.ts';
import { installKinds } from './environments/install.ts';
import { startChaos } from './support/chaos-proxy.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { until } from './support/until.ts';

interface Replica extends Running {
  /** When it sent requests that write, Leases and Events aside; by the clock of this process. */
  readonly writes: readonly number[];
}

/** What is to be done when a test is over. */
type AtEnd = (run: () => Promise<void> | void) => void;

/** Two replicas on a cluster. */
interface Scene {
  readonly first: Replica;
  readonly second: Replica;
  /** Makes one more environment: however far the first had come, the second has something to do. */
  makeOneMore(): Promise<void>;
  /** All environments become ready. */
  expectAllReady(): Promise<void>;
}

/** A replica that reaches the API server by a proxy of its own, which sees what it writes. */
async function start(cluster: Cluster, dir: string, name: string, atEnd: AtEnd): Promise<Replica> {
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
  atEnd(() => proxy.stop());
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
  atEnd(async () => {
    running.child.kill('SIGCONT');
    running.child.kill('SIGKILL');
    await running.exit;
  });
  await running.logged('running');
  return { ...running, writes };
}

/** Two replicas, of which the first leads, and environments of which some are ready and most are not. */
async function begin(cluster: Cluster, atEnd: AtEnd): Promise<Scene> {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-failover-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  const client = cluster.client();
  await installKinds(client);
  const namespace = await cluster.namespace('failover');
  await makeWorkloads(client, namespace);
  const first = await start(cluster, dir, 'first', atEnd);
  await first.logged('leading');
  const second = await start(cluster, dir, 'second', atEnd);
  await beginFifty(client, namespace);
  return {
    first,
    second,
    makeOneMore: () => makeEnvironment(client, namespace),
    expectAllReady: () => expectAllReady(client, namespace, ENVIRONMENTS + 1),
  };
}

describeClusterPools('failover', (pool) => {
  describe.concurrent('a leader', () => {
    test(
      'that is killed is followed within 20 s, and all 50 environments come to be ready',
      { timeout: 300_000 },
      ({ onTestFinished }) =>
        pool.use(async (cluster) => {
          const { first, second, ...fifty } = await begin(cluster, onTestFinished);
          expect(second.writes).toEqual([]);
          first.child.kill('SIGKILL');
          const killed = { at: performance.now(), time: Date.now() };
          await fifty.makeOneMore();
          const { time } = await second.logged('leading');
          expect(Date.parse(time!) - killed.time).toBeLessThan(TAKEOVER_MS);
          await fifty.expectAllReady();
          expect(second.writes.length).toBeGreaterThan(0);
          expect(second.writes[0]).toBeGreaterThan(killed.at);
        }),
    );

    test(
      'that is frozen until another leads writes nothing more when it comes back, and ends',
      { timeout: 300_000 },
      ({ onTestFinished }) =>
        pool.use(async (cluster) => {
          const { first, second, ...fifty } = await begin(cluster, onTestFinished);
          first.child.kill('SIGSTOP');
          await fifty.makeOneMore();
          await second.logged('leading');
          const led = performance.now();
          await until(() => second.writes.length > 0, 60_000);
          first.child.kill('SIGCONT');
          const { code } = await first.exit;
          expect(code).toBe(1);
          expect(first.out.stderr).toContain('is lost: another process may have it now');
          await fifty.expectAllReady();
          expect(first.writes.filter((at) => at > led)).toEqual([]);
        }),
    );
  });
});

function isWrite({ method = '', url = '' }: IncomingMessage): boolean {
  return method !== 'GET' && !/\/(leases|events)(\/|\?|$)/.test(url);
}
