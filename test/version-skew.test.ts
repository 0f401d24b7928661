// Controllers and definitions of different versions, as in every upgrade and rollback: fields that the older side does
// not know must not be written in a loop, and stored fields must not be lost.
import { afterEach, expect, test } from 'vitest';
import { DynamicEnv, dynamicEnv } from '../src/api/dynamicenv.ts';
import type { Manager } from '../src/controller/index.ts';
import { createLogger } from '../src/controller/index.ts';
import { Deployment } from '../src/environments/index.ts';
import { keyOf } from '../src/kube/index.ts';
import type { AnyObject, Ref } from '../src/kube/index.ts';
import { describeOwnClusters } from './cluster/index.ts';
import { installIstioKinds } from './environments/install.ts';
import { makeWorkload } from './environments/workload.ts';
import { install } from './scenarios/install.ts';
import { CustomResourceDefinition } from './support/core-kinds.ts';
import { settled, until } from './support/until.ts';
import { environmentsManager } from './environments/manager.ts';

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
}

/** The definition of environments as in the original operator, the oldest version that users upgrade from. */
function olderDefinition(): AnyObject {
  const crd = structuredClone(dynamicEnv.crd) as AnyObject & {
    spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
  };
  const { spec, status } = crd.spec.versions[0]!.schema.openAPIV3Schema.properties!;
  for (const field of ['key', 'ttl', 'paused', 'routing']) delete spec!.properties![field];
  spec!.required = ['istioMatches', 'subsets'];
  delete (spec as { 'x-kubernetes-validations'?: unknown })['x-kubernetes-validations'];
  for (const field of ['conditions', 'observedGeneration']) delete status!.properties![field];
  delete status!.properties!['subsetsStatus']!.additionalProperties!.properties!['unreached'];
  return crd;
}

describeOwnClusters('version skew', (cluster) => {
  let manager: Manager | undefined;
  let writes = 0;
  afterEach(() => manager?.stop());

  async function start(): Promise<Manager> {
    manager = environmentsManager({
      client: cluster.client(),
      logger: createLogger({ level: 'silent' }),
      onWrite: () => writes++,
    });
    await manager.start();
    return manager;
  }

  /** Resolves when the controllers have seen all Deployments available: afterwards nothing changes by itself. */
  async function rolledOut({ tables }: Manager, namespace: string): Promise<void> {
    await until(async () => {
      const { items } = await cluster.client().list(Deployment, { namespace });
      const seen = (ref: Ref): string | undefined => tables.of(Deployment).get(keyOf(ref))?.metadata.resourceVersion;
      return items.every(
        ({ metadata, spec, status }) =>
          status?.['availableReplicas'] === (spec.replicas ?? 1) && seen(metadata) === metadata.resourceVersion,
      );
    });
  }

  test(
    'controllers that are newer than the definition become idle, and the upgrade keeps what is stored',
    { timeout: 120_000 },
    async () => {
      const client = cluster.client();
      await installIstioKinds(client);
      await install(client, [olderDefinition()]);
      const namespace = await cluster.namespace('skew');
      await makeWorkload(client, namespace, 'cart');
      const metadata = { name: 'old', namespace };
      const spec = {
        istioMatches: [{ headers: { 'x-env': { exact: 'old' } } }],
        subsets: [{ name: 'cart', namespace, containers: [{ containerName: 'cart', image: 'cart:2' }] }],
      };
      await client.create(DynamicEnv, { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata, spec });
      const controllers = await start();
      const found = async (): Promise<DynamicEnv> => client.get(DynamicEnv, metadata);
      await until(async () => (await found()).status?.state === 'ready', 60_000, found);
      expect((await found()).status).not.toHaveProperty('conditions');
      await rolledOut(controllers, namespace);
      await settled(controllers);
      // The server drops unknown fields: this causes one write per reconcile, but no loop.
      const before = writes;
      for (const label of ['a', 'b', 'c']) {
        await client.patch(DynamicEnv, metadata, { type: 'merge', body: { metadata: { labels: { label } } } });
        await settled(controllers);
      }
      expect(writes - before).toBeLessThanOrEqual(3);

      await client.patch(CustomResourceDefinition, dynamicEnv.crd.metadata, {
        type: 'merge',
        body: { spec: dynamicEnv.crd['spec'] },
      });
      await until(
        async () => {
          const patch = { type: 'merge', body: { metadata: { labels: { label: 'upgraded' } } } } as const;
          await client.patch(DynamicEnv, metadata, patch);
          return ((await found()).status?.conditions ?? []).some(
            ({ type, status }) => type === 'Ready' && status === 'True',
          );
        },
        60_000,
        found,
      );
      expect((await found()).spec).toMatchObject(spec);
    },
  );

  test(
    'controllers that are older than the definition keep fields that they do not know',
    { timeout: 120_000 },
    async () => {
      const client = cluster.client();
      const newer = structuredClone(dynamicEnv.crd) as AnyObject & {
        spec: { versions: { schema: { openAPIV3Schema: Schema } }[] };
      };
      const text = { type: 'string' } as Schema;
      const { spec: specSchema } = newer.spec.versions[0]!.schema.openAPIV3Schema.properties!;
      specSchema!.properties!['fromTheFuture'] = text;
      await installIstioKinds(client);
      await install(client, [newer]);
      const namespace = await cluster.namespace('skew');
      await makeWorkload(client, namespace, 'cart');
      const metadata = { name: 'new', namespace };
      const subsets = [{ name: 'cart', namespace, containers: [{ containerName: 'cart', image: 'cart:2' }] }];
      const spec = { key: 'new', subsets, fromTheFuture: 'kept' };
      await client.create(DynamicEnv, { apiVersion: 'riskified.com/v1alpha1', kind: 'DynamicEnv', metadata, spec });
      const controllers = await start();
      const found = async (): Promise<DynamicEnv> => client.get(DynamicEnv, metadata);
      await until(async () => (await found()).status?.state === 'ready', 60_000, found);
      await settled(controllers);
      expect((await found()).spec).toMatchObject(spec);
    },
  );
});
