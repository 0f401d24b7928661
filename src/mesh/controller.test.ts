// Which resource rules, what is refused, and what a deletion waits for, tested on an API server.
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../test/support/until.ts';
import { Istio } from '../api/istio.ts';
import { defineKind, isNotFound } from '../kube/index.ts';
import { FINALIZER, LAST_APPLIED } from './names.ts';
import { Blocking } from './tables.ts';
import { Deployment, Event, Namespace } from '../../test/support/core-kinds.ts';
import { descriptionAndReason, startMesh } from '../../test/support/running-mesh.ts';
import type { RunningMesh } from '../../test/support/running-mesh.ts';

const VirtualService = defineKind('networking.istio.io/v1', 'VirtualService', 'virtualservices');
const ISTIOD = { namespace: 'istio-system', name: 'istiod' };

let running: RunningMesh | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
const start = async (...options: Parameters<typeof startMesh>): Promise<RunningMesh> =>
  (running = await startMesh(...options));

describe('several resources', () => {
  test('of the same age: the first by name rules, and the next takes over when it is deleted', async () => {
    const mesh = await start();
    await mesh.create({}, { name: 'a' });
    await mesh.inState('Ready', 'a');
    await mesh.create({}, { name: 'b' });
    const second = await mesh.inState('Error', 'b');
    expect(descriptionAndReason(second)).toEqual([
      'Stopped Istio CR reconciliation: only Istio CR a in kyma-system reconciles the module',
      'OlderCRExists',
    ]);
    expect(second.metadata.finalizers).toBeUndefined();
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'a' });
    expect((await mesh.inState('Ready', 'b')).metadata.finalizers).toEqual([FINALIZER]);
    expect(await mesh.istio('a')).toBeUndefined();
  });

  test('outside kyma-system never rule, and can be deleted at once', async () => {
    const mesh = await start();
    const elsewhere = { namespace: 'default', name: 'default' };
    await mesh.create({}, elsewhere);
    await until(async () => (await mesh.find(Istio, elsewhere))?.status?.state === 'Error');
    expect(descriptionAndReason((await mesh.find(Istio, elsewhere))!)).toEqual([
      'Stopped Istio CR reconciliation: istio CR is not in kyma-system namespace',
      'ReconcileFailed',
    ]);
    await mesh.client.delete(Istio, elsewhere);
    expect(await mesh.find(Istio, elsewhere)).toBeUndefined();
    expect(await mesh.find(Namespace, { name: 'istio-system' })).toBeUndefined();
  });
});

describe('a version that must not be installed', () => {
  test.each([
    [
      '1.32.0',
      'target Istio version (1.30.0-distroless) is lower than current version (1.32.0-distroless) - downgrade not supported',
    ],
    [
      '1.28.0',
      'target Istio version (1.30.0-distroless) is higher than current Istio version (1.28.0-distroless) - the difference between versions exceed one minor version',
    ],
  ])('over %s is refused by the annotation, and nothing is changed', async (recorded, text) => {
    const mesh = await start({ istioVersion: '1.30.0' });
    await mesh.create({}, { annotations: { [LAST_APPLIED]: `{"config":{},"IstioTag":"${recorded}-distroless"}` } });
    const refused = await mesh.inState('Warning');
    expect(descriptionAndReason(refused)).toEqual([
      `Istio version update is not allowed: ${text}`,
      'IstioVersionUpdateNotAllowed',
    ]);
    expect(refused.metadata.finalizers).toBeUndefined();
    expect(await mesh.find(Namespace, { name: 'istio-system' })).toBeUndefined();
  });

  test('is refused by the running istiod if there is no annotation', async () => {
    const mesh = await start({ istioVersion: '1.31.0' });
    await mesh.create();
    await mesh.inState('Ready');
    await mesh.idle();
    await mesh.change({ metadata: { annotations: { [LAST_APPLIED]: null } } });
    await mesh.start({ istioVersion: '1.30.0' });
    expect(descriptionAndReason(await mesh.inState('Warning'))[0]).toBe(
      'Istio version update is not allowed: target Istio version (1.30.0-distroless) is lower than current version (1.31.0-distroless) - downgrade not supported',
    );
    const { spec } = (await mesh.find(Deployment, ISTIOD)) as unknown as { spec: object };
    expect(JSON.stringify(spec)).toContain('pilot:1.31.0-distroless');
  });
});

