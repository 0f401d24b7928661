// The client on every cluster: reads, writes and deletions.
import { beforeAll, describe, expect, test } from 'vitest';
import type { Client, Page } from '../src/kube/client/client.ts';
import { ApiError, isAlreadyExists, isConflict, isInvalid, isNotFound } from '../src/kube/errors.ts';
import { describeClusters } from './cluster/index.ts';
import { findObject } from './support/find-object.ts';
import { until } from './support/until.ts';
import { configMap, configMaps, installWidgets, ownedBy, widget, widgets } from './support/kinds.ts';
import type { ConfigMap } from './support/kinds.ts';

/** The error of a request that must fail. */
async function refusal(request: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error('expected the server to refuse', { cause: error });
}

describeClusters('client', (cluster) => {
  let client: Client;
  let namespace: string;

  beforeAll(async () => {
    client = cluster.client();
    namespace = await cluster.namespace('client');
    await installWidgets(client);
  });

  const isGone = async (name: string): Promise<boolean> =>
    (await findObject(client, configMaps, { namespace, name })) === undefined;

  describe('an object', () => {
    test('is created, read, replaced and deleted', async () => {
      const created = await client.create(configMaps, configMap(namespace, 'crud', { a: '1' }));
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      const ref = { namespace, name: 'crud' };
      expect((await client.get(configMaps, ref)).data).toEqual({ a: '1' });
      const updated = await client.update(configMaps, { ...created, data: { a: '2' } });
      expect(updated.data).toEqual({ a: '2' });
      expect(updated.metadata.resourceVersion).not.toBe(created.metadata.resourceVersion);
      expect(await client.delete(configMaps, ref)).toBeUndefined();
      expect(isNotFound(await refusal(client.get(configMaps, ref)))).toBe(true);
    });

    test('gets a name from generateName', async () => {
      const metadata = { generateName: 'gen-', namespace } as ConfigMap['metadata'];
      const { metadata: created } = await client.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      expect(created.name).toMatch(/^gen-[a-z0-9]+$/);
    });

    test('cannot be created twice, nor replaced from an old version', async () => {
      const first = await client.create(configMaps, configMap(namespace, 'twice'));
      const again = await refusal(client.create(configMaps, configMap(namespace, 'twice')));
      expect(isAlreadyExists(again)).toBe(true);
      await client.update(configMaps, { ...first, data: { a: '1' } });
      const stale = await refusal(client.update(configMaps, { ...first, data: { a: '2' } }));
      expect(isConflict(stale)).toBe(true);
      expect(stale.message).toContain('the object has been modified');
    });

    test('that violates its schema is rejected with the field', async () => {
      const error = await refusal(client.create(widgets, widget(namespace, 'bad', { size: -1 })));
      expect(isInvalid(error)).toBe(true);
      expect(error.details?.causes?.map((cause) => cause.field)).toEqual(['spec.size']);
    });

    test('with an unknown field is rejected in strict validation', async () => {
      const spec = { colour: 'red' } as object;
      const error = await refusal(
        client.create(widgets, widget(namespace, 'strict', spec), { fieldValidation: 'Strict' }),
      );
      expect(error.code).toBe(400);
      expect(error.message).toContain('unknown field "spec.colour"');
    });

    test('is not changed by a dry run', async () => {
      const dry = await client.create(configMaps, configMap(namespace, 'dry', { a: '1' }), { dryRun: true });
      expect(dry.metadata.uid).toBeDefined();
      expect(await isGone('dry')).toBe(true);
      await client.create(configMaps, configMap(namespace, 'dry', { a: '1' }));
      const ref = { namespace, name: 'dry' };
      const patched = await client.patch(
        configMaps,
        ref,
        { type: 'merge', body: { data: { a: '2' } } },
        { dryRun: true },
      );
      expect(patched.data).toEqual({ a: '2' });
      await client.delete(configMaps, ref, { dryRun: true });
      expect((await client.get(configMaps, ref)).data).toEqual({ a: '1' });
    });
  });

  describe('a patch', () => {
    test('can be of type json, merge or strategic', async () => {
      await client.create(configMaps, configMap(namespace, 'patch', { a: '1', b: '1' }));
      const ref = { namespace, name: 'patch' };
      const json = await client.patch(configMaps, ref, {
        type: 'json',
        body: [
          { op: 'test', path: '/data/a', value: '1' },
          { op: 'replace', path: '/data/a', value: '2' },
        ],
      });
      expect(json.data).toEqual({ a: '2', b: '1' });
      const merge = await client.patch(configMaps, ref, { type: 'merge', body: { data: { b: null, c: '3' } } });
      expect(merge.data).toEqual({ a: '2', c: '3' });
      const body = { metadata: { finalizers: ['test.offshoot.dev/one'] } };
      await client.patch(configMaps, ref, { type: 'strategic', body });
      const strategic = await client.patch(configMaps, ref, {
        type: 'strategic',
        body: { metadata: { finalizers: ['test.offshoot.dev/two'] } },
      });
      // A strategic merge patch adds to this list, a merge patch would replace it.
      expect(strategic.metadata.finalizers?.toSorted()).toEqual(['test.offshoot.dev/one', 'test.offshoot.dev/two']);
      await client.patch(configMaps, ref, { type: 'merge', body: { metadata: { finalizers: null } } });
    });

    test('of type json whose test fails changes nothing', async () => {
      await client.create(configMaps, configMap(namespace, 'json-test', { a: '1' }));
      const ref = { namespace, name: 'json-test' };
      const ops = [
        { op: 'replace', path: '/data/a', value: '2' },
        { op: 'test', path: '/data/a', value: 'x' },
      ];
      expect((await refusal(client.patch(configMaps, ref, { type: 'json', body: ops }))).code).toBe(422);
      expect((await client.get(configMaps, ref)).data).toEqual({ a: '1' });
    });

    test('by server-side apply creates an object, merges lists by key, and reports the manager in a conflict', async () => {
      const ref = { namespace, name: 'applied' };
      const apply = (manager: string, spec: object, force?: boolean): Promise<unknown> =>
        client.patch(
          widgets,
          ref,
          { type: 'apply', body: widget(namespace, 'applied', spec), ...(force ? { force } : {}) },
          { fieldManager: manager },
        );
      await apply('alice', { size: 1, parts: [{ name: 'a', count: 1 }] });
      await apply('bob', { parts: [{ name: 'b', count: 2 }] });
      const both = await client.get(widgets, ref);
      expect(both.spec.parts?.map((part) => part.name).toSorted()).toEqual(['a', 'b']);

      const conflict = await refusal(apply('bob', { size: 2, parts: [{ name: 'b', count: 2 }] }));
      expect(isConflict(conflict)).toBe(true);
      expect(conflict.details?.causes).toEqual([
        { reason: 'FieldManagerConflict', message: 'conflict with "alice"', field: '.spec.size' },
      ]);
      await apply('bob', { size: 2, parts: [{ name: 'b', count: 2 }] }, true);
      expect((await client.get(widgets, ref)).spec.size).toBe(2);
      await apply('bob', { size: 2 });
      expect((await client.get(widgets, ref)).spec.parts?.map((part) => part.name)).toEqual(['a']);
    });
  });

  describe('a deletion', () => {
    test('fails if its preconditions do not hold', async () => {
      const { metadata } = await client.create(configMaps, configMap(namespace, 'guarded'));
      const ref = { namespace, name: 'guarded' };
      const uid = '00000000-0000-0000-0000-000000000000';
      expect(isConflict(await refusal(client.delete(configMaps, ref, { preconditions: { uid } })))).toBe(true);
      await client.delete(configMaps, ref, {
        preconditions: { uid: metadata.uid!, resourceVersion: metadata.resourceVersion! },
      });
      expect(await isGone('guarded')).toBe(true);
    });

    test('waits for finalizers', async () => {
      const draft = configMap(namespace, 'held');
      await client.create(configMaps, {
        ...draft,
        metadata: { ...draft.metadata, finalizers: ['test.offshoot.dev/hold'] },
      });
      const ref = { namespace, name: 'held' };
      expect((await client.delete(configMaps, ref))?.metadata.deletionTimestamp).toBeDefined();
      expect(await isGone('held')).toBe(false);
      await client.patch(configMaps, ref, { type: 'merge', body: { metadata: { finalizers: null } } });
      expect(await isGone('held')).toBe(true);
    });

    /** Deletes an owner, waits until it is gone, and returns the name of its dependent. */
    const deleteOwner = async (propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<string> => {
      const prefix = propagationPolicy.toLowerCase();
      const owner = await client.create(configMaps, configMap(namespace, `${prefix}-owner`));
      const draft = configMap(namespace, `${prefix}-child`);
      await client.create(configMaps, { ...draft, metadata: { ...draft.metadata, ownerReferences: [ownedBy(owner)] } });
      await client.delete(configMaps, { namespace, name: `${prefix}-owner` }, { propagationPolicy });
      await until(() => isGone(`${prefix}-owner`));
      return `${prefix}-child`;
    };

    test('in the background deletes the dependents afterwards', async () => {
      const child = await deleteOwner('Background');
      await until(() => isGone(child));
      expect(await isGone(child)).toBe(true);
    });

    test('in the foreground deletes the dependents first', async () => {
      expect(await isGone(await deleteOwner('Foreground'))).toBe(true);
    });

    test('with policy Orphan keeps the dependents, without an owner', async () => {
      const child = await client.get(configMaps, { namespace, name: await deleteOwner('Orphan') });
      expect(child.metadata.ownerReferences).toBeUndefined();
    });
  });

  test('a list of 1,200 objects has pages of the same resource version', async () => {
    const crowd = await cluster.namespace('paging');
    const names = Array.from({ length: 1_200 }, (_, index) => `item-${String(index).padStart(4, '0')}`);
    for (let start = 0; start < names.length; start += 50) {
      await Promise.all(
        names.slice(start, start + 50).map((name) => client.create(configMaps, configMap(crowd, name))),
      );
    }
    // Controllers create a ConfigMap in every namespace.
    const mine = { namespace: crowd, limit: 500, fieldSelector: 'metadata.name!=kube-root-ca.crt' };
    const pages: Page<ConfigMap>[] = [await client.list(configMaps, mine)];
    await client.create(configMaps, configMap(crowd, 'too-late'));
    while (pages.at(-1)?.continue !== undefined) {
      pages.push(await client.list(configMaps, { ...mine, continue: pages.at(-1)!.continue! }));
    }
    expect(pages.map((page) => page.items.length)).toEqual([500, 500, 200]);
    expect(new Set(pages.map((page) => page.resourceVersion)).size).toBe(1);
    expect(pages.flatMap((page) => page.items.map((item) => item.metadata.name))).toEqual(names);
  });

  test('the status subresource changes only the status, and the main resource everything else', async () => {
    const created = await client.create(widgets, {
      ...widget(namespace, 'status', { size: 1 }),
      status: { phase: 'ignored' },
    });
    expect(created.status).toBeUndefined();
    const ref = { namespace, name: 'status' };
    const body = { spec: { size: 5 }, status: { phase: 'Ready' } };
    const patched = await client.patch(widgets, ref, { type: 'merge', body }, { subresource: 'status' });
    expect(patched).toMatchObject({ spec: { size: 1 }, status: { phase: 'Ready' }, metadata: { generation: 1 } });
    const updated = await client.update(widgets, { ...patched, spec: { size: 2 }, status: { phase: 'Lost' } });
    expect(updated).toMatchObject({ spec: { size: 2 }, status: { phase: 'Ready' }, metadata: { generation: 2 } });
  });

  test('integers beyond 2^53 are exact in writes, patches, lists and watches', async () => {
    const big = 9_007_199_254_740_993n;
    await client.create(widgets, widget(namespace, 'big', { big }));
    const ref = { namespace, name: 'big' };
    const patched = await client.patch(widgets, ref, { type: 'merge', body: { spec: { size: 1 } } });
    expect(patched.spec).toEqual({ big, size: 1 });
    const fieldSelector = 'metadata.name=big';
    const page = await client.list(widgets, { namespace, fieldSelector });
    expect(page.items.map((item) => item.spec.big)).toEqual([big]);
    const end = new AbortController();
    const seen: unknown[] = [];
    const watching = client.watch(
      widgets,
      { namespace, fieldSelector, sendInitialEvents: true, signal: end.signal },
      (event) => {
        if (event.type === 'ADDED') seen.push(event.object.spec.big);
        end.abort();
      },
    );
    await watching.catch(() => undefined);
    expect(seen).toEqual([big]);
  });
});
