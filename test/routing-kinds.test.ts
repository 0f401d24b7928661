// Kinds that come late or go: what rules are written to, and what they are resolved with.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mesh, Mesh, meshGroup, routingRule } from '../src/api/routing.ts';
import { upstream } from '../src/api/upstream.ts';
import { conditionsOf, createLogger, Manager } from '../src/controller/index.ts';
import { appMeshDefinitions } from '../src/embedded/crd/bundled/app-mesh.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import type { Embedded } from '../src/embedded/index.ts';
import { defineKind } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { routing } from '../src/routing/index.ts';
import { VirtualNode, VirtualRouter } from '../src/routing/objects.ts';
import { inProcess } from './scenarios/hands.ts';
import { install } from './scenarios/install.ts';
import { until } from './support/until.ts';
import { connectAdmin } from './support/connect-admin.ts';
import { parseObjects } from './support/parse-objects.ts';

const NS = 'shop';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

function objectsOf(move: string): AnyObject[] {
  const file = path.join(import.meta.dirname, 'routing/scenarios/rule-comes-and-goes', `${move}.yaml`);
  const text = readFileSync(file, 'utf8').replaceAll('$ns', NS);
  return parseObjects(text);
}

describe('kinds', () => {
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

  /** The condition `Programmed` of the mesh, in short. */
  async function programmed(): Promise<string> {
    const object = await client.get(Mesh, { name: NS, namespace: NS });
    const found = conditionsOf(object).find(({ type }) => type === 'Programmed');
    return found === undefined ? 'unknown' : `${found.status} ${found.reason}`;
  }

  test('without the App Mesh controller it says so, and goes on as soon as its kinds are there', async () => {
    await until(async () => (await programmed()) === 'False BACKEND_MISSING', 20_000);
    await install(client, Object.values(appMeshDefinitions()) as unknown as AnyObject[]);
    await until(async () => (await programmed()) === 'True Programmed', 60_000);
    expect((await client.list(VirtualRouter)).items).toHaveLength(1);
  }, 90_000);

  test('a process that starts while the kind of rules is not installed leaves everything as it was', async () => {
    await manager.stop();
    const before = (await client.list(VirtualNode)).items.map(({ spec }) => spec);
    await client.delete(Definition, { name: 'routingrules.supergloo.solo.io' });
    manager = await start();
    await until(async () => (await programmed()) === 'False INPUT_MISSING', 60_000);
    expect((await client.list(VirtualNode)).items.map(({ spec }) => spec)).toEqual(before);
    expect((await client.list(VirtualRouter)).items).toHaveLength(1);
  }, 90_000);
});
