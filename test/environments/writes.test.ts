// The cost of an environment for the API server: few writes to create it, fewer to delete it, none in between.
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
import { inProcess } from '../scenarios/cluster-actions.ts';
import type { ClusterActions } from '../scenarios/cluster-actions.ts';
import { scenarios } from './all.ts';
import { installKinds } from './install.ts';
import { play } from '../scenarios/runner.ts';
import type { Move } from '../scenarios/scenario.ts';
import { environmentsManager } from './manager.ts';

const NAMESPACE = 'default';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
let cluster: Embedded;
let client: Client;
let actions: ClusterActions;

beforeAll(async () => {
  cluster = await startEmbedded();
  client = connect({ server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token });
  actions = inProcess(client);
  await installKinds(client);
});

afterAll(async () => {
  client.close();
  await cluster.stop();
});

/** The writes of Events. */
function eventsIn(writes: readonly string[]): readonly string[] {
  return writes.filter((write) => write.startsWith('events '));
}

/** The write requests of a controller process during some work, including Events. */
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
  // Stopping flushes pending Events.
  await manager.stop();
  watched.close();
  return writes;
}

test('an environment of one subset costs at most 8 writes to create, none afterwards, 6 to delete, and one Event each', async () => {
  const moves = scenarios.moves('simple', { ns: NAMESPACE });
  const step = (number: string) => (): Promise<void> =>
    play(
      moves.filter(({ name }) => name.startsWith(number)),
      { actions },
    );
  const made = await writesDuring(step('00'));
  expect(made.length, made.join(', ')).toBeLessThanOrEqual(8);
  expect(eventsIn(made)).toHaveLength(1);

  // A new process writes nothing, even when unrelated objects change.
  expect(await writesDuring(async () => undefined)).toEqual([]);
  const inNamespace = { namespace: NAMESPACE };
  const istio = 'networking.istio.io/v1beta1';
  const unrelatedChanges = async ({ tables }: Manager): Promise<void> => {
    const spec = { hosts: ['other'], http: [{ route: [{ destination: { host: 'other', subset: 'shared' } }] }] };
    await actions.apply([
      { apiVersion: istio, kind: 'VirtualService', metadata: { name: 'other', ...inNamespace }, spec },
      {
        apiVersion: istio,
        kind: 'DestinationRule',
        metadata: { name: 'other', ...inNamespace },
        spec: { host: 'other' },
      },
    ]);
    const base = { name: 'cart', ...inNamespace };
    await actions.patch({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: base, spec: { replicas: 2 } });
    const labels = { seen: 'yes' };
    await actions.patch({ apiVersion: istio, kind: 'VirtualService', metadata: { ...base, labels } });
    await until(
      () =>
        tables.of(Deployment).get(keyOf(base))?.status?.['readyReplicas'] === 2 &&
        tables.of(VirtualService).get(keyOf(base))?.metadata.labels?.['seen'] === 'yes',
    );
  };
  expect(await writesDuring(unrelatedChanges)).toEqual([]);

  const deleted = await writesDuring(step('01'));
  expect(deleted.length, deleted.join(', ')).toBeLessThanOrEqual(6);
  expect(eventsIn(deleted)).toHaveLength(1);
});

test('an environment with a slow clone costs no more writes', async () => {
  const metadata = { name: 'slow' };
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const all = scenarios.moves('wait-for-ready', { ns: metadata.name });
  const [apply, ready] = ['00-apply', '01-assert'].map((name) => all.find((move) => move.name === name)!);
  const slow = JSON.parse(JSON.stringify(apply).replaceAll('slow=10m', 'slow=2s')) as Move;
  const moves = [slow, ready!];
  const made = await writesDuring(() => play(moves, { actions }));
  expect(made.length, made.join(', ')).toBeLessThanOrEqual(8);
  expect(eventsIn(made)).toHaveLength(1);
});
