// The controllers work with the permissions of deploy/environments-rbac.yaml alone: no request is forbidden.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { ControlPlane } from '../../src/cli/run/control-plane.ts';
import { istioDefinitions } from '../../src/embedded/crd/bundled/istio.ts';
import { WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import { Deployment } from '../../src/environments/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { isNotFound } from '../../src/kube/errors.ts';
import type { AnyObject } from '../../src/kube/objects.ts';
import { DestinationRule } from '../../src/traffic/istio/objects.ts';
import { describeOwnClusters } from '../cluster/index.ts';
import { install } from '../scenarios/install.ts';
import { until } from '../support/until.ts';
import { testUsedPermissions } from '../support/used-permissions.ts';
import { installPermissions, spoilCertificate, startWithPermissions } from '../support/with-permissions.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';

// On clusters of their own: elsewhere a namespace may be being deleted, and writes to it are forbidden.
describeOwnClusters('the permissions of the manifest', (cluster) => {
  let client: Client;
  let plane: ControlPlane | undefined;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    await installPermissions(cluster, 'environments');
    namespace = await cluster.namespace('permissions');
  });

  afterAll(async () => {
    await plane?.stop();
  });

  test('are enough to create, take over, change and expire an environment', { timeout: 120_000 }, async () => {
    await makeWorkload(client, namespace, 'cart');
    const env = environment(namespace, 'feature', [{ name: 'cart', namespace }]);
    // A clone and a rule of another operator: taking them over needs more permissions than creating them.
    const { deployment, rule } = workload(namespace, 'cart');
    const version = `${namespace.slice(0, 20)}-feature`;
    const labels = { app: 'cart', version };
    const annotations = { [WATCH_ANNOTATION]: `${namespace}/feature` };
    const subset = { name: version, labels: { version } };
    await client.create(
      DestinationRule,
      {
        ...rule,
        metadata: { name: `cart-${version}-cart`, namespace, annotations },
        spec: { ...rule.spec!, subsets: [subset] },
      },
      { fieldManager: 'manager' },
    );
    await client.create(
      Deployment,
      {
        ...deployment,
        metadata: { name: `cart-${version}`, namespace, annotations },
        spec: {
          ...deployment.spec,
          selector: { matchLabels: labels },
          template: { ...deployment.spec.template, metadata: { labels } },
        },
      },
      { fieldManager: 'manager' },
    );
    const started = await startWithPermissions(cluster, 'environments', {
      settings: { drainMs: 0, settleMs: 0, orphanSweepMs: 50, orphanGraceMs: 0 },
      webhook: { port: 0, reach: 'loopback' },
    });
    ({ plane } = started);
    await client.create(DynamicEnv, env);
    await until(() => isIn(client, env.metadata, 'ready'), 60_000);
    await installLateKinds(client, started.plane);
    // The webhook checks whether the user may read the Secret.
    const variable = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token', optional: true } } };
    const containers = [{ containerName: 'cart', image: 'cart:3', env: [variable] }];
    const subsets = env.spec.subsets.map((each) => ({ ...each, replicas: 2, containers }));
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: { subsets } } });
    const clone = { name: `cart-${version}`, namespace };
    await until(async () => (await client.get(Deployment, clone)).spec.replicas === 2, 60_000);
    await client.delete(Deployment, clone);
    await until(() => client.get(Deployment, clone).then(({ metadata }) => metadata.generation === 1, isNotFound));
    // The environment expires: the controllers delete it.
    await client.patch(DynamicEnv, env.metadata, { type: 'merge', body: { spec: { ttl: { duration: '1s' } } } });
    await until(() => client.get(DynamicEnv, env.metadata).then(() => false, isNotFound), 60_000);
    await leaveOrphan(client, namespace);
    await spoilCertificate(client);
    expect(started.refused).toEqual([]);
  });

  testUsedPermissions(cluster, 'environments', 'permissions');
});

/** Installs optional kinds of Istio; resolves when the controllers have noticed them. */
async function installLateKinds(client: Client, { manager }: ControlPlane): Promise<void> {
  const plurals = ['gateways', 'serviceentries', 'sidecars'];
  const definitions = istioDefinitions();
  await install(
    client,
    plurals.map((plural) => definitions[`${plural}.networking.istio.io`] as AnyObject),
  );
  const late = [...manager.tables].filter(({ kind }) => plurals.includes(kind.plural));
  expect(late.map(({ kind }) => kind.plural).toSorted()).toEqual(plurals);
  await until(() => late.every(({ served }) => served), 60_000);
}

/** Creates an orphan, and waits until it is removed. */
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
