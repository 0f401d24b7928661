// The controllers of claims with only the permissions of deploy/targets-rbac.yaml, and a user with those of a claimant.
import { afterAll, expect, test } from 'vitest';
import { ManagedEnvironment } from '../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../src/api/targets.ts';
import { apiVersionOf, connect, isForbidden, loadConfig } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind, KubeObject } from '../src/kube/index.ts';
import { Namespace, RoleBinding, Secret } from '../src/targets/objects.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { findObject } from './support/find-object.ts';
import { usePermissions } from './support/permissions-suite.ts';
import { testUsedPermissions } from './support/used-permissions.ts';
import { spoilCertificate } from './support/with-permissions.ts';

// On its own clusters: the controllers of other suites would do what these may not.
describeOwnClusters('with the permissions of targets', (cluster) => {
  let admin: Client;
  let jane: Client;
  const permissions = usePermissions(cluster, 'targets', {
    webhook: { port: 0, reach: 'loopback' },
    async prepare(client) {
      admin = client;
      const config = loadConfig({ path: cluster.kubeconfigPath });
      jane = connect({ ...config, impersonate: { user: 'jane', groups: ['system:authenticated'] } });
      await create(Namespace, 'team', {});
      await create(RoleBinding, 'jane', {
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'offshoot-claimant' },
      });
    },
  });
  afterAll(() => jane?.close());

  function create(kind: AnyKind, name: string, fields: object, client = admin): Promise<AnyObject> {
    const metadata = { name, ...(kind.namespaced && { namespace: 'team' }) };
    return client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields });
  }

  function find<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    return findObject(admin, kind, kind.namespaced ? { name, namespace: 'team' } : { name });
  }

  test.each([
    ['offshoot.dev/namespace', { warm: 1, quota: { pods: 5 }, limits: { max: { cpu: 2 } }, labels: { a: 'b' } }],
    ['appstudio.redhat.com/devsandbox', { maxTotal: 5 }],
  ])('claims are provisioned, used and deleted: %s', async (provisioner, parameters) => {
    const name = provisioner.split('/')[1]!;
    await create(DeploymentTargetClass, name, { spec: { provisioner, reclaimPolicy: 'Delete', parameters } });
    await create(DeploymentTargetClaim, name, { spec: { deploymentTargetClassName: name } }, jane);
    const environment = { target: { deploymentTargetClaim: { claimName: name } } };
    const spec = { displayName: '', deploymentStrategy: 'Manual', configuration: environment };
    await create(Environment, name, { spec }, jane);
    const managed = `managed-environment-${name}`;
    await permissions.until(async () => (await find(ManagedEnvironment, managed)) !== undefined, 30_000);

    const { targetName = '' } = (await find(DeploymentTargetClaim, name))!.spec;
    const { clusterCredentialsSecret } = (await find(DeploymentTarget, targetName))!.spec.kubernetesCredentials;
    const secret = await jane.get(Secret, { name: clusterCredentialsSecret, namespace: 'team' });
    expect(secret.data).toHaveProperty('kubeconfig');
    await jane.delete(Environment, { name, namespace: 'team' });
    await jane.delete(DeploymentTargetClaim, { name, namespace: 'team' });
    const left = async (): Promise<number> =>
      (await admin.list(DeploymentTarget)).items.length +
      ((await find(DeploymentTargetClaim, name)) ? 1 : 0) +
      ((await find(ManagedEnvironment, managed)) ? 1 : 0);
    await permissions.until(async () => (await left()) === 0, 60_000);
  });

  test('an expired claim is deleted', async () => {
    await create(DeploymentTarget, 'ours', {
      spec: {
        deploymentTargetClassName: '',
        kubernetesCredentials: { apiURL: 'https://a', defaultNamespace: '', clusterCredentialsSecret: 'a' },
      },
    });
    const spec = { deploymentTargetClassName: '', targetName: 'ours', ttl: '1s' };
    await create(DeploymentTargetClaim, 'brief', { spec }, jane);
    await permissions.until(async () => (await find(DeploymentTarget, 'ours'))!.status?.phase === 'Released', 30_000);
    await permissions.until(async () => (await find(DeploymentTargetClaim, 'brief')) === undefined, 30_000);
    expect(permissions.refused).toEqual([]);
  });

  test('an invalid webhook certificate is replaced', async () => {
    await spoilCertificate(admin);
    expect(permissions.refused).toEqual([]);
  });

  test('a claimant can read classes, but not change them', async () => {
    expect((await jane.list(DeploymentTargetClass)).items.length).toBeGreaterThan(0);
    await expect(create(DeploymentTargetClass, 'mine', {}, jane)).rejects.toSatisfy(isForbidden);
    await expect(jane.list(DeploymentTargetClaim)).rejects.toSatisfy(isForbidden);
  });

  testUsedPermissions(cluster, 'targets', 'permissions');
});
