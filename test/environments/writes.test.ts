// What an environment costs the API server: few writes to make it, fewer to delete it, none while nothing happens.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Manager } from '../../src/controller/index.ts';
import { createLogger } from '../../src/controller/index.ts';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Embedded } from '../../src/embedded/index.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { connect } from '../../src/kube/client/connect.ts';
import { defineKind, keyOf } from '../../src/kube/objects.ts';
import { settled, until } from '../support/until.ts';
import { inProcess } from '../scenarios/hands.ts';
import type { Hands } from '../scenarios/hands.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { play } from '../scenarios/runner.ts';
import { environmentsManager } from './manager.ts';

const NAMESPACE = 'default';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
let cluster: Embedded;
let client: Client;
let hands: Hands;

beforeAll(async () => {
  cluster = await startEmbedded();
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  hands = inProcess(client);
  await installKinds(client);
});

afterAll(async () => {
  client.close();
  await cluster.stop();
});

/** What was written beside the objects themselves, for people to read. */
function eventsIn(writes: readonly string[]): readonly string[] {
  return writes.filter((write) => write.startsWith('events '));
}

/** The write requests, Events among them, of a controller process that runs for as long as the work takes. */
async function writesDuring(work: (manager: Manager) => Promise<void>): Promise<readonly string[]> {
  const writes: string[] = [];
  const config = { server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token };
  const watched = connect(config, {
    onRequest: ({ method, flow }) => void (method === 'GET' || writes.push(`${flow} ${method}`)),
  });
  const manager = environmentsManager({
    client: watched,
    logger: createLogger({ level: 'silent' }),
  });
  await manager.start();
  await work(manager);
  await settled(manager);
  // Stopping writes the Events that wait.
  await manager.stop();
  watched.close();
  return writes;
}

test('at most 8 to make an environment of one subset, none afterwards, at most 6 to delete it, one Event each', async () => {
  const moves = scenarios.moves('simple', { ns: NAMESPACE });
  const step = (number: string) => (): Promise<void> =>
    play(
      moves.filter(({ name }) => name.startsWith(number)),
      { hands },
    );
  const made = await writesDuring(step('00'));
  expect(made.length, made.join(', ')).toBeLessThanOrEqual(8);
  expect(eventsIn(made)).toHaveLength(1);

  // A new process finds nothing to do, nor does one that sees others go about their business.
  expect(await writesDuring(async () => undefined)).toEqual([]);
  const inNamespace = { namespace: NAMESPACE };
  const istio = 'networking.istio.io/v1beta1';
  const business = async ({ tables }: Manager): Promise<void> => {
    const spec = { hosts: ['other'], http: [{ route: [{ destination: { host: 'other', subset: 'shared' } }] }] };
    await hands.apply([
      { apiVersion: istio, kind: 'VirtualService', metadata: { name: 'other', ...inNamespace }, spec },
      {
        apiVersion: istio,
        kind: 'DestinationRule',
        metadata: { name: 'other', ...inNamespace },
        spec: { host: 'other' },
      },
    ]);
    const base = { name: 'cart', ...inNamespace };
    await hands.patch({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: base, spec: { replicas: 2 } });
    const labels = { seen: 'yes' };
    await hands.patch({ apiVersion: istio, kind: 'VirtualService', metadata: { ...base, labels } });
    await until(
      () =>
        tables.of(Deployment).get(keyOf(base))?.status?.['readyReplicas'] === 2 &&
        tables.of(VirtualService).get(keyOf(base))?.metadata.labels?.['seen'] === 'yes',
    );
  };
  expect(await writesDuring(business)).toEqual([]);

  const deleted = await writesDuring(step('01'));
  expect(deleted.length, deleted.join(', ')).toBeLessThanOrEqual(6);
  expect(eventsIn(deleted)).toHaveLength(1);
});

test('not more for a clone that takes its time', async () => {
  const metadata = { name: 'slow' };
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const moves = scenarios.moves('wait-for-ready', { ns: metadata.name });
  const made = await writesDuring(() => play(moves, { hands }));
  expect(made.length, made.join(', ')).toBeLessThanOrEqual(8);
  expect(eventsIn(made)).toHaveLength(1);
});
