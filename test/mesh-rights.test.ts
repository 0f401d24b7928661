// The controllers of the mesh with the rights of deploy/mesh-rbac.yaml and no others: with the manifests of the real
// istioctl where there is one, because its roles grant what the controllers themselves may not do.
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { connect, defineKind, isForbidden, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../src/kube/index.ts';
import { builtinRenderer, istioctlRenderer } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { istioNode, istioVersion } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';
import { until } from './support/until.ts';
import { ACCOUNT, GROUPS, installRights, startWithRights } from './support/with-rights.ts';
import { testUsedRights } from './support/used-rights.ts';

const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
const ClusterRole = defineKind('rbac.authorization.k8s.io/v1', 'ClusterRole', 'clusterroles', { namespaced: false });
const Definition = defineKind<KubeObject & { readonly status?: { readonly conditions?: unknown } }>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  { namespaced: false },
);
const REF = { name: 'default', namespace: 'kyma-system' };

const found = findPrograms(istioNode, ['istioctl']);
const renderer = 'missing' in found ? builtinRenderer : istioctlRenderer({ program: path.join(found.dir, 'istioctl') });

// With clusters of their own: the controllers of other suites would do what these may not.
describeOwnClusters('rights', (cluster) => {
  let admin: Client;
  let plane: ControlPlane | undefined;
  let refused: readonly string[];

  beforeAll(async () => {
    admin = cluster.client();
    await installRights(cluster, 'mesh');
    await admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
    ({ plane, refused } = await startWithRights(cluster, 'mesh', { mesh: { renderer, istioVersion, reconnectMs: 0 } }));
  });

  afterAll(async () => {
    await plane?.stop();
  });

  const isReady = async (): Promise<boolean> => {
    const { metadata, status } = await admin.get(Istio, REF);
    return status?.state === 'Ready' && status.observedGeneration === metadata.generation;
  };
  const isGone = (): Promise<boolean> => admin.get(Istio, REF).then(() => false, isNotFound);

  /** What the resource says, and the definitions that are on their way out. */
  const found = async (): Promise<unknown> => ({
    status: (await admin.get(Istio, REF)).status,
    terminating: (await admin.list(Definition)).items
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata, status }) => ({ name: metadata.name, conditions: status?.conditions })),
  });

  test('Istio is installed, changed with restarts, and removed with them', async () => {
    const spec = { networkPoliciesEnabled: true, components: { egressGateway: { enabled: true } } };
    await admin.create(Istio, {
      apiVersion: 'operator.kyma-project.io/v1alpha2',
      kind: 'Istio',
      metadata: REF,
      spec,
    });
    await until(async () => refused.length > 0 || (await isReady()), 120_000, found);
    expect(refused).toEqual([]);
    const body = { spec: { config: { numTrustedProxies: 1 }, components: { egressGateway: { enabled: false } } } };
    await admin.patch(Istio, REF, { type: 'merge', body });
    const isRestarted = async (): Promise<boolean> =>
      JSON.stringify(await admin.get(Deployment, { namespace: 'istio-system', name: 'istio-ingressgateway' })).includes(
        'restartedFor',
      );
    await until(async () => refused.length > 0 || ((await isReady()) && (await isRestarted())), 120_000, found);
    expect(refused).toEqual([]);
    await admin.delete(Istio, REF);
    await until(async () => refused.length > 0 || (await isGone()), 120_000, found);
    expect(refused).toEqual([]);
  }, 400_000);

  test('other roles than those of Istio cannot be written with more rights than the controllers have', async () => {
    const config = loadConfig({ path: cluster.kubeconfigPath });
    const account = connect({ ...config, impersonate: { user: ACCOUNT, groups: GROUPS } });
    const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    const role: AnyObject = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'mine' },
      rules: everything,
    };
    try {
      await expect(account.create(ClusterRole, role)).rejects.toSatisfy(isForbidden);
    } finally {
      account.close();
    }
  });

  testUsedRights(cluster, 'mesh', 'rights');
});