describe('invalid input', () => {
  test('in the annotation is reported, and the running mesh is left alone until it is fixed', async () => {
    const mesh = await start();
    await mesh.create();
    const good = (await mesh.inState('Ready')).metadata.annotations?.[LAST_APPLIED];
    await mesh.idle();
    const istiod = await mesh.find(Deployment, ISTIOD);
    await mesh.change({ metadata: { annotations: { [LAST_APPLIED]: '{"config":' } } });
    const [description, reason] = descriptionAndReason(await mesh.inState('Error'));
    expect(description).toContain(`Istio version check failed: annotation ${LAST_APPLIED} is not JSON`);
    expect(reason).toBe('IstioInstallUninstallFailed');
    await mesh.idle();
    expect((await mesh.find(Deployment, ISTIOD))?.metadata.resourceVersion).toBe(istiod?.metadata.resourceVersion);
    await mesh.change({ metadata: { annotations: { [LAST_APPLIED]: good } } });
    await mesh.inState('Ready');
  });

  test('in a field is reported with its path', async () => {
    const mesh = await start();
    await mesh.create({ config: { authorizers: [{ name: 'a', service: 's', port: 80, timeout: 'soon' }] } });
    expect(descriptionAndReason(await mesh.inState('Error'))).toEqual([
      'Istio custom resource has an invalid field: spec.config.authorizers[0].timeout: must be whole milliseconds such as 500ms or 2s, found "soon"',
      'ValidationFailed',
    ]);
    await mesh.change({
      spec: { config: { authorizers: null, proxyStatsMatcher: { inclusionRegexps: ['ok', '['] } } },
    });
    const [description, reason] = descriptionAndReason(await mesh.inState('Error'));
    expect(description).toContain('spec.config.proxyStatsMatcher.inclusionRegexps[1]: "["');
    expect(reason).toBe('ValidationFailed');
    await mesh.change({ spec: { config: null, experimental: { enableAmbient: true } } });
    expect(descriptionAndReason(await mesh.inState('Error'))[0]).toBe(
      'Experimental features are not supported in this image flavour: istio CR contains experimental feature',
    );
    expect(await mesh.find(Namespace, { name: 'istio-system' })).toBeUndefined();
  });
});

test('an istiod that is scaled to zero is reported until it is scaled up again', async () => {
  const mesh = await start();
  await mesh.create();
  await mesh.inState('Ready');
  const scale = (replicas: number): Promise<unknown> =>
    mesh.client.patch(Deployment, ISTIOD, { type: 'merge', body: { spec: { replicas } } });
  await scale(0);
  expect(descriptionAndReason(await mesh.inState('Processing'))[0]).toBe(
    'Reconciling Istio: Pilot: Deployment istiod is scaled to 0 pods',
  );
  await scale(1);
  await mesh.inState('Ready');
});

