// The controllers of the mesh with only the permissions of deploy/mesh-rbac.yaml: with the manifests of the real
// istioctl if it is available, because its roles grant permissions that the controllers do not hold.
import path from 'node:path';
import { expect, test } from 'vitest';
import { Istio } from '../src/api/istio.ts';
import { connect, defineKind, isForbidden, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyObject, Client, KubeObject } from '../src/kube/index.ts';
import { builtinRenderer, istioctlRenderer } from '../src/mesh/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { istioNode, istioVersion } from './programs/istio.ts';
import { findPrograms } from './programs/programs.ts';
import { Deployment, Namespace } from './support/core-kinds.ts';
import { usePermissions } from './support/permissions-suite.ts';
import { testUsedPermissions } from './support/used-permissions.ts';
import { ACCOUNT, GROUPS } from './support/with-permissions.ts';

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

// On its own clusters: the controllers of other suites would do what these may not.
describeOwnClusters('with the permissions of the mesh', (cluster) => {
  let admin: Client;
  const permissions = usePermissions(cluster, 'mesh', {
    mesh: { renderer, istioVersion, reconnectMs: 0 },
    prepare(client) {
      admin = client;
      return admin.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kyma-system' } });
    },
  });

  const isReady = async (): Promise<boolean> => {
    const { metadata, status } = await admin.get(Istio, REF);
    return status?.state === 'Ready' && status.observedGeneration === metadata.generation;
  };
  const isGone = (): Promise<boolean> => admin.get(Istio, REF).then(() => false, isNotFound);

  /** The status of the resource, and the definitions that are being deleted. */
  const found = async (): Promise<unknown> => ({
    status: (await admin.get(Istio, REF)).status,
    terminating: (await admin.list(Definition)).items
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata, status }) => ({ name: metadata.name, conditions: status?.conditions })),
  });

  test('Istio is installed, changed with restarts, and removed', async () => {
    const spec = { networkPoliciesEnabled: true, components: { egressGateway: { enabled: true } } };
    await admin.create(Istio, {
      apiVersion: 'operator.kyma-project.io/v1alpha2',
      kind: 'Istio',
      metadata: REF,
      spec,
    });
    await permissions.until(isReady, 120_000, found);
    const body = { spec: { config: { numTrustedProxies: 1 }, components: { egressGateway: { enabled: false } } } };
    await admin.patch(Istio, REF, { type: 'merge', body });
    const isRestarted = async (): Promise<boolean> =>
      JSON.stringify(await admin.get(Deployment, { namespace: 'istio-system', name: 'istio-ingressgateway' })).includes(
        'restartedFor',
      );
    await permissions.until(async () => (await isReady()) && (await isRestarted()), 120_000, found);
    await admin.delete(Istio, REF);
    await permissions.until(isGone, 120_000, found);
    expect(permissions.refused).toEqual([]);
  }, 400_000);

  test('only roles of Istio can have permissions that the controllers do not hold', async () => {
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

  testUsedPermissions(cluster, 'mesh', 'permissions');
});
