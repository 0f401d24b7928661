// Environments are created, updated and deleted under a load of a thousand requests a second: no request, with or
// without the key, fails or is misrouted. OFFSHOOT_CYCLES=N sets the number of cycles.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import { ASLEEP, isFastAsleep } from '../../src/environments/index.ts';
import { poll } from '../scenarios/poll.ts';
import { describeMeshes } from './index.ts';
import { cycle, flowsOf } from './load/cycle.ts';
import { underLoad } from './load/index.ts';
import type { Flow } from './load/sender.ts';
import { fewestInPhase, lostRequests } from './load/verdict.ts';
import type { Proxy } from './mesh.ts';
import { environmentOf, gone, KEY, makeWorkloads, ready, startControllers } from './workload.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 3);
const NAMESPACE = 'shop';
const WORKLOADS = ['orders', 'payments'];
const ENVIRONMENTS = ['alice', 'bob'];
const PER_SECOND = 1_000;
/** At least so many requests are sent in each flow and phase. */
const FEWEST = 200;

const baseOf = (env: string): string => WORKLOADS[ENVIRONMENTS.indexOf(env) % WORKLOADS.length]!;

describeMeshes('environments under load', {}, (handle) => {
  let manager: Manager;
  let web: Proxy;

  beforeAll(async () => {
    const { client, ports } = handle.mesh;
    manager = await startControllers(client);
    await makeWorkloads(client, NAMESPACE, WORKLOADS, ports[0]!);
    web = await handle.mesh.caller({ name: 'web', namespace: NAMESPACE, labels: { app: 'web' } });
    await handle.mesh.settled();
  });

  afterAll(async () => {
    await manager?.stop();
  });

  function flows(): Flow[] {
    const at = { address: web.address, port: handle.mesh.ports[0]! };
    return ENVIRONMENTS.flatMap((env) => flowsOf(env, baseOf(env), at));
  }

  test(
    'lose and misroute no request',
    async () => {
      const { client } = handle.mesh;
      const environments = (version: number): readonly DynamicEnv[] =>
        ENVIRONMENTS.map((name) => environmentOf(NAMESPACE, name, baseOf(name), `${baseOf(name)}:${version}`));
      const settled = (): Promise<void> => handle.mesh.settled();
      const report = await underLoad(flows(), { perSecond: PER_SECOND }, async (phase) => {
        for (let number = 0; number < CYCLES; number++) await cycle({ client, environments, settled }, phase);
      });
      // A busy machine does not reach the rate, but there must be enough requests in flight at each change.
      expect(fewestInPhase(report)).toBeGreaterThan(FEWEST);
      expect(lostRequests(report)).toEqual([]);
    },
    60_000 + CYCLES * 30_000,
  );

  test(
    'are reached by the first request after they are ready',
    async () => {
      const { client } = handle.mesh;
      const env = environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2');
      for (let number = 0; number < CYCLES; number++) {
        await client.create(DynamicEnv, env);
        await ready(client, env);
        const { pod } = await web.ask({ host: 'orders', path: '/', headers: [[KEY, 'alice']] });
        expect(pod?.image).toBe('orders:2');
        await client.delete(DynamicEnv, env.metadata);
        await gone(client, env);
      }
    },
    30_000 + CYCLES * 30_000,
  );

  test('lose no request while one falls asleep and wakes up', { timeout: 90_000 }, async () => {
    const { client } = handle.mesh;
    const env = environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2');
    const annotate = (asleep: string | null): Promise<DynamicEnv> =>
      client.patch(DynamicEnv, env.metadata, {
        type: 'merge',
        body: { metadata: { annotations: { [ASLEEP]: asleep } } },
      });
    await client.create(DynamicEnv, env);
    await ready(client, env);
    const report = await underLoad(flows(), { perSecond: PER_SECOND }, async (phase) => {
      await phase('sleep');
      await annotate('true');
      await poll(async () => isFastAsleep(await client.get(DynamicEnv, env.metadata)), 30_000);
      await handle.mesh.settled();
      await phase('wake');
      await annotate(null);
      await ready(client, env);
      await handle.mesh.settled();
    });
    expect(report.failures).toEqual({});
    await client.delete(DynamicEnv, env.metadata);
    await gone(client, env);
  });
});

describeMeshes('endpoints that reach istiod late', { endpointLagMs: 500, clusters: ['embedded'] }, (handle) => {
  let manager: Manager;

  beforeAll(async () => {
    const { client, ports } = handle.mesh;
    manager = await startControllers(client);
    // The pods are slow, so istiod knows the DestinationRule long before the endpoints.
    await makeWorkloads(client, NAMESPACE, ['orders'], ports[0]!, 'slow=3s');
    await handle.mesh.settled();
  });

  afterAll(async () => {
    await manager?.stop();
  });

  test('lose no request while an environment is created', { timeout: 60_000 }, async () => {
    const { client, ports } = handle.mesh;
    const { address } = await handle.mesh.caller({ name: 'web', namespace: NAMESPACE, labels: { app: 'web' } });
    await handle.mesh.settled();
    const flow = { name: 'alice orders', address, port: ports[0]!, host: 'orders', headers: { [KEY]: 'alice' } };
    const env = environmentOf(NAMESPACE, 'alice', 'orders', 'orders:2');
    const report = await underLoad([flow], { perSecond: PER_SECOND }, async (phase) => {
      await phase('create');
      await client.create(DynamicEnv, env);
      await ready(client, env);
      await handle.mesh.settled();
    });
    expect(lostRequests(report)).toEqual([]);
  });
});
