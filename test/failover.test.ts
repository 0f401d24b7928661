// Two replicas of `offshoot run`, as processes: the leader is killed, or is frozen and resumes, while it creates
// environments. The other one takes over, all environments become ready, and never do both write. The tests mostly wait
// for a Lease, so they run concurrently, each on its own cluster.
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
  /** When it sent writes, without Leases and Events, by the clock of this process. */
  readonly writes: readonly number[];
}

/** Registers a cleanup for the end of a test. */
type AtEnd = (run: () => Promise<void> | void) => void;

/** Two replicas on a cluster. */
interface Scene {
  readonly first: Replica;
  readonly second: Replica;
  /** Creates one more environment, so that the second replica always has something to do. */
  makeOneMore(): Promise<void>;
  /** Waits until all environments are ready. */
  expectAllReady(): Promise<void>;
}

/** Starts a replica that uses its own proxy to the API server, which records its writes. */
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

/** Starts two replicas, of which the first leads, and creates environments, most of which are not ready yet. */
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
  describe.concurrent('the standby', () => {
    test(
      'takes over within 20 s when the leader is killed, and makes all 50 environments ready',
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
      'takes over from a frozen leader, which exits without another write when it resumes',
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
