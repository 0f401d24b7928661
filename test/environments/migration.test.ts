// Environments that Riskified's operator made, found by ours: what it set by updates becomes ours, so that what is no
// longer wanted goes, what others added stays, and pods of a clone that is as it should be are left alone.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger, Manager } from '../../src/controller/index.ts';
import { environments } from '../../src/environments/index.ts';
import { Deployment, DestinationRule, Service, VirtualService } from '../../src/environments/objects.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeObject } from '../../src/kube/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';

/** How the API server calls that operator: by the name of its program. */
const THEIRS = { fieldManager: 'manager' };

describeClusters('coming from the other operator', (cluster) => {
  let client: Client;
  let manager: Manager;
  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    manager = new Manager({
      client,
      controllers: [environments({ drainMs: 0 })],
      logger: createLogger({ level: 'error' }),
    });
  });
  afterAll(() => manager.stop());

  test('its clone and rule become ours whole', { timeout: 60_000 }, async () => {
    const namespace = await cluster.namespace('migration');
    const version = `${namespace.slice(0, 20)}-feature`;
    const annotations = { 'riskified.com/dynamic-environment': `${namespace}/feature` };
    const istio = 'networking.istio.io/v1beta1';
    const labels = { app: 'cart', version: 'shared' };
    const cloneLabels = { ...labels, version, 'dynamic-env': 'true' };
    const deployment = (name: string, meta: object, podLabels: object, image: string, env: object[]): Deployment => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, ...meta },
      spec: {
        replicas: 1,
        selector: {
          matchLabels: { app: (podLabels as typeof labels).app, version: (podLabels as typeof labels).version },
        },
        template: {
          metadata: { labels: podLabels as typeof labels },
          spec: { containers: [{ name: 'cart', image, env: env as [] }] },
        },
      },
    });
    const rule = (name: string, meta: object, subset: string, more: object = {}): DestinationRule => ({
      apiVersion: istio,
      kind: 'DestinationRule',
      metadata: { name, namespace, ...meta },
      spec: { host: 'cart', subsets: [{ name: subset, labels: { version: subset } }], ...more },
    });
    const clone = `cart-${version}`;
    await client.create(
      Deployment,
      deployment('cart', { labels: { app: 'cart' } }, labels, 'cart:1', [{ name: 'A', value: 'a' }]),
    );
    await client.create(Service, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace },
      spec: { selector: { app: 'cart' }, ports: [{ port: 80 }] },
    });
    await client.create(DestinationRule, rule('cart', {}, 'shared'));
    await client.create(VirtualService, {
      apiVersion: istio,
      kind: 'VirtualService',
      metadata: { name: 'cart', namespace, annotations },
      spec: {
        hosts: ['cart'],
        http: [
          {
            name: `dynamic-environment-${version}-cart-0123456789`,
            match: [{ headers: { 'end-user': { exact: 'alice' } } }],
            route: [{ destination: { host: 'cart', subset: version } }],
          },
          { route: [{ destination: { host: 'cart', subset: 'shared' } }] },
        ],
      },
    });
    // Made from a base that had another variable then, and label and policy that nobody wants any more.
    const old = { annotations, labels: { ...cloneLabels, app: 'cart', old: 'yes' } };
    const variables = [
      { name: 'A', value: 'a' },
      { name: 'OLD', value: 'old' },
    ];
    await client.create(Deployment, deployment(clone, old, cloneLabels, 'cart:2', variables), THEIRS);
    const policy = { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } };
    await client.create(
      DestinationRule,
      rule(`${clone}-cart`, { annotations, labels: { version, old: 'yes' } }, version, policy),
      THEIRS,
    );
    for (const kind of [Deployment, DestinationRule] as const) {
      const name = kind === Deployment ? clone : `${clone}-cart`;
      const body = { metadata: { labels: { theirs: 'stays' } } };
      await client.patch<KubeObject>(
        kind,
        { name, namespace },
        { type: 'merge', body },
        { fieldManager: 'kubectl-label' },
      );
    }
    // Just as it should be.
    const [bare, marks] = [{ app: 'worker' }, { version, 'dynamic-env': 'true' }];
    const worker = deployment('worker', { labels: bare }, { ...bare, version: 'shared' }, 'worker:1', []);
    await client.create(Deployment, worker);
    const twin = { annotations, labels: { ...bare, ...marks } };
    const workerClone = deployment(`worker-${version}`, twin, { ...bare, ...marks }, 'worker:2', []);
    await client.create(Deployment, workerClone, THEIRS);
    await client.create(DynamicEnv, {
      apiVersion: 'riskified.com/v1alpha1',
      kind: 'DynamicEnv',
      metadata: {
        name: 'feature',
        namespace,
        finalizers: ['DeleteDeployments', 'DeleteDestinationRules', 'CleanupVirtualServices'],
      },
      spec: {
        istioMatches: [{ headers: { 'end-user': { exact: 'alice' } } }],
        subsets: [{ name: 'cart', namespace, containers: [{ containerName: 'cart', image: 'cart:2' }] }],
        consumers: [{ name: 'worker', namespace, containers: [{ containerName: 'cart', image: 'worker:2' }] }],
      },
    });

    await manager.start();
    const env = { name: 'feature', namespace };
    await until(async () => (await client.get(DynamicEnv, env)).status?.state === 'ready');
    await settled(manager);

    const after = await client.get(Deployment, { name: clone, namespace });
    expect(after.metadata.labels).toEqual({ app: 'cart', version, 'dynamic-env': 'true', theirs: 'stays' });
    expect(after.spec.template.spec?.containers?.[0]?.env).toEqual([{ name: 'A', value: 'a' }]);
    // No pod of it was replaced.
    expect((await client.get(Deployment, workerClone.metadata)).metadata.generation).toBe(1);
    const ruleAfter = await client.get(DestinationRule, { name: `${clone}-cart`, namespace });
    expect(ruleAfter.metadata.labels).toEqual({ version, theirs: 'stays' });
    expect(ruleAfter.spec).toEqual(rule('', {}, version).spec);
    for (const { metadata } of [after, ruleAfter]) {
      expect(metadata.managedFields?.map((each) => each.manager)).not.toContain(THEIRS.fieldManager);
    }
    const { metadata } = await client.get(DynamicEnv, env);
    await client.delete(DynamicEnv, metadata);
    await until(async () => (await client.list(Deployment, { namespace })).items.length === 2);
  });
});
