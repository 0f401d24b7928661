// The shop is installed once, into an empty cluster, and is left alone from then on.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { istioDefinitions } from '../embedded/crd/bundled/istio.ts';
import { startEmbedded } from '../embedded/index.ts';
import type { Embedded } from '../embedded/index.ts';
import { dynamicEnv } from '../api/dynamicenv.ts';
import { connect, defineKind, isNotFound } from '../kube/index.ts';
import type { AnyObject, Client } from '../kube/index.ts';
import { VirtualService } from '../traffic/istio/objects.ts';
import { Deployment } from '../traffic/services.ts';
import { findShop, makeShop } from './install.ts';
import { Namespace, NAMESPACE, shopObjects } from './shop.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});

let cluster: Embedded;
let client: Client;
beforeEach(async () => {
  cluster = await startEmbedded({ simulation: false });
  client = connect(
    { server: cluster.url, caPem: cluster.caPem, token: cluster.admin.token },
    { local: cluster.answer },
  );
  for (const definition of [dynamicEnv.crd, ...Object.values(istioDefinitions())]) {
    await client.create(Definition, definition as unknown as AnyObject);
  }
});
afterEach(async () => {
  client.close();
  await cluster.stop();
});

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test('an empty cluster gets the shop, and later changes by users are kept', async () => {
  expect(await findShop(client)).toBe('missing');
  await makeShop(client);
  expect(await findShop(client)).toBe('complete');
  const [ref, gone] = [
    { name: 'reviews', namespace: NAMESPACE },
    { name: 'ratings', namespace: NAMESPACE },
  ];
  await client.delete(Deployment, gone);
  await client.patch(VirtualService, ref, { type: 'merge', body: { spec: { http: [] } } });
  await client.create(Namespace, namespace('mine'));
  // Nothing is created once the shop is complete.
  expect(await findShop(client)).toBe('complete');
  expect((await client.get(VirtualService, ref)).spec?.http).toEqual([]);
  expect(await client.get(Deployment, gone).catch(isNotFound)).toBe(true);
});

test('the next start finishes an interrupted installation and overwrites nothing', async () => {
  await makeShop(client);
  const state = { metadata: { annotations: { 'offshoot.dev/playground': 'incomplete' } } };
  await client.patch(Namespace, { name: NAMESPACE }, { type: 'merge', body: state });
  await client.delete(Deployment, { name: 'ratings', namespace: NAMESPACE });
  const ref = { name: 'reviews', namespace: NAMESPACE };
  await client.patch(VirtualService, ref, { type: 'merge', body: { spec: { http: [] } } });
  expect(await findShop(client)).toBe('missing');
  await makeShop(client);
  expect(await findShop(client)).toBe('complete');
  expect((await client.list(Deployment, { namespace: NAMESPACE })).items).toHaveLength(4);
  expect((await client.get(VirtualService, ref)).spec?.http).toEqual([]);
});

test.each<[string, () => Promise<unknown>]>([
  ['a namespace', () => client.create(Namespace, namespace('mine'))],
  ['a foreign namespace with the name of the shop', () => client.create(Namespace, namespace(NAMESPACE))],
  [
    'a Deployment in the namespace default',
    async () => {
      const { object } = shopObjects().find(({ kind }) => kind === Deployment)!;
      await client.create(Deployment, { ...object, metadata: { name: 'mine', namespace: 'default' } });
    },
  ],
])('a cluster that has %s is left alone', async (_what, occupy) => {
  await occupy();
  expect(await findShop(client)).toBe('occupied');
});
