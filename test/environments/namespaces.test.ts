// Environments in single namespaces: the controllers with the Roles of an installation with `namespaces` and no others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { manifestsOf } from '../../src/cli/install/manifests.ts';
import { parseValues } from '../../src/cli/install/values.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import { requireDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { connect, defineKind, isForbidden, isNotFound, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../../src/kube/index.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import { auditedRequests } from '../cluster/audit.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { install } from '../scenarios/install.ts';
import { until } from '../support/until.ts';
import { ACCOUNT, GROUPS, installObject, startWithPermissions } from '../support/with-permissions.ts';
import { installIstioKinds } from './install.ts';
import { leftoversInTheEnd } from './leftovers.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';

const SYSTEM = 'offshoot-system';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Event = defineKind<KubeObject & { readonly reason?: string; readonly note?: string }>(
  'events.k8s.io/v1',
  'Event',
  'events',
);
const NAMESPACES = ['shop', 'pay'];

const CLONE = { name: 'worker-shop-wide', namespace: 'away' };
const containers = [{ containerName: 'worker', image: 'worker:2' }];
const wide: DynamicEnv = {
  ...environment('shop', 'wide', []),
  spec: { key: 'wide', subsets: [], consumers: [{ name: 'worker', namespace: 'away', containers }] },
};

async function startForWholeCluster(client: Client): Promise<Manager> {
  const controllers = environments({ drainMs: 0, settleMs: 0 });
  const manager = new Manager({ client, controllers, logger: createLogger({ level: 'silent' }) });
  await manager.start();
  return manager;
}

