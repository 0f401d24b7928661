// What an installation keeps and prunes, tested on an API server.
import { afterEach, expect, test } from 'vitest';
import { Deployment, Namespace } from '../../../test/support/core-kinds.ts';
import { startMesh } from '../../../test/support/running-mesh.ts';
import type { RunningMesh } from '../../../test/support/running-mesh.ts';
import { until } from '../../../test/support/until.ts';
import { Istio } from '../../api/istio.ts';
import { defineKind } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { INGRESS_GATEWAY, KINDS_MADE } from '../names.ts';
import { renderBuiltin } from './render/builtin/builtin.ts';
import type { Renderer } from './render/renderer.ts';

const Service = defineKind('v1', 'Service', 'services');
const ResourceQuota = defineKind('v1', 'ResourceQuota', 'resourcequotas');
const StorageClass = defineKind('storage.k8s.io/v1', 'StorageClass', 'storageclasses', { namespaced: false });
const GATEWAY = { namespace: 'istio-system', name: INGRESS_GATEWAY };
const QUOTA = { namespace: 'istio-system', name: 'istio-cni-resource-quota' };
const CLASS = { name: 'of-istio' };

let running: RunningMesh | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

async function ready(...options: Parameters<typeof startMesh>): Promise<RunningMesh> {
  const mesh = (running = await startMesh(...options));
  await mesh.create();
  await mesh.inState('Ready');
  return mesh;
}

/** Renders these objects in addition to the usual ones. */
const rendering = (...more: AnyObject[]): Renderer => ({
  name: 'with more',
  render: (operator) => Promise.resolve([...renderBuiltin(operator), ...more]),
});
const labels = { 'operator.istio.io/component': 'Pilot' };
const quota: AnyObject = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { ...QUOTA, labels }, spec: {} };
const storage: AnyObject = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { ...CLASS, labels },
  provisioner: 'example.com/none',
};

const imageOf = (deployment: AnyObject | undefined): string | undefined =>
  (deployment?.['spec'] as { template: { spec: { containers: { image: string }[] } } } | undefined)?.template.spec
    .containers[0]?.image;

test('an installation prunes an object of an unusual kind when its kind is no longer rendered', async () => {
  const mesh = await ready({ renderer: rendering(quota, storage) });
  expect(await mesh.find(ResourceQuota, QUOTA)).toBeDefined();
  expect((await mesh.find(Namespace, { name: 'istio-system' }))?.metadata.annotations?.[KINDS_MADE]).toBe(
    'storage.k8s.io/v1 StorageClass, v1 ResourceQuota in namespaces',
  );
  await mesh.start({ renderer: rendering(storage) });
  await until(async () => (await mesh.find(ResourceQuota, QUOTA)) === undefined, 20_000);
  expect(await mesh.find(StorageClass, CLASS)).toBeDefined();
});

test('an uninstall also removes objects of unusual kinds', async () => {
  const mesh = await ready({ renderer: rendering(quota, storage) });
  await mesh.start({ renderer: rendering() });
  await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'default' });
  await until(async () => (await mesh.istio()) === undefined, 20_000);
  expect(await mesh.find(StorageClass, CLASS)).toBeUndefined();
});

test('an upgrade that is stuck at istiod restores a deleted or edited gateway in its previous version', async () => {
  const mesh = await ready({ istioVersion: '1.30.0' });
  const before = imageOf(await mesh.find(Deployment, GATEWAY));
  const stuck: Renderer = {
    name: 'stuck',
    render: (operator) => Promise.resolve(renderBuiltin(operator).map(neverReady)),
  };
  await mesh.start({ istioVersion: '1.31.0', renderer: stuck });
  const description = async (): Promise<string> => (await mesh.istio())?.status?.description ?? '';
  await until(async () => (await description()).includes('Deployment istiod'), 20_000);
  await mesh.client.patch(Service, GATEWAY, { type: 'merge', body: { spec: { selector: { istio: 'somebody' } } } });
  await mesh.client.delete(Deployment, GATEWAY);
  await until(async () => (await mesh.find(Deployment, GATEWAY)) !== undefined, 20_000);
  expect(imageOf(await mesh.find(Deployment, GATEWAY))).toBe(before);
  await until(async () => !JSON.stringify(await mesh.find(Service, GATEWAY)).includes('somebody'), 20_000);
  await mesh.idle();
  const containers = [{ name: 'istio-proxy', image: 'example.org/edited' }];
  const body = { spec: { template: { spec: { containers } } } };
  await mesh.client.patch(Deployment, GATEWAY, { type: 'strategic', body });
  await until(async () => imageOf(await mesh.find(Deployment, GATEWAY)) === before, 20_000);
  const { generation } = (await mesh.find(Deployment, GATEWAY))!.metadata;
  await mesh.idle();
  // It is restored once, and then left alone.
  expect((await mesh.find(Deployment, GATEWAY))?.metadata.generation).toBe(generation);
  expect(await description()).toContain('Deployment istiod');
  // When istiod becomes ready, the gateway is upgraded as well.
  await mesh.start({ istioVersion: '1.31.0' });
  await mesh.inState('Ready');
  expect(imageOf(await mesh.find(Deployment, GATEWAY))).toBe(before?.replace('1.30.0', '1.31.0'));
});

/** Makes the pods of istiod start without ever becoming ready. */
function neverReady(object: AnyObject): AnyObject {
  if (object.kind !== 'Deployment' || object.metadata.name !== 'istiod') return object;
  const spec = object['spec'] as { template: { metadata: AnyObject['metadata'] } };
  const annotations = { ...spec.template.metadata.annotations, 'offshoot.dev/simulate': 'never-ready' };
  const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } };
  return { ...object, spec: { ...spec, template } };
}
