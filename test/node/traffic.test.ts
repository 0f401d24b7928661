// Two environments of one workload come, change and go under load, with injected sidecars and mutual TLS; Offshoot runs
// as pods. No request fails or strays: neither with a key nor without, nor while the API server is away and the process of
// the controllers is killed. OFFSHOOT_CYCLES=N does it more often.
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
import { lost } from '../mesh/load/verdict.ts';
import { environmentOf, KEY } from '../mesh/workload.ts';
import { poll } from '../scenarios/poll.ts';
import { describeNode } from './index.ts';
import { installOffshoot, killLeader } from './offshoot.ts';
import { inNetworkOf, podsIn } from './pods.ts';
import { makeShop, port } from './shop.ts';

const CYCLES = Number(process.env['OFFSHOOT_CYCLES'] ?? 5);
/** The Lease of a killed leader lasts for 15 s: twice in a cycle. */
const DISTURBED_CYCLES = Math.ceil(CYCLES / 5);
/** As many as the machine carries of these: two proxies and all of a cluster run beside them. */
const PER_SECOND = 1_000;
const ENVIRONMENTS = ['alice', 'carol'];
const AWAY_MS = 3_000;
const namespace = 'traffic';
const base = 'orders';

const Service = defineKind<KubeObject & { readonly spec: { readonly clusterIP: string } }>('v1', 'Service', 'services');

describeNode('environments under load', (node) => {
  let client: Client;
  let world: World;
  /** Where the workload answers, and the command that asks from the pod of the caller: its sidecar has to find the way. */
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

  /** Every key leads where it should, and after an update nobody can answer any more with the image before. */
  async function isSettled(step: Step): Promise<boolean> {
    const image = `${base}:${{ create: 2, update: 3, delete: 1 }[step]}`;
    const images = await Promise.all(ENVIRONMENTS.map(imageFor));
    if (images.some((each) => each !== image)) return false;
    const pods = step === 'update' ? await podsIn(client, namespace) : [];
    return pods.every(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** What answers a request with the key of an environment. */
  async function imageFor(env: string): Promise<string> {
    const headers = [`host: ${base}`, `${KEY}: ${env}`].flatMap((header) => ['-H', header]);
    const [command = '', ...args] = [...within, 'curl', '-sS', '-o', '/dev/null', '-w', '%header{x-image}', ...headers];
    const { stdout } = await promisify(execFile)(command, [...args, `http://${address}:${port}/`]);
    return stdout;
  }

  /** Sends requests meanwhile; answers with those that are lost. */
  async function lostDuring(title: string, act: (phase: Phase) => Promise<void>): Promise<readonly string[]> {
    const flows = ENVIRONMENTS.flatMap((env) => flowsOf(env, base, { address, port }));
    // Few at once: where the machine is too slow, fewer are sent, and none waits for long.
    const report = await underLoad(flows, { perSecond: PER_SECOND, mostInFlight: 40, within }, act);
    const rate = Math.round(report.sent / report.seconds);
    process.stderr.write(`real node: ${report.sent} requests, ${rate} a second, ${title}\n`);
    expect(rate).toBeGreaterThan(PER_SECOND / 10);
    return lost(report);
  }

  test(
    'no request fails or strays',
    async () => {
      const found = await lostDuring(`in cycles of create, update and delete: ${CYCLES}`, async (phase) => {
        for (let number = 0; number < CYCLES; number++) await cycle(world, phase);
      });
      expect(found).toEqual([]);
    },
    60_000 + CYCLES * 90_000,
  );

  test(
    'nor does one while leaders are killed and the API server is away',
    async () => {
      const disturbances = (number: number): Disturbances => ({
        create: async ([env]) => {
          await halfCreated(client, env!, number);
          await killLeader(client);
        },
        update: () => node().apiServerAway(AWAY_MS),
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
