// The controllers of the claim system with the rights of deploy/targets-rbac.yaml and no others, and a person with those
// of a claimant.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ManagedEnvironment } from '../src/api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../src/api/targets.ts';
import { startControlPlane } from '../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../src/cli/run/control-plane.ts';
import { installDefinitions } from '../src/cli/run/crds.ts';
import { partsOf } from '../src/cli/run/parts.ts';
import { createLogger } from '../src/controller/index.ts';
import { startEmbedded } from '../src/embedded/index.ts';
import { apiVersionOf, connect, defineKind, isForbidden, isNotFound, loadConfig } from '../src/kube/index.ts';
import type { AnyKind, AnyObject, Client, ConnectConfig, Kind, KubeObject } from '../src/kube/index.ts';
import { Namespace, RoleBinding, Secret } from '../src/targets/objects.ts';
import { describeReal } from './cluster/index.ts';
import { startRealCluster } from './cluster/real.ts';
import { until } from './support/until.ts';

const RBAC = path.resolve(import.meta.dirname, '../deploy/targets-rbac.yaml');
const ACCOUNT = 'system:serviceaccount:offshoot-system:offshoot';
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:offshoot-system', 'system:authenticated'];

describe('rights (embedded)', () => {
  suite(async () => {
    const embedded = await startEmbedded();
    const { url: server, caPem, admin } = embedded;
    return { config: { server, caPem, token: admin.token }, stop: () => embedded.stop() };
  });
});

// With a cluster of its own: the controllers of other suites would do what these may not.
describeReal('rights', () => {
  suite(async () => {
    const cluster = await startRealCluster({ scheduler: false, kubelet: false });
    return { config: loadConfig({ path: cluster.kubeconfigPath }), stop: () => cluster.stop() };
  });
});

interface Running {
  readonly config: ConnectConfig;
  stop(): Promise<void>;
}

function suite(start: () => Promise<Running>): void {
  let cluster: Running;
  let admin: Client;
  let jane: Client;
  let plane: ControlPlane;
  /** What the controllers were not allowed to do. */
  const refused: string[] = [];
  const refusal = new AbortController();
  const note = (line: string): void => {
    if (!/forbidden/i.test(line)) return;
    refused.push(line);
    // A start would wait for the right for ever.
    refusal.abort(new Error(line));
  };

  beforeAll(async () => {
    cluster = await start();
    const { config } = cluster;
    admin = connect(config);
    jane = connect({ ...config, impersonate: { user: 'jane', groups: ['system:authenticated'] } });
    await installDefinitions(admin, partsOf(['targets']));
    for (const document of parseAllDocuments(readFileSync(RBAC, 'utf8'))) await apply(document.toJS() as AnyObject);
    await create(Namespace, 'team', {});
    await create(RoleBinding, 'jane', {
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'offshoot-claimant' },
    });
    plane = await startControlPlane({
      config: { ...config, impersonate: { user: ACCOUNT, groups: GROUPS } },
      parts: partsOf(['targets']),
      namespace: 'offshoot-system',
      leaderElect: true,
      webhook: { port: 0, reach: 'loopback' },
      signal: refusal.signal,
      logger: createLogger({ level: 'warn', write: note }),
    });
  });

  afterAll(async () => {
    await plane?.stop();
    jane?.close();
    admin?.close();
    await cluster?.stop();
  });

  async function apply(object: AnyObject): Promise<void> {
    const { apiVersion, kind, metadata } = object;
    const of = defineKind(apiVersion, kind, `${kind.toLowerCase()}s`, { namespaced: metadata.namespace !== undefined });
    await admin.patch(of, metadata, { type: 'apply', body: object, force: true }, { fieldManager: 'test' });
  }

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

  test('a claimant sees the classes, and changes none', async () => {
    expect((await jane.list(DeploymentTargetClass)).items.length).toBeGreaterThan(0);
    await expect(create(DeploymentTargetClass, 'mine', {}, jane)).rejects.toSatisfy(isForbidden);
    await expect(jane.list(DeploymentTargetClaim)).rejects.toSatisfy(isForbidden);
  });
}
