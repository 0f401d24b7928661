// Environments in single namespaces: the controllers with the Roles of an installation with `namespaces` and no others.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { manifestsOf } from '../../src/cli/install/manifests.ts';
import { parseValues } from '../../src/cli/install/values.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import { requireDefinitions } from '../../src/cli/run/crds.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { connect, defineKind, isForbidden, isNotFound, loadConfig } from '../../src/kube/index.ts';
import type { AnyObject, Client } from '../../src/kube/index.ts';
import { VirtualService } from '../../src/traffic/istio/objects.ts';
import { auditedRequests } from '../cluster/audit.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { ACCOUNT, GROUPS, installObject, startWithRights } from '../support/with-rights.ts';
import { installIstioKinds } from './install.ts';
import { leftoversInTheEnd } from './leftovers.ts';
import { environment, isIn, makeWorkload } from './workload.ts';

const SYSTEM = 'offshoot-system';
const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const NAMESPACES = ['shop', 'pay'];

describeOwnClusters('single namespaces', (cluster) => {
  let admin: Client;
  let plane: ControlPlane;
  let refused: readonly string[];
  let objects: readonly AnyObject[];

  beforeAll(async () => {
    admin = cluster.client();
    for (const name of [...NAMESPACES, 'other', SYSTEM])
      await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const values = parseValues({ namespaces: NAMESPACES });
    objects = manifestsOf({ values, namespace: SYSTEM, version: '0.0.0', managedBy: 'test' });
    const wanted = objects.filter(({ kind }) => /^(CustomResourceDefinition|Role|RoleBinding)$/.test(kind));
    for (const object of wanted) await installObject(admin, object);
    const settings = { drainMs: 0, settleMs: 0 };
    ({ plane, refused } = await startWithRights(cluster, 'environments', { namespaces: NAMESPACES, settings }));
  });

  afterAll(async () => {
    await plane?.stop();
  });

  test('the installation has no roles and no webhook for the whole cluster', () => {
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('Cluster') || kind.startsWith('Validating'))).toEqual([]);
  });

  test('the account can list nothing of the whole cluster, and finds the definitions all the same', async () => {
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

  test('kinds of Istio are noticed that are installed later, and an environment becomes ready', async () => {
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

  test('an environment that reaches out of its namespace is refused, and makes nothing', async () => {
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

  test('environments elsewhere are left alone, and nothing is left of those that are deleted', async () => {
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

  test('nothing was asked for outside of the namespaces', () => {
    const requests = auditedRequests(cluster.kubeconfigPath, ACCOUNT) ?? [];
    // The first test asks on purpose.
    const asked = requests.filter(({ namespace, forbidden }) => !forbidden || namespace !== undefined);
    const outside = asked.filter(({ namespace = '' }) => ![...NAMESPACES, SYSTEM].includes(namespace));
    expect(outside).toEqual([]);
    expect(asked.filter(({ forbidden }) => forbidden)).toEqual([]);
  });
});
