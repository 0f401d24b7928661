// Two environments of one workload come, change and go under load while their controllers are killed with -9 in the
// middle of it, and while the API server is away: no request fails or strays. OFFSHOOT_CYCLES=N does it more often.
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
import { fewestInPhase, lost } from './load/verdict.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, makeWorkloads } from './workload.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 3);
const NAMESPACE = 'shop';
const BASE = 'orders';
const ENVIRONMENTS = ['alice', 'carol'];
const PER_SECOND = 1_000;
/** So many requests at least are sent in each flow and phase. */
const FEWEST = 200;
const AWAY_MS = 3_000;

describeMeshes('environments whose controllers are disturbed', {}, (handle) => {
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

  async function killAndStartAgain(): Promise<void> {
    await kill();
    controllers = await start();
  }

  async function awayForAWhile(): Promise<void> {
    api.refuse(true);
    await delay(AWAY_MS); // the length of the outage, and nothing that is waited for
    api.refuse(false);
  }

  test(
    'no request fails or strays',
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
              await killAndStartAgain();
            },
            update: awayForAWhile,
            delete: async ([env]) => {
              await halfDeleted(client, env!);
              await killAndStartAgain();
            },
          });
        }
      });
      // A busy machine does not come to all of them, but enough are under way whenever something changes.
      expect(fewestInPhase(report)).toBeGreaterThan(FEWEST);
      expect(lost(report)).toEqual([]);
    },
    60_000 + CYCLES * 60_000,
  );
});
