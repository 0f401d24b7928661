// The controllers of the claim system with the rights of deploy/targets-rbac.yaml and no others, and a person with those
// of a claimant.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManagedEnvironment } from '../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../src/api/targets.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { apiVersionOf, connect, isForbidden, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, Kind, KubeObject } from '../src/kube/index.ts';
import { Namespace, RoleBinding, Secret } from '../src/targets/objects.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { until } from './support/until.ts';
import { installRights, spoilCertificate, startWithRights } from './support/with-rights.ts';
import { testUsedRights } from './support/used-rights.ts';

// With clusters of their own: the controllers of other suites would do what these may not.
describeOwnClusters('rights', (cluster) => {
  let admin: Client;
  let jane: Client;
  let plane: ControlPlane | undefined;
  let refused: readonly string[];

  beforeAll(async () => {
    admin = cluster.client();
    const config = loadConfig({ path: cluster.kubeconfigPath });
    jane = connect({ ...config, impersonate: { user: 'jane', groups: ['system:authenticated'] } });
    await installRights(cluster, 'targets');
    await create(Namespace, 'team', {});
    await create(RoleBinding, 'jane', {
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'offshoot-claimant' },
    });
    ({ plane, refused } = await startWithRights(cluster, 'targets', { webhook: { port: 0, reach: 'loopback' } }));
  });

  afterAll(async () => {
    await plane?.stop();
    jane?.close();
  });

  function create(kind: AnyKind, name: string, fields: object, client = admin): Promise<AnyObject> {
    const metadata = { name, ...(kind.namespaced && { namespace: 'team' }) };
    return client.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields });
  }

  async function find<T extends KubeObject>(kind: Kind<T>, name: string): Promise<T | undefined> {
    try {
      return await admin.get(kind, kind.namespaced ? { name, namespace: 'team' } : { name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  test.each([
    ['offshoot.dev/namespace', { warm: 1, quota: { pods: 5 }, limits: { max: { cpu: 2 } }, labels: { a: 'b' } }],
    ['appstudio.redhat.com/devsandbox', { maxTotal: 5 }],
  ])('%s: claims are made, used and given back with them', async (provisioner, parameters) => {
    const name = provisioner.split('/')[1]!;
    await create(DeploymentTargetClass, name, { spec: { provisioner, reclaimPolicy: 'Delete', parameters } });
    await create(DeploymentTargetClaim, name, { spec: { deploymentTargetClassName: name } }, jane);
    const environment = { target: { deploymentTargetClaim: { claimName: name } } };
    const spec = { displayName: '', deploymentStrategy: 'Manual', configuration: environment };
    await create(Environment, name, { spec }, jane);
    const managed = `managed-environment-${name}`;
    await until(async () => refused.length > 0 || (await find(ManagedEnvironment, managed)) !== undefined, 30_000);
    expect(refused).toEqual([]);

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
    await until(async () => refused.length > 0 || (await left()) === 0, 60_000);
    expect(refused).toEqual([]);
  });

  test('a claim that has lived its time is deleted with them', async () => {
    await create(DeploymentTarget, 'ours', {
      spec: {
        deploymentTargetClassName: '',
        kubernetesCredentials: { apiURL: 'https://a', defaultNamespace: '', clusterCredentialsSecret: 'a' },
      },
    });
    const spec = { deploymentTargetClassName: '', targetName: 'ours', ttl: '1s' };
    await create(DeploymentTargetClaim, 'brief', { spec }, jane);
    await until(async () => (await find(DeploymentTarget, 'ours'))!.status?.phase === 'Released', 30_000);
    await until(async () => (await find(DeploymentTargetClaim, 'brief')) === undefined, 30_000);
    expect(refused).toEqual([]);
  });

  test('a certificate that somebody spoiled is recreated with them', async () => {
    await spoilCertificate(admin);
    expect(refused).toEqual([]);
  });

  test('a claimant sees the classes, and changes none', async () => {
    expect((await jane.list(DeploymentTargetClass)).items.length).toBeGreaterThan(0);
    await expect(create(DeploymentTargetClass, 'mine', {}, jane)).rejects.toSatisfy(isForbidden);
    await expect(jane.list(DeploymentTargetClaim)).rejects.toSatisfy(isForbidden);
  });

  testUsedRights(cluster, 'targets', 'rights');
});
