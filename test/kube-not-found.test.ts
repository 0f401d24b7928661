// What a 404 means, on every cluster: a missing object, kind or subresource.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Applier, PlanOutdated, StepFailed } from '../src/kube/write/apply.ts';
import type { Client } from '../src/kube/client/client.ts';
import { systemClock } from '../src/kube/clock.ts';
import { isNotFound } from '../src/kube/errors.ts';
import { defineKind } from '../src/kube/objects.ts';
import type { AnyObject } from '../src/kube/objects.ts';
import { edit, editStatus, remove } from '../src/kube/write/steps.ts';
import { Tables } from '../src/kube/tables/tables.ts';
import { describeClusters } from './cluster/index.ts';
import { CustomResourceDefinition } from './support/core-kinds.ts';
import { until } from './support/until.ts';

const Paper = defineKind('notfound.test.dev/v1', 'Paper', 'papers');
const Unknown = defineKind('unknown.test.dev/v1', 'Unknown', 'unknowns');
const name = 'papers.notfound.test.dev';

describeClusters('a 404', (cluster) => {
  let client: Client;
  let namespace: string;
  const tables = new Tables([Paper, Unknown]);
  const end = new AbortController();
  let running: Promise<void>;
  let applier: Applier;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('notfound');
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await client.create(CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: Paper.group,
        scope: 'Namespaced',
        names: { kind: Paper.kind, plural: Paper.plural },
        // There is no status subresource.
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    await until(
      () =>
        client.list(Paper, { namespace }).then(
          () => true,
          () => false,
        ),
      20_000,
    );
    running = tables.run({ client, clock: systemClock, signal: end.signal });
    await tables.whenSynced();
    applier = new Applier({ client, tables, manager: 'offshoot-test' });
  });

  afterAll(async () => {
    end.abort();
    await running;
    await client.delete(CustomResourceDefinition, { name }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  });

  async function paper(of: string): Promise<AnyObject> {
    const metadata = { namespace, name: of };
    const made = await client.create(Paper, { apiVersion: 'notfound.test.dev/v1', kind: 'Paper', metadata });
    await until(() => tables.of(Paper).get(`${namespace}/${of}`) !== undefined);
    return made;
  }

  test('for a subresource fails the write, and keeps the object in its table', async () => {
    const object = await paper('alive');
    await expect(applier.apply([editStatus(Paper, object, { seen: 1 })])).rejects.toThrow(StepFailed);
    expect(tables.of(Paper).get(`${namespace}/alive`)).toMatchObject({ metadata: { uid: object.metadata.uid } });
  });

  test('for a deleted object removes it from its table', async () => {
    const object = await paper('gone');
    await client.delete(Paper, object.metadata);
    const labelled = { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } };
    await expect(applier.apply([edit(Paper, object, labelled)])).rejects.toThrow(PlanOutdated);
    expect(tables.of(Paper).get(`${namespace}/gone`)).toBeUndefined();
    expect(await applier.apply([remove(Paper, object)])).toMatchObject([{ did: 'nothing' }]);
  });

  test('for a kind empties its table, at the start or when its definition is deleted', async () => {
    const { served, synced, size } = tables.of(Unknown);
    expect({ served, synced, size }).toEqual({ served: false, synced: true, size: 0 });
    await client.delete(CustomResourceDefinition, { name });
    await until(() => !tables.of(Paper).served && tables.of(Paper).size === 0, 60_000);
    expect(tables.of(Paper).synced).toBe(true);
  });
});
