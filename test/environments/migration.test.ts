// Migration from Riskified's operator: fields that it set by updates become ours, so that what is no longer needed is
// removed, what others added is kept, and pods of an unchanged clone are not restarted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DynamicEnv } from '../../src/api/dynamicenv.ts';
import type { Manager } from '../../src/controller/index.ts';
import { WATCH_ANNOTATION } from '../../src/environments/identity/ownership.ts';
import { FINALIZERS, uniqueVersion } from '../../src/environments/names.ts';
import { Deployment } from '../../src/environments/objects.ts';
import { DestinationRule, VirtualService } from '../../src/traffic/istio/objects.ts';
import type { Labels } from '../../src/environments/objects.ts';
import type { Client } from '../../src/kube/client/client.ts';
import type { AnyKind, KubeObject } from '../../src/kube/objects.ts';
import { describeClusters } from '../cluster/index.ts';
import { settled, until } from '../support/until.ts';
import { installKinds } from './install.ts';
import { environment, isIn, makeWorkload, workload } from './workload.ts';
import { environmentsManager } from './manager.ts';

/** The field manager of that operator: the name of its binary. */
const THEIRS = { fieldManager: 'manager' };

describeClusters('a migration from the original operator', (cluster) => {
  let client: Client;
  let manager: Manager;
  beforeAll(async () => {
    client = cluster.client();
    await installKinds(client);
    manager = environmentsManager({ client });
  });
  afterAll(() => manager.stop());

  /** A clone as that operator makes it, with labels and variables that its base had then. */
  function clone(env: DynamicEnv, name: string, labels: Labels = {}, variables: readonly string[] = []): Deployment {
    const { deployment } = workload(env.metadata.namespace!, name);
    const version = uniqueVersion(env.metadata);
    const markers = { version, 'dynamic-env': 'true' };
    const container = { name, image: `${name}:2`, env: variables.map((each) => ({ name: each, value: 'old' })) };
    return {
      ...deployment,
      metadata: {
        name: `${name}-${version}`,
        namespace: env.metadata.namespace!,
        labels: { app: name, ...markers, ...labels },
        annotations: { [WATCH_ANNOTATION]: `${env.metadata.namespace}/${env.metadata.name}` },
      },
      spec: {
        ...deployment.spec,
        selector: { matchLabels: { app: name, version } },
        template: { metadata: { labels: { app: name, ...markers } }, spec: { containers: [container] } },
      },
    };
  }

  /** Its rule, with a policy that the base no longer has. */
  function rule({ metadata: { name, namespace, annotations, labels } }: Deployment): DestinationRule {
    const version = labels!['version']!;
    return {
      apiVersion: 'networking.istio.io/v1beta1',
      kind: 'DestinationRule',
      metadata: {
        name: `${name}-cart`,
        namespace: namespace!,
        annotations: annotations!,
        labels: { version, old: 'yes' },
      },
      spec: {
        host: 'cart',
        subsets: [{ name: version, labels: { version } }],
        trafficPolicy: { loadBalancer: { simple: 'RANDOM' } },
      },
    };
  }

  async function label(kind: AnyKind, { metadata }: KubeObject): Promise<void> {
    const patch = { type: 'merge', body: { metadata: { labels: { theirs: 'stays' } } } } as const;
    await client.patch<KubeObject>(kind, metadata, patch, { fieldManager: 'kubectl-label' });
  }

  test('takes over its clones and rules as a whole', { timeout: 60_000 }, async () => {
    const namespace = await cluster.namespace('migration');
    const workloads = ['cart', 'worker'].map((name) => ({ name, namespace }));
    for (const { name } of workloads) await makeWorkload(client, namespace, name);
    const made = environment(namespace, 'feature', workloads);
    const env = { ...made, metadata: { ...made.metadata, finalizers: [...FINALIZERS] } };
    const old = clone(env, 'cart', { old: 'yes' }, ['OLD']);
    const good = clone(env, 'worker');
    await client.create(Deployment, old, THEIRS);
    await client.create(Deployment, good, THEIRS);
    await client.create(DestinationRule, rule(old), THEIRS);
    await label(Deployment, old);
    await label(DestinationRule, rule(old));
    const { version } = old.metadata.labels as { version: string };
    const route = {
      name: `dynamic-environment-${version}-cart-0123456789`,
      match: [{ headers: { 'end-user': { exact: 'alice' } } }],
      route: [{ destination: { host: 'cart', subset: version } }],
    };
    const http = [route, ...workload(namespace, 'cart').routes.spec!.http!];
    await client.patch(VirtualService, workloads[0]!, { type: 'merge', body: { spec: { http } } }, THEIRS);
    await client.create(DynamicEnv, env);

    await manager.start();
    await until(() => isIn(client, env.metadata, 'ready'), 30_000);
    await settled(manager);

    const cloneAfter = await client.get(Deployment, old.metadata);
    expect(cloneAfter.metadata.labels).toEqual({ app: 'cart', version, 'dynamic-env': 'true', theirs: 'stays' });
    expect(cloneAfter.spec.template.spec?.containers?.[0]?.env).toBeUndefined();
    const ruleAfter = await client.get(DestinationRule, rule(old).metadata);
    expect(ruleAfter.metadata.labels).toEqual({ version, theirs: 'stays' });
    expect(ruleAfter.spec).toEqual({ host: 'cart', subsets: [{ name: version, labels: { version } }] });
    for (const { metadata } of [cloneAfter, ruleAfter]) {
      expect(metadata.managedFields?.map((entry) => entry.manager)).not.toContain(THEIRS.fieldManager);
    }
    const { spec } = await client.get(VirtualService, workloads[0]!);
    expect(spec?.http?.map(({ name }) => name === route.name)).toEqual([false, false]);
    // No pod of the unchanged clone has been replaced.
    expect((await client.get(Deployment, good.metadata)).metadata.generation).toBe(1);

    await client.delete(DynamicEnv, env.metadata);
    await until(async () => (await client.list(Deployment, { namespace })).items.length === workloads.length, 30_000);
  });
});
