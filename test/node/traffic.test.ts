// Two environments of one workload are created, updated and deleted under load, with injected sidecars and mutual TLS;
// Offshoot runs as pods. No request, with or without a key, fails or is misrouted, not even while the API server is
// down and the leader is killed. OFFSHOOT_CYCLES=N sets the number of cycles.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, defineKind, loadConfig } from '../../src/kube/index.ts';
import type { Client, KubeObject } from '../../src/kube/index.ts';
import { cycle, flowsOf } from '../mesh/load/cycle.ts';
import type { Disturbances, Step, World } from '../mesh/load/cycle.ts';
import { halfCreated, halfDeleted } from '../mesh/load/half-done.ts';
import { underLoad } from '../mesh/load/index.ts';
import type { Phase } from '../mesh/load/index.ts';
import { lostRequests } from '../mesh/load/verdict.ts';
import { environmentOf, KEY } from '../mesh/workload.ts';
import { poll } from '../scenarios/poll.ts';
import { describeNode } from './index.ts';
import { installOffshoot, killLeader } from './offshoot.ts';
import { inNetworkOf, podsIn } from './pods.ts';
import { makeShop, port } from './shop.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 5);
/** Fewer, because each waits twice for the Lease of a killed leader to expire (15 s). */
const DISTURBED_CYCLES = Math.ceil(CYCLES / 5);
/** An upper limit: two proxies and a whole cluster run on the same machine. */
const PER_SECOND = 1_000;
const ENVIRONMENTS = ['alice', 'carol'];
const OUTAGE_MS = 3_000;
const namespace = 'traffic';
const base = 'orders';

const Service = defineKind<KubeObject & { readonly spec: { readonly clusterIP: string } }>('v1', 'Service', 'services');

describeNode('environments under load', (node) => {
  let client: Client;
  let world: World;
  /** The address of the workload, and the command prefix that sends from the pod of the caller, through its sidecar. */
  let address: string;
  let within: readonly string[];
  beforeAll(async () => {
    const { kubectl, kubeconfigPath } = node();
    client = connect(loadConfig({ path: kubeconfigPath }));
    await installOffshoot(kubectl);
    await makeShop(kubectl, namespace, base);
    ({ clusterIP: address } = (await client.get(Service, { namespace, name: base })).spec);
    const caller = (await podsIn(client, namespace)).find(({ metadata }) => metadata.name.startsWith('caller-'));
    within = await inNetworkOf(client, { namespace, name: caller!.metadata.name }, 'caller');
    world = {
      client,
      environments: (version) => ENVIRONMENTS.map((name) => environmentOf(namespace, name, base, `${base}:${version}`)),
      settled: (step) => poll(() => isSettled(step), 60_000),
    };
  }, 240_000);
  afterAll(() => client?.close());

  /** Whether every key reaches the new image and, after an update, no pod with the previous image is left. */
  async function isSettled(step: Step): Promise<boolean> {
    const image = `${base}:${{ create: 2, update: 3, delete: 1 }[step]}`;
    const images = await Promise.all(ENVIRONMENTS.map(imageFor));
    if (images.some((each) => each !== image)) return false;
    const pods = step === 'update' ? await podsIn(client, namespace) : [];
    return pods.every(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** The image that answers a request with the key of an environment. */
  async function imageFor(env: string): Promise<string> {
    const headers = [`host: ${base}`, `${KEY}: ${env}`].flatMap((header) => ['-H', header]);
    const [command = '', ...args] = [...within, 'curl', '-sS', '-o', '/dev/null', '-w', '%header{x-image}', ...headers];
    const { stdout } = await promisify(execFile)(command, [...args, `http://${address}:${port}/`]);
    return stdout;
  }

  /** Runs `act` under load; resolves with the lost requests. */
  async function lostDuring(title: string, act: (phase: Phase) => Promise<void>): Promise<readonly string[]> {
    const flows = ENVIRONMENTS.flatMap((env) => flowsOf(env, base, { address, port }));
    // Few in flight: a slow machine then sends fewer requests, and none waits for long.
    const report = await underLoad(flows, { perSecond: PER_SECOND, mostInFlight: 40, within }, act);
    const rate = Math.round(report.sent / report.seconds);
    process.stderr.write(`real node: ${report.sent} requests, ${rate} a second, ${title}\n`);
    expect(rate).toBeGreaterThan(PER_SECOND / 10);
    return lostRequests(report);
  }

  test(
    'lose and misroute no request',
    async () => {
      const found = await lostDuring(`in cycles of create, update and delete: ${CYCLES}`, async (phase) => {
        for (let number = 0; number < CYCLES; number++) await cycle(world, phase);
      });
      expect(found).toEqual([]);
    },
    60_000 + CYCLES * 90_000,
  );

  test(
    'lose and misroute no request while leaders are killed and the API server is down',
    async () => {
      const disturbances = (number: number): Disturbances => ({
        create: async ([env]) => {
          await halfCreated(client, env!, number);
          await killLeader(client);
        },
        update: () => node().interruptApiServer(OUTAGE_MS),
        delete: async ([env]) => {
          await halfDeleted(client, env!);
          await killLeader(client);
        },
      });
      const found = await lostDuring(`in cycles with disturbances: ${DISTURBED_CYCLES}`, async (phase) => {
        for (let number = 0; number < DISTURBED_CYCLES; number++) await cycle(world, phase, disturbances(number));
      });
      expect(found).toEqual([]);
    },
    60_000 + DISTURBED_CYCLES * 180_000,
  );
});
