// Two environments of one workload come, change and go under load while their controllers are killed with -9 in the
// middle of it, and while the API server is away: no request fails or strays. OFFSHOOT_CYCLES=N does it more often.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { cloneName, ruleName } from '../../src/environments/names.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { AnyKind, Ref } from '../../src/kube/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import { installKinds } from '../environments/install.ts';
import { poll } from '../scenarios/poll.ts';
import { startOffshoot } from '../support/offshoot-process.ts';
import type { Running } from '../support/offshoot-process.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { describeMeshes } from './index.ts';
import { underLoad } from './load/index.ts';
import type { Flow } from './load/sender.ts';
import { strays } from './load/strays.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, gone, KEY, makeWorkloads, ready } from './workload.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 3);
const NAMESPACE = 'shop';
const BASE = 'orders';
const ENVIRONMENTS = ['alice', 'carol'];
const PER_SECOND = 1_000;
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

  async function exists(kind: AnyKind, ref: Ref): Promise<boolean> {
    return handle.mesh.client.get(kind, ref).then(
      () => true,
      (error: unknown) => {
        if (isNotFound(error)) return false;
        throw error;
      },
    );
  }

  /** Whether requests with the key of an environment have a route of their own. */
  async function isRouted({ metadata }: DynamicEnv): Promise<boolean> {
    const routes = await handle.mesh.client.get(VirtualService, { namespace: NAMESPACE, name: BASE });
    return JSON.stringify(routes.spec).includes(cloneVersion(metadata));
  }

  const cloneVersion = ({ name }: Ref): string => `${NAMESPACE}-${name}`;
  const subset = { name: BASE, namespace: NAMESPACE };
  /** What is half done when the controllers are killed: another thing in every cycle. */
  const half = (cycle: number, env: DynamicEnv): (() => Promise<boolean>) =>
    [
      () => exists(Deployment, { namespace: NAMESPACE, name: cloneName(env.metadata, subset) }),
      () => exists(DestinationRule, { namespace: NAMESPACE, name: ruleName(env.metadata, subset, BASE) }),
      () => isRouted(env),
    ][cycle % 3]!;

  test(
    'no request fails or strays',
    async () => {
      const { client, ports } = handle.mesh;
      const to = { address: web.address, port: ports[0]!, host: BASE };
      const flows: Flow[] = ENVIRONMENTS.flatMap((env) => {
        const keyed = { ...to, name: `${env} ${BASE}`, headers: { [KEY]: env } };
        return [{ ...to, name: `plain ${BASE}` }, keyed, keyed];
      });
      const withImage = (image: number) =>
        ENVIRONMENTS.map((name) => environmentOf(NAMESPACE, name, BASE, `${BASE}:${image}`));
      const report = await underLoad(flows, { perSecond: PER_SECOND }, async (phase) => {
        for (let cycle = 0; cycle < CYCLES; cycle++) {
          const created = withImage(2);
          await phase('create');
          for (const env of created) await client.create(DynamicEnv, env);
          await poll(half(cycle, created[0]!), 30_000);
          await killAndStartAgain();
          for (const env of created) await ready(client, env);
          await handle.mesh.settled();

          await phase('update');
          const updated = withImage(3);
          for (const env of updated) {
            await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: env.spec } });
          }
          api.refuse(true);
          await delay(AWAY_MS); // the length of the outage, and nothing that is waited for
          api.refuse(false);
          for (const env of updated) await ready(client, env);
          await handle.mesh.settled();

          await phase('delete');
          for (const env of updated) await client.delete(DynamicEnv, env.metadata);
          await poll(async () => !(await isRouted(updated[0]!)), 30_000);
          await killAndStartAgain();
          for (const env of updated) await gone(client, env);
          await handle.mesh.settled();
        }
      });
      // A machine that others keep busy does not always come to all of them.
      expect(report.sent / report.seconds).toBeGreaterThan(PER_SECOND / 2);
      expect(report.failures).toEqual({});
      expect(strays(report)).toEqual([]);
    },
    60_000 + CYCLES * 60_000,
  );
});