describeOwnClusters('an installation for single namespaces', (cluster) => {
  let admin: Client;
  let plane: ControlPlane;
  let refused: readonly string[];
  let objects: readonly AnyObject[];

  beforeAll(async () => {
    admin = cluster.client();
    for (const name of [...NAMESPACES, 'away', 'other', SYSTEM])
      await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const values = parseValues({ namespaces: NAMESPACES });
    objects = manifestsOf({ values, namespace: SYSTEM, version: '0.0.0', managedBy: 'test' });
    const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
    await install(admin, definitions);
    const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'RoleBinding');
    for (const object of roles) await installObject(admin, object);
    await admin.create(DynamicEnv, wide);
    const whole = await startForWholeCluster(admin);
    await admin.create(Deployment, workload('away', 'worker').deployment);
    await until(() => isIn(admin, wide.metadata, 'ready'), 60_000);
    await whole.stop();
    const settings = { drainMs: 0, settleMs: 0 };
    ({ plane, refused } = await startWithPermissions(cluster, 'environments', { namespaces: NAMESPACES, settings }));
  });

  afterAll(async () => {
    await plane?.stop();
  });

  test('has no cluster roles and no webhook', () => {
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('Cluster') || kind.startsWith('Validating'))).toEqual([]);
  });

  test('finds the definitions with an account that can list nothing cluster-wide', async () => {
    const config = loadConfig({ path: cluster.kubeconfigPath });
    const account = connect({ ...config, impersonate: { user: ACCOUNT, groups: GROUPS } });
    try {
      await expect(account.list(DynamicEnv)).rejects.toSatisfy(isForbidden);
      const limit = { namespaces: NAMESPACES };
      await requireDefinitions(account, partsOf(['environments']), limit);
      await expect(requireDefinitions(account, partsOf(['routing']), limit)).rejects.toThrow(
        /does not know .*routingrules\.supergloo\.solo\.io.*: an administrator installs them with "offshoot crds/,
      );
    } finally {
      account.close();
    }
  });

  test('names old objects of an environment in other namespaces, and its deletion waits', async () => {
    const found = async (): Promise<DynamicEnv> => admin.get(DynamicEnv, wide.metadata);
    const conditionOf = async (name: string) =>
      (await found()).status?.conditions?.find(({ type }) => type === name)?.message ?? '';
    await until(async () => (await conditionOf('LeftBehind')).includes(`Deployment away/${CLONE.name}`), 30_000, found);
    expect(await conditionOf('Stalled')).toContain('remove these by hand, and then its metadata.finalizers');
    await admin.delete(DynamicEnv, wide.metadata);
    const isReported = async (): Promise<boolean> => {
      const { items } = await admin.list(Event, { namespace: 'shop' });
      return items.some(({ reason, note }) => reason === 'Deleting' && note?.includes(CLONE.name));
    };
    await until(isReported, 30_000, found);
    expect((await found()).metadata.finalizers).not.toEqual([]);
    expect((await admin.get(Deployment, CLONE)).metadata.deletionTimestamp).toBeUndefined();
    // Controllers for the whole cluster find and remove it.
    const whole = await startForWholeCluster(admin);
    try {
      await until(() => admin.get(DynamicEnv, wide.metadata).then(() => false, isNotFound), 60_000, found);
      await until(() => admin.get(Deployment, CLONE).then(() => false, isNotFound), 60_000);
    } finally {
      await whole.stop();
    }
    expect(refused).toEqual([]);
  }, 180_000);

  test('notices kinds of Istio that are installed later, and an environment becomes ready', async () => {
    const env = environment('shop', 'feature', [{ name: 'cart', namespace: 'shop' }]);
    await admin.create(DynamicEnv, env);
    await until(() => isIn(admin, env.metadata, 'degraded'), 30_000);
    await installIstioKinds(admin);
    await makeWorkload(admin, 'shop', 'cart');
    await until(async () => refused.length > 0 || (await isIn(admin, env.metadata, 'ready')), 90_000);
    expect(refused).toEqual([]);
    const { spec } = await admin.get(VirtualService, { name: 'cart', namespace: 'shop' });
    expect(spec?.http?.[0]?.name).toMatch(/^dynamic-environment-shop-feature-cart/);
  }, 120_000);

  test('refuses an environment that uses another namespace, and creates nothing', async () => {
    const env = environment('pay', 'reaching', [{ name: 'cart', namespace: 'shop' }]);
    await admin.create(DynamicEnv, env);
    await until(() => isIn(admin, env.metadata, 'degraded'), 30_000);
    const { status } = await admin.get(DynamicEnv, env.metadata);
    expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'OutsideNamespace',
      message: expect.stringContaining('spec.subsets[0]: Deployment shop/cart is in another namespace'),
    });
    const clone = { name: 'cart-pay-reaching', namespace: 'shop' };
    await expect(admin.get(Deployment, clone)).rejects.toSatisfy(isNotFound);
  });

  test('ignores environments in other namespaces, and leaves nothing of deleted ones', async () => {
    const elsewhere = environment('other', 'feature', [{ name: 'cart', namespace: 'other' }]);
    await makeWorkload(admin, 'other', 'cart');
    await admin.create(DynamicEnv, elsewhere);
    for (const metadata of [
      { name: 'feature', namespace: 'shop' },
      { name: 'reaching', namespace: 'pay' },
    ])
      await admin.delete(DynamicEnv, metadata);
    expect(await leftoversInTheEnd(admin, (name) => NAMESPACES.includes(name))).toEqual([]);
    const { metadata, status } = await admin.get(DynamicEnv, elsewhere.metadata);
    expect([metadata.finalizers, status]).toEqual([undefined, undefined]);
    expect(refused).toEqual([]);
  });

  test('sends no requests for other namespaces', () => {
    const requests = auditedRequests(cluster.kubeconfigPath, ACCOUNT) ?? [];
    // The first test sends some on purpose.
    const sent = requests.filter(({ namespace, forbidden }) => !forbidden || namespace !== undefined);
    const outside = sent.filter(({ namespace = '' }) => ![...NAMESPACES, SYSTEM].includes(namespace));
    expect(outside).toEqual([]);
    expect(sent.filter(({ forbidden }) => forbidden)).toEqual([]);
  });
});
