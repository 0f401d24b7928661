import { expect, test } from 'vitest';
import { worldOf } from './index.ts';
import { DEFAULT_MESH } from './world.ts';

const withConfig = (mesh: unknown, namespace = 'istio-system') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'istio', namespace },
  data: { mesh },
});

test('a world takes its settings from the ConfigMap of istiod, unless they are overridden', () => {
  const config = withConfig('rootNamespace: roots\noutboundTrafficPolicy: { mode: REGISTRY_ONLY }\n');
  const read = { clusterDomain: 'cluster.local', rootNamespace: 'roots', outboundTrafficPolicy: 'REGISTRY_ONLY' };
  expect(worldOf([config]).settings).toEqual(read);
  expect(worldOf([config], { rootNamespace: 'mine' }).settings).toEqual({ ...read, rootNamespace: 'mine' });
});

test.each([
  withConfig('rootNamespace: ['),
  withConfig('outboundTrafficPolicy: { mode: 7 }'),
  withConfig('text'),
  withConfig(undefined),
  withConfig('rootNamespace: roots', 'elsewhere'),
])('a world has the default settings if the ConfigMap cannot be read: %j', (config) => {
  expect(worldOf([config]).settings).toEqual(DEFAULT_MESH);
});
