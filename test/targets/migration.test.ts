// Migration of claims that managed-gitops and the host operator bound: every namespace, Secret and environment is kept,
// so that deployers notice nothing.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../src/api/targets.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { keyOf } from '../../src/kube/index.ts';
import type { Client } from '../../src/kube/index.ts';
import { targets } from '../../src/targets/index.ts';
import { Namespace } from '../../src/targets/objects.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import { installKinds, KINDS } from './all.ts';

const HOST = 'toolchain-host-operator';
const NAMESPACE = 'team';
const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';
const apiVersion = 'appstudio.redhat.com/v1alpha1';
/** The field manager of those operators: the name of their binaries. */
const THEIRS = { fieldManager: 'manager' };

describeOwnClusters('a migration from managed-gitops', (cluster) => {
  let client: Client;
  let manager: Manager | undefined;

  async function start(): Promise<Manager> {
    const here = { name: 'local', roles: [], server: 'https://here.example' };
    const logger = createLogger({ level: 'error' });
    manager = new Manager({ client, controllers: targets({ hostNamespace: HOST, cluster: here }), logger });
    await manager.start();
    return manager;
  }

  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    for (const name of [HOST, NAMESPACE]) {
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
  });
  afterAll(() => manager?.stop());

  const claim = (): Promise<DeploymentTargetClaim> =>
    client.get(DeploymentTargetClaim, { namespace: NAMESPACE, name: 'staging' });
  const all = async () => {
    const lists = await Promise.all(KINDS.map((kind) => client.list(kind)));
    return lists.flatMap(({ items }, index) => items.map((object) => ({ kind: KINDS[index]!, object })));
  };
  /** Each object with its uid: a recreated object has another one. */
  const identities = async (): Promise<readonly string[]> =>
    (await all()).map(({ kind, object: { metadata } }) => `${kind.kind} ${keyOf(metadata)} ${metadata.uid}`).sort();

  /** Makes the objects look as if those operators wrote them: by updates, and the claim marked with its class. */
  async function rewriteAsTheirs(): Promise<void> {
    for (const { kind, object } of await all()) {
      if (kind.kind === 'Namespace' || kind.kind === 'Secret') continue;
      const mark = kind.kind === 'DeploymentTargetClaim' && { [PROVISIONER]: 'sandbox' };
      const annotations = { ...object.metadata.annotations, ...mark };
      // One empty entry resets the managedFields.
      const metadata = { ...object.metadata, annotations, managedFields: [{}] };
      await client.update(kind, { ...object, metadata }, THEIRS);
    }
  }

  test('keeps claims bound to the same targets', { timeout: 120_000 }, async () => {
    let running = await start();
    const spec = { provisioner: 'appstudio.redhat.com/devsandbox', parameters: {}, reclaimPolicy: 'Delete' as const };
    const metadata = { name: 'staging', namespace: NAMESPACE };
    await client.create(DeploymentTargetClass, {
      apiVersion,
      kind: 'DeploymentTargetClass',
      metadata: { name: 'sandbox' },
      spec,
    });
    await client.create(DeploymentTargetClaim, {
      apiVersion,
      kind: 'DeploymentTargetClaim',
      metadata,
      spec: { deploymentTargetClassName: 'sandbox' },
    });
    await client.create(Environment, {
      apiVersion,
      kind: 'Environment',
      metadata,
      spec: {
        displayName: 'Staging',
        deploymentStrategy: 'Manual',
        configuration: { target: { deploymentTargetClaim: { claimName: 'staging' } } },
      },
    });
    const isBound = async (): Promise<boolean> => (await claim()).status?.phase === 'Bound';
    await until(isBound, 60_000);
    await settled(running, 30_000);
    await running.stop();
    await rewriteAsTheirs();
    const before = await identities();
    expect(before.join('\n')).toMatch(/^DeploymentTarget team\/staging-dt .*^SpaceRequest team\//ms);

    running = await start();
    await until(async () => (await claim()).metadata.annotations?.[PROVISIONER] === spec.provisioner, 30_000);
    await settled(running, 30_000);
    expect(await identities()).toEqual(before);
    expect(await isBound()).toBe(true);
    const target = await client.get(DeploymentTarget, { namespace: NAMESPACE, name: 'staging-dt' });
    expect([target.status?.phase, target.spec.claimRef]).toEqual(['Bound', 'staging']);

    // Deletion works as for our own: nothing is left.
    await client.delete(Environment, metadata);
    await client.delete(DeploymentTargetClaim, metadata);
    const left = async (): Promise<readonly string[]> =>
      (await identities()).filter((each) => /^(SpaceRequest|Space|DeploymentTarget|DeploymentTargetClaim) /.test(each));
    await until(async () => (await left()).length === 0, 60_000, left);
  });
});