describe('a deletion', () => {
  test('waits for resources of users, names them in status and log, and continues by itself', async () => {
    const mesh = await start();
    await mesh.create();
    await mesh.inState('Ready');
    const metadata = { namespace: 'default', name: 'shop' };
    const service = { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec: {} };
    await mesh.client.create(VirtualService, service);
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'default' });
    const blocked = await mesh.inState('Warning');
    expect(descriptionAndReason(blocked)).toEqual([
      'There are Istio resources that block deletion. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning',
      'IstioCustomResourcesDangling',
    ]);
    const resource = { kind: 'VirtualService', namespace: 'default', name: 'shop' };
    expect(blocked.status?.blockedBy).toEqual({ total: 1, resources: [resource] });
    await mesh.idle();
    expect(mesh.lines.filter((line) => line.includes('is blocking Istio deletion'))).toEqual([
      expect.stringContaining('"name":"default","resource":"VirtualService default/shop"'),
    ]);
    expect(await mesh.find(Deployment, ISTIOD)).toBeDefined();
    const { items } = await mesh.client.list(Event);
    expect(items.filter((event) => event['type'] === 'Warning').map((event) => event['reason'])).toContain(
      'IstioCustomResourcesDangling',
    );
    await mesh.client.delete(VirtualService, metadata);
    await until(async () => (await mesh.istio()) === undefined, 20_000);
    await expect(mesh.client.list(VirtualService)).rejects.toSatisfy(isNotFound);
    await until(async () => (await mesh.find(Namespace, { name: 'istio-system' })) === undefined);
    // Nothing is logged about its kinds, which are no longer served.
    await until(() => Blocking.every((kind) => !mesh.tables.of(kind).served));
    expect(mesh.lines.filter((line) => !line.includes('is blocking Istio deletion'))).toEqual([]);
  });

  test('reports that Istio is uninstalled before the resource is gone', async () => {
    const mesh = await start();
    await mesh.create();
    await mesh.inState('Ready');
    const last = Promise.withResolvers<Istio>();
    const ending = new AbortController();
    const watching = mesh.client.watch(Istio, { signal: ending.signal }, ({ type, object }) => {
      if (type === 'DELETED') last.resolve(object);
    });
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'default' });
    const { status } = await last.promise;
    ending.abort();
    await watching.catch(() => undefined);
    expect(status?.state).toBe('Deleting');
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'IstioUninstallSucceeded',
      message: 'Istio uninstallation succeded',
    });
    const reasons = async (): Promise<readonly unknown[]> =>
      (await mesh.client.list(Event)).items.map((event) => event['reason']);
    await until(async () => (await reasons()).includes('IstioUninstallSucceeded'));
  });

  test('names an object that a finalizer of others keeps', async () => {
    const mesh = await start();
    await mesh.create();
    await mesh.inState('Ready');
    const hold = (finalizers: readonly string[]): Promise<unknown> =>
      mesh.client.patch(Deployment, ISTIOD, { type: 'merge', body: { metadata: { finalizers } } });
    await hold(['example.com/mine']);
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'default' });
    const message = async (): Promise<string | undefined> =>
      (await mesh.istio())?.status?.conditions?.find(({ type }) => type === 'Reconciling')?.message;
    await until(async () => /^Deployment\b/.test((await message()) ?? ''), 20_000, message);
    expect(await message()).toBe('Deployment istio-system/istiod is still there');
    await hold([]);
    await until(async () => (await mesh.istio()) === undefined, 20_000);
  });

  test('succeeds if Istio was already deleted by hand', async () => {
    const mesh = await start();
    await mesh.create();
    await mesh.inState('Ready');
    await mesh.start({ renderer: { name: 'none', render: () => Promise.reject(new Error('no renderer')) } });
    await mesh.client.delete(Namespace, { name: 'istio-system' });
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'default' });
    await until(async () => (await mesh.istio()) === undefined, 20_000);
    expect((await mesh.client.list(Deployment, { namespace: 'istio-system' })).items).toEqual([]);
  });

  test('removes nothing if the resource installed nothing', async () => {
    const mesh = await start();
    await mesh.create({}, { name: 'a' });
    await mesh.inState('Ready', 'a');
    await mesh.create({}, { name: 'b', finalizers: ['example.com/mine', FINALIZER] });
    await mesh.inState('Error', 'b');
    await mesh.client.delete(Istio, { namespace: 'kyma-system', name: 'b' });
    await until(async () => (await mesh.istio('b'))?.metadata.finalizers?.includes(FINALIZER) === false);
    await mesh.idle();
    expect(await mesh.find(Deployment, ISTIOD)).toBeDefined();
    await mesh.inState('Ready', 'a');
  });
});
