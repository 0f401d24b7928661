// A rolling restart of `offshoot run`, as processes: writes that need its webhook succeed, and another process leads.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../src/api/dynamicenv.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { connect, loadConfig } from '../src/kube/index.ts';
import type { Client } from '../src/kube/index.ts';
import { startOffshoot } from './support/offshoot-process.ts';
import type { Running } from './support/offshoot-process.ts';
import { startService } from './support/service.ts';
import type { Service } from './support/service.ts';
import { until } from './support/until.ts';

const WRITERS = 4;

let dir: string;
let cluster: Embedded;
let client: Client;
let service: Service;
const replicas: Running[] = [];
const ending = new AbortController();

beforeAll(async () => {
  dir = mkdtempSync(path.join(tmpdir(), 'offshoot-restart-'));
  service = await startService();
  cluster = await startEmbedded({ hooks: { resolveService: () => `https://127.0.0.1:${service.port}` } });
  writeFileSync(path.join(dir, 'kubeconfig'), cluster.kubeconfig());
  client = connect(loadConfig({ path: path.join(dir, 'kubeconfig') }));
});

afterAll(async () => {
  ending.abort();
  for (const { child, exit } of replicas) {
    child.kill('SIGKILL');
    await exit;
  }
  client.close();
  await cluster.stop();
  await service.close();
  rmSync(dir, { recursive: true, force: true });
});

interface Replica extends Running {
  readonly probes: string;
  readonly port: number;
}

/** Starts a replica, and adds it to the Service when it is ready. */
async function start(): Promise<Replica> {
  const args = `run --install-crds --leader-elect --namespace kube-system --webhook-service hook --webhook-port 0
    --shutdown-delay 10s --health-probe-bind-address 127.0.0.1:0 --metrics-bind-address 0 --kubeconfig ${path.join(dir, 'kubeconfig')}`;
  const running = startOffshoot(args.split(/\s+/), { HOME: dir });
  replicas.push(running);
  const { probes, webhook } = await running.logged('running');
  const port = Number(new URL(webhook!).port);
  service.endpoints.add(port);
  return { ...running, probes: probes!, port };
}

/** Starts writers of environments, each of which sends one write after the other until the test ends. */
function write(): { readonly count: () => number; readonly refusals: readonly string[] } {
  let count = 0;
  const refusals: string[] = [];
  for (let writer = 0; writer < WRITERS; writer++) {
    const metadata = { namespace: 'default', name: `of-writer-${writer}` };
    const subsets = [{ name: 'details', namespace: 'default', containers: [{ containerName: 'app' }] }];
    const spec = { istioMatches: [{ headers: { 'x-env': { exact: metadata.name } } }], subsets };
    const env = { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata, spec } as const;
    const attempt = async (send: () => Promise<unknown>): Promise<void> => {
      await send().catch((error: unknown) => refusals.push((error as Error).message));
      count++;
      const body = { metadata: { labels: { write: String(count) } } };
      const patch = { type: 'merge', body } as const;
      if (!ending.signal.aborted) setImmediate(() => void attempt(() => client.patch(DynamicEnv, metadata, patch)));
    };
    void attempt(() => client.create(DynamicEnv, env));
  }
  return { count: () => count, refusals };
}

test(
  'a rolling restart rejects no write, although the Service still forwards to the old process',
  { timeout: 120_000 },
  async () => {
    const first = await start();
    await first.logged('leading');
    const second = await start();
    const writes = write();
    const moreWrites = (): Promise<void> => {
      const before = writes.count();
      return until(() => writes.count() > before + 50, 30_000);
    };
    await moreWrites();

    let isOver = false;
    const over = first.exit.then(() => (isOver = true));
    first.child.kill('SIGTERM');
    await until(async () => (await fetch(`${first.probes}/readyz`)).status === 500);
    // The endpoints of a Service are updated with a delay.
    await moreWrites();
    service.endpoints.delete(first.port);
    await second.logged('leading');
    expect([isOver, writes.refusals]).toEqual([false, []]);

    await over;
    expect(first.child.exitCode).toBe(0);
    await moreWrites();
    expect(writes.refusals).toEqual([]);
  },
);
