// Two environments of one workload are created, updated and deleted under load while their controllers are killed
// (SIGKILL), and while the API server is down: no request fails or is misrouted. OFFSHOOT_CYCLES=N sets the cycles.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { installKinds } from '../environments/install.ts';
import { startOffshoot } from '../support/offshoot-process.ts';
import type { Running } from '../support/offshoot-process.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { describeMeshes } from './index.ts';
import { cycle, flowsOf } from './load/cycle.ts';
import { halfCreated, halfDeleted } from './load/half-done.ts';
import { underLoad } from './load/index.ts';
import { fewestInPhase, lostRequests } from './load/verdict.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, makeWorkloads } from './workload.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 3);
const NAMESPACE = 'shop';
const BASE = 'orders';
const ENVIRONMENTS = ['alice', 'carol'];
const PER_SECOND = 1_000;
/** At least so many requests are sent in each flow and phase. */
const FEWEST = 200;
const OUTAGE_MS = 3_000;

describeMeshes('environments whose controllers are killed or lose the API server', {}, (handle) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'offshoot-disturbed-'));
  let api: TcpProxy;
  let controllers: Running;
  let web: Proxy;

  beforeAll(async () => {
    const { client, ports } = handle.mesh;
    const kubeconfig = readFileSync(handle.kubeconfigPath, 'utf8');
    const port = /https:\/\/127\.0\.0\.1:(\d+)/.exec(kubeconfig)![1]!;
    api = await startTcpProxy(Number(port));
    writeFileSync(path.join(dir, 'kubeconfig'), kubeconfig.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${api.port}`));
    await installKinds(client);
    await makeWorkloads(client, NAMESPACE, [BASE], ports[0]!);
    web = await handle.mesh.caller({ name: 'web', namespace: NAMESPACE, labels: { app: 'web' } });
    controllers = await start();
    await handle.mesh.settled();
  });

  afterAll(async () => {
    await kill();
    await api?.close();
    rmSync(dir, { recursive: true });
  });

  async function start(): Promise<Running> {
    const args = `run --no-webhook --metrics-bind-address 0 --health-probe-bind-address 0 --kubeconfig ${dir}/kubeconfig`;
    const running = startOffshoot(args.split(' '), { HOME: dir });
    await running.logged('running');
    return running;
  }

  async function kill(): Promise<void> {
    controllers?.child.kill('SIGKILL');
    await controllers?.exit;
  }

  async function killAndRestart(): Promise<void> {
    await kill();
    controllers = await start();
  }

  async function loseApiServer(): Promise<void> {
    api.refuse(true);
    await delay(OUTAGE_MS); // the outage itself, not a wait for a condition
    api.refuse(false);
  }

  test(
    'lose and misroute no request',
    async () => {
      const { client, ports } = handle.mesh;
      const flows = ENVIRONMENTS.flatMap((env) => flowsOf(env, BASE, { address: web.address, port: ports[0]! }));
      const environments = (version: number): readonly DynamicEnv[] =>
        ENVIRONMENTS.map((name) => environmentOf(NAMESPACE, name, BASE, `${BASE}:${version}`));
      const settled = (): Promise<void> => handle.mesh.settled();
      const report = await underLoad(flows, { perSecond: PER_SECOND }, async (phase) => {
        for (let number = 0; number < CYCLES; number++) {
          await cycle({ client, environments, settled }, phase, {
            create: async ([env]) => {
              await halfCreated(client, env!, number);
              await killAndRestart();
            },
            update: loseApiServer,
            delete: async ([env]) => {
              await halfDeleted(client, env!);
              await killAndRestart();
            },
          });
        }
      });
      // A busy machine does not reach the rate, but there must be enough requests in flight at each change.
      expect(fewestInPhase(report)).toBeGreaterThan(FEWEST);
      expect(lostRequests(report)).toEqual([]);
    },
    60_000 + CYCLES * 60_000,
  );
});
