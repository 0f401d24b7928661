// Kinds that are installed late or deleted: those that rules are translated to, and those of the rules themselves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mesh, Mesh, meshGroup, routingRule } from '../src/api/routing.ts';
import { upstream } from '../src/api/upstream.ts';
import { conditionsOf, createLogger, Manager } from '../src/controller/index.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { routing } from '../src/routing/index.ts';
import { VirtualNode, VirtualRouter } from '../src/routing/objects.ts';
import { scenarios } from './routing/all.ts';
import { inProcess } from './scenarios/cluster-actions.ts';
import { install } from './scenarios/install.ts';
import { CustomResourceDefinition, Namespace } from './support/core-kinds.ts';
import { until } from './support/until.ts';
import { connectAdmin } from './support/connect-admin.ts';

const NS = 'shop';
const objectsOf = (move: string): readonly AnyObject[] => scenarios.objects('rule-comes-and-goes', move, { ns: NS });

describe('a mesh', () => {
  let embedded: Embedded;
  let client: Client;
  let manager: Manager;

  beforeAll(async () => {
    embedded = await startEmbedded();
    client = connectAdmin(embedded);
    const ours = [mesh, meshGroup, routingRule, upstream].map(({ crd }) => crd);
    await install(client, ours);
    await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NS } });
    manager = await start();
    await inProcess(client).apply([...objectsOf('00-apply'), ...objectsOf('01-apply')]);
  });

  afterAll(async () => {
    await manager?.stop();
    client?.close();
    await embedded?.stop();
  });

  async function start(): Promise<Manager> {
    const starting = new Manager({ client, controllers: routing(), logger: createLogger({ level: 'silent' }) });
    await starting.start();
    return starting;
  }

  /** The status and reason of the mesh's condition `Programmed`. */
  async function programmed(): Promise<string> {
    const object = await client.get(Mesh, { name: NS, namespace: NS });
    const found = conditionsOf(object).find(({ type }) => type === 'Programmed');
    return found === undefined ? 'unknown' : `${found.status} ${found.reason}`;
  }

  test('reports that the kinds of App Mesh are missing, and is programmed as soon as they are installed', async () => {
    await until(async () => (await programmed()) === 'False BACKEND_MISSING', 20_000);
    await install(client, Object.values(appMeshDefinitions()) as unknown as AnyObject[]);
    await until(async () => (await programmed()) === 'True Programmed', 60_000);
    expect((await client.list(VirtualRouter)).items).toHaveLength(1);
  }, 90_000);

  test('keeps its objects when the controllers start while the kind of rules is not installed', async () => {
    await manager.stop();
    const before = (await client.list(VirtualNode)).items.map(({ spec }) => spec);
    await client.delete(CustomResourceDefinition, { name: 'routingrules.supergloo.solo.io' });
    manager = await start();
    await until(async () => (await programmed()) === 'False INPUT_MISSING', 60_000);
    expect((await client.list(VirtualNode)).items.map(({ spec }) => spec)).toEqual(before);
    expect((await client.list(VirtualRouter)).items).toHaveLength(1);
  }, 90_000);
});
