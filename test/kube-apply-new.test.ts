// An object that the tables do not hold yet may exist, on every cluster: it is not overwritten.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../src/kube/client/client.ts';
import { defineKind } from '../src/kube/objects.ts';
import type { AnyObject } from '../src/kube/objects.ts';
import { Tables } from '../src/kube/tables/tables.ts';
import { Applier, PlanOutdated } from '../src/kube/write/apply.ts';
import { own } from '../src/kube/write/steps.ts';
import { describeClusters } from './cluster/index.ts';
import { ConfigMap, CustomResourceDefinition } from './support/core-kinds.ts';
import { until } from './support/until.ts';

const Note = defineKind('applynew.test.dev/v1', 'Note', 'notes');

describeClusters('an apply of an object that no table holds', (cluster) => {
  let client: Client;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('applynew');
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await client.create(CustomResourceDefinition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'notes.applynew.test.dev' },
      spec: {
        group: Note.group,
        scope: 'Namespaced',
        names: { kind: Note.kind, plural: Note.plural },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    const isServed = () =>
      client.list(Note, { namespace }).then(
        () => true,
        () => false,
      );
    await until(isServed, 20_000);
  });

  afterAll(() => client.delete(CustomResourceDefinition, { name: 'notes.applynew.test.dev' }));

  /** Tables that have observed nothing since the start, and a writer that uses them. */
  function unaware(): { tables: Tables; applier: Applier } {
    const tables = new Tables([ConfigMap, Note]);
    return { tables, applier: new Applier({ client, tables, manager: 'offshoot-test' }) };
  }

  function object(kind: string, name: string, value: string): AnyObject {
    const apiVersion = kind === 'Note' ? 'applynew.test.dev/v1' : 'v1';
    return { apiVersion, kind, metadata: { name, namespace }, data: { value } };
  }

  test.each([
    ['ConfigMap', ConfigMap],
    ['Note', Note],
  ] as const)('creates a %s, and changes it later', async (name, kind) => {
    const { applier } = unaware();
    const first = await applier.apply([own<AnyObject>(kind, object(name, 'ours', '1'))]);
    expect(first).toMatchObject([{ did: 'created', object: { data: { value: '1' } } }]);
    const second = await applier.apply([own<AnyObject>(kind, object(name, 'ours', '2'))]);
    expect(second).toMatchObject([{ did: 'changed', object: { data: { value: '2' } } }]);
  });

  test.each([
    ['ConfigMap', ConfigMap],
    ['Note', Note],
  ] as const)("does not change somebody else's %s, and puts it into the table", async (name, kind) => {
    const theirs = await client.create(kind, object(name, 'theirs', 'kept'));
    const { tables, applier } = unaware();
    const apply = applier.apply([own<AnyObject>(kind, object(name, 'theirs', 'ours'))]);
    await expect(apply).rejects.toThrow(PlanOutdated);
    expect(await client.get(kind, theirs.metadata)).toEqual(theirs);
    expect(tables.of(kind).get(`${namespace}/theirs`)?.metadata.uid).toBe(theirs.metadata.uid);
  });
});
