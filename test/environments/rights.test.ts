// The controllers work with the rights of deploy/environments-rbac.yaml and no others: nothing that they do is forbidden.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import { startControlPlane } from '../../src/cli/run/control-plane.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import { partsOf } from '../../src/cli/run/parts.ts';
import { createLogger } from '../../src/controller/index.ts';
import { WATCH_ANNOTATION } from '../../src/environments/ownership.ts';
import { Deployment } from '../../src/environments/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import { loadConfig } from '../../src/kube/client/config/kubeconfig.ts';
import { defineKind } from '../../src/kube/objects.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';
const global = { namespaced: false };
const ClusterRole = defineKind(RBAC, 'ClusterRole', 'clusterroles', global);
const Role = defineKind(RBAC, 'Role', 'roles');
const RoleBinding = defineKind(RBAC, 'RoleBinding', 'rolebindings');
const ClusterRoleBinding = defineKind(RBAC, 'ClusterRoleBinding', 'clusterrolebindings', global);

/** The rules of a role in the manifest. */
function rulesOf(kind: string, name: string): unknown {
  const file = path.resolve(import.meta.dirname, '../../deploy/environments-rbac.yaml');
  const objects = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as AnyObject);
  return objects.find((object) => object.kind === kind && object.metadata.name === name)!['rules'];
}

// With clusters of their own: where others work, a namespace may be on its way out, and what is made there is forbidden.
describeOwnClusters('with the rights of the manifest', (cluster) => {
  let client: Client;
  let plane: ControlPlane;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    namespace = await cluster.namespace('rights');
    const apiGroup = 'rbac.authorization.k8s.io';
    const subjects = [{ apiGroup, kind: 'User', name: namespace }];
    for (const [role, name, binding] of [
      [ClusterRole, 'offshoot-environments', ClusterRoleBinding],
      [Role, 'offshoot', RoleBinding],
    ] as const) {
      const metadata = { name: namespace, ...(role === Role && { namespace }) };
      const rules = rulesOf(role.kind, name);
      await client.create(role, { apiVersion: RBAC, kind: role.kind, metadata, rules });
      const roleRef = { apiGroup, kind: role.kind, name: namespace };
      await client.create(binding, { apiVersion: RBAC, kind: binding.kind, metadata, roleRef, subjects });
    }
  });

  afterAll(async () => {
    await plane?.stop();
    await client.delete(ClusterRole, { name: namespace });
    await client.delete(ClusterRoleBinding, { name: namespace });
  });

  test('an environment is made, taken over and changed, and expires', { timeout: 120_000 }, async () => {
    await makeWorkload(client, namespace, 'cart');
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    // A clone of another operator: taking it over needs more than making one.
    const { deployment } = workload(namespace, 'cart');
    const version = `${namespace.slice(0, 20)}-feature`;
    const labels = { app: 'cart', version };
    await client.create(
      Deployment,
      {
        ...deployment,
        metadata: {
          name: `cart-${version}`,
          namespace,
          annotations: { [WATCH_ANNOTATION]: `${namespace}/feature` },
        },
        spec: {
          ...deployment.spec,
          selector: { matchLabels: labels },
          template: { ...deployment.spec.template, metadata: { labels } },
        },
      },
      { fieldManager: 'manager' },
    );
    plane = await startControlPlane({
      config: { ...loadConfig({ path: cluster.kubeconfigPath }), impersonate: { user: namespace } },
      parts: partsOf(['environments']),
      settings: { drainMs: 0, settleMs: 0, orphanSweepMs: 50, orphanGraceMs: 0 },
      namespace,
      leaderElect: true,
      webhook: { port: 0, reach: 'loopback' },
      logger: createLogger({ level: 'error' }),
    });
    await client.create(DynamicEnv, env);
    await until(() => isIn(client, env.metadata, 'ready'), 60_000);
    const subsets = env.spec.subsets.map((subset) => ({ ...subset, replicas: 2 }));
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: { subsets } } });
    const clone = { name: `cart-${version}`, namespace };
    await until(async () => (await client.get(Deployment, clone)).spec.replicas === 2, 60_000);
    await client.delete(Deployment, clone);
    await until(() => client.get(Deployment, clone).then(({ metadata }) => metadata.generation === 1, isNotFound));
    // Its time is over: it is deleted by the controllers.
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: { ttl: { duration: '1s' } } } });
    await until(() => client.get(DynamicEnv, env.metadata).then(() => false, isNotFound), 60_000);
    await leaveOrphan(client, namespace);
    const { metrics } = plane.manager;
    await plane.stop();
    const requests = (await metrics.text()).split('\n').filter((line) => line.startsWith('rest_client_requests_total'));
    expect(requests.filter((line) => line.includes('code="403"'))).toEqual([]);
    expect(requests.some((line) => line.includes('code="201"'))).toBe(true);
  });
});

/** Leaves what an environment had that is gone, and waits until it is removed. */
async function leaveOrphan(client: Client, namespace: string): Promise<void> {
  const version = `${namespace.slice(0, 20)}-gone`;
  const labels = { app: 'cart', version, 'dynamic-env': 'true' };
  const { spec } = workload(namespace, 'cart').deployment;
  const orphan = { name: `cart-${version}`, namespace };
  const body = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...orphan, labels, annotations: { [WATCH_ANNOTATION]: `${namespace}/gone` } },
    spec: { ...spec, selector: { matchLabels: labels }, template: { ...spec.template, metadata: { labels } } },
  };
  const fieldManager = 'offshoot-environments';
  await client.patch(Deployment, orphan, { type: 'apply', body, force: true }, { fieldManager });
  await until(() => client.get(Deployment, orphan).then(() => false, isNotFound), 60_000);
}
