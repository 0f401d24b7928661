import { expect, test } from 'vitest';
import type { DynamicEnv } from '../../api/dynamicenv.ts';
import { readerOf } from '../../api/testing/reader.ts';
import type { KubeObject } from '../../kube/objects.ts';
import type { HttpRoute } from '../../traffic/istio/objects.ts';
import { deletedWith } from './deletion.ts';
import { environmentWorld } from './world.ts';

const running = (name: string) => ({ name, namespace: 'shop', status: 'running' });
const env: DynamicEnv = {
  apiVersion: 'riskified.com/v1alpha1',
  kind: 'DynamicEnv',
  metadata: { name: 'feature', namespace: 'shop', uid: 'one' },
  spec: {
    istioMatches: [{ headers: { a: { exact: 'b' } } }],
    subsets: [{ name: 'cart', namespace: 'shop', containers: [{ containerName: 'app', image: 'cart:2', env: [] }] }],
  },
  status: {
    totalReady: 1,
    state: 'ready',
    subsetsStatus: {
      'shop/cart': {
        deployment: running('cart-shop-feature'),
        destinationRules: [running('cart-shop-feature-cart')],
        virtualServices: [running('cart'), { ...running('other'), status: 'ignored-missing-virtual-service' }],
      },
    },
  },
};

function made(apiVersion: string, kind: string, name: string, fields: object, labels = {}): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace: 'shop', labels }, ...fields };
}

const route: HttpRoute = {
  name: 'dynamic-environment-shop-feature-cart-0123456789',
  match: [{ headers: { a: { exact: 'b' } } }],
  route: [{ destination: { host: 'cart', subset: 'shop-feature' } }],
};
const virtualService = (http: readonly HttpRoute[]): KubeObject =>
  made('networking.istio.io/v1beta1', 'VirtualService', 'cart', { spec: { hosts: ['cart'], http } });
const selector = { matchLabels: { version: 'shop-feature' } };
const objects = [
  made('apps/v1', 'Deployment', 'cart-shop-feature', { spec: { selector, template: {} } }),
  made('v1', 'Pod', 'cart-1', {}, { version: 'shop-feature' }),
  made('v1', 'Pod', 'base-1', {}, { version: 'shared' }),
  made('networking.istio.io/v1beta1', 'DestinationRule', 'cart-shop-feature-cart', { spec: { host: 'cart' } }),
  made('v1', 'Service', 'cart', { spec: { ports: [{ port: 9080 }] } }),
  virtualService([route]),
];

test('environmentWorld contains clones and their pods, rules, their services, and VirtualServices', () => {
  const world = environmentWorld(readerOf(objects), env);
  expect([...world.clones.keys()]).toEqual(['shop/cart-shop-feature']);
  expect(world.pods.get('shop/cart-shop-feature')?.map(({ metadata }) => metadata.name)).toEqual(['cart-1']);
  expect([...world.rules.keys(), ...world.services.keys(), ...world.virtualServices.keys()]).toEqual([
    'shop/cart-shop-feature-cart',
    'shop/cart',
    'shop/cart',
  ]);
});

test('environmentWorld leaves out objects that may not be read', () => {
  const { clones, pods } = environmentWorld(readerOf(objects, ['Deployment shop/cart-shop-feature']), env);
  expect([clones.size, pods.size]).toEqual([0, 0]);
});

test('deletedWith lists routes, rules and clones, the environment last', () => {
  const removals = deletedWith(env);
  expect(removals.map(({ label }) => label)).toEqual([
    'Routes in VirtualService shop/cart',
    'DestinationRule shop/cart-shop-feature-cart',
    'Deployment shop/cart-shop-feature',
    'Environment shop/feature',
  ]);
  const [routes] = removals;
  expect([virtualService([route]), virtualService([])].map(routes!.isDone)).toEqual([false, true]);
});
