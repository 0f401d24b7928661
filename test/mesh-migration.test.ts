// Our controllers adopt a mesh that Kyma's Istio operator installed, and give it back: no pod is restarted either way.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import type { Manager } from '../src/controller/index.ts';
import { keyOf } from '../src/kube/index.ts';
import type { AnyObject, Client } from '../src/kube/index.ts';
import { ownedPart } from '../src/kube/write/owned.ts';
import { MODULE_LABEL, UNINSTALLED_KINDS } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import type { Injector } from './mesh-restarts/injector.ts';
import {
  createIstio,
  Deployment,
  Pods,
  prepare,
  reached,
  RESOURCE,
  startMesh,
  workload,
} from './mesh-restarts/world.ts';
import { NOT_SCALED } from './support/running-mesh.ts';
import { settled, until } from './support/until.ts';

const VERSION = '1.31.0';
/** The field manager of that operator. */
const FIELD_MANAGER = 'istio-operator';
const OWNER = 'install.operator.istio.io/owning-resource';

describeOwnClusters("a migration from Kyma's Istio operator", (cluster) => {
  let client: Client;
  let injector: Injector;
  let manager: Manager;

  beforeAll(async () => {
    client = cluster.client();
    injector = await prepare(client);
    manager = await startMesh(client, { istioVersion: VERSION });
    await createIstio(client, NOT_SCALED);
    await reached(client, 'Ready', VERSION);
    await client.create(Deployment, workload('orders'));
    await until(async () => {
      const { status } = await client.get(Deployment, { namespace: 'shop', name: 'orders' });
      return status?.availableReplicas === 2;
    }, 60_000);
    await settled(manager, 30_000);
    await manager.stop();
  }, 180_000);
  afterAll(async () => {
    await manager?.stop();
    await injector?.close();
  });

  const installed = async (): Promise<readonly AnyObject[]> => {
    const options = { labelSelector: OWNER };
    const kinds = UNINSTALLED_KINDS.filter(({ kind }) => kind !== 'Pod');
    const lists = await Promise.all(kinds.map((kind) => client.list(kind, options).catch(() => ({ items: [] }))));
    return lists.flatMap(({ items }) => items as readonly AnyObject[]);
  };
  /** What a restart would change: the uid of each pod, and the generation of each workload. */
  const runningVersions = async (): Promise<readonly string[]> => {
    const [pods, workloads] = await Promise.all([client.list(Pods), installed()]);
    return [
      ...pods.items.map(({ metadata }) => `Pod ${keyOf(metadata)} ${metadata.uid}`),
      ...workloads
        .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet')
        .map(({ kind, metadata }) => `${kind} ${keyOf(metadata)} ${metadata.generation}`),
    ].sort();
  };
  /** The objects with another owner label. */
  const notOwnedBy = async (owner: string): Promise<readonly string[]> =>
    (await installed())
      .filter(({ metadata }) => metadata.labels?.[OWNER] !== owner)
      .map(({ kind, metadata }) => `${kind} ${keyOf(metadata)}`);

  /** Applies all objects as that operator does: with the same field manager, and its own labels. */
  async function installAsKyma(): Promise<void> {
    for (const live of await installed()) {
      const kind = UNINSTALLED_KINDS.find((each) => each.kind === live.kind)!;
      const applied = ownedPart(live, FIELD_MANAGER) as AnyObject;
      const { [MODULE_LABEL]: _ours, ...labels } = applied.metadata.labels ?? {};
      const { apiVersion, metadata } = live;
      const { name, namespace } = metadata;
      const body = {
        ...applied,
        apiVersion,
        kind: live.kind,
        metadata: {
          ...applied.metadata,
          name,
          ...(namespace !== undefined && { namespace }),
          labels: { ...labels, [OWNER]: 'installed-state-default-operator' },
        },
      };
      await client.patch(kind, metadata, { type: 'apply', body, force: true }, { fieldManager: FIELD_MANAGER });
    }
  }

  test('restarts nothing when the mesh is adopted, nor when it is given back', { timeout: 180_000 }, async () => {
    await installAsKyma();
    const ready = { type: 'Ready', reason: 'ReconcileSucceeded', message: 'Reconciliation succeeded' };
    const conditions = [{ ...ready, status: 'True' as const, lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const left = await client.get(Istio, RESOURCE);
    const status = { state: 'Ready' as const, description: '', conditions };
    await client.update(Istio, { ...left, status }, { subresource: 'status' });
    const before = await runningVersions();
    expect(await notOwnedBy('installed-state-default-operator')).toEqual([]);

    manager = await startMesh(client, { istioVersion: VERSION });
    await reached(client, 'Ready', VERSION);
    let theirs: readonly string[] = [];
    await until(
      async () => (theirs = await notOwnedBy('default-operator')).length === 0,
      60_000,
      () => theirs,
    );
    await settled(manager, 30_000);
    expect(await runningVersions()).toEqual(before);

    await manager.stop();
    await installAsKyma();
    expect(await runningVersions()).toEqual(before);
    // What that operator reads when it starts again: its finalizer, and the last applied configuration.
    const { metadata } = await client.get(Istio, RESOURCE);
    expect(metadata.finalizers).toEqual(left.metadata.finalizers);
    expect(metadata.annotations).toEqual(left.metadata.annotations);
  });
});
