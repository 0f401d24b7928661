import { afterEach, describe, expect, test } from 'vitest';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { ApiError } from '../errors.ts';
import { defineKind } from '../objects.ts';
import type { Kind, KubeObject } from '../objects.ts';
import { defineTable, Tables } from './tables.ts';

interface Thing extends KubeObject {
  readonly spec?: { readonly size: number };
}
const Thing = defineKind<Thing>('test.dev/v1', 'Thing', 'things');
const Definition = defineKind<KubeObject>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  { namespaced: false },
);

const thing = (name: string, size = 1, labels: Record<string, string> = {}): Thing => ({
  apiVersion: 'test.dev/v1',
  kind: 'Thing',
  metadata: { name, namespace: 'n', uid: `uid-${name}`, resourceVersion: '1', labels },
  spec: { size },
});

const byName = ({ metadata }: KubeObject): readonly string[] => [metadata.name];

describe('a kind', () => {
  test('has one table for all readers of the same objects, with the indexes of all of them, also of later ones', () => {
    const tables = new Tables([defineTable(Thing, { indexes: { a: byName } })]);
    tables.of(Thing).observe(thing('x'));
    const later = tables.of(defineTable(Thing, { indexes: { a: byName, b: byName } }));
    expect(later).toBe(tables.of(Thing));
    expect([...tables]).toHaveLength(1);
    expect(['a', 'b'].map((index) => later.index(index, 'x').length)).toEqual([1, 1]);
    later.observe(thing('y'));
    expect(tables.of(Thing).index('b', 'y')).toHaveLength(1);
  });

  test('rejects two different indexes of one name', () => {
    const tables = new Tables([defineTable(Thing, { indexes: { a: byName } })]);
    expect(() => tables.of(defineTable(Thing, { indexes: { a: () => [] } }))).toThrow(
      'watchable map "things" has an index "a" that indexes differently',
    );
  });

  test.each([
    ['namespace', { namespace: 'n' }],
    ['label selector', { labelSelector: 'on=yes' }],
    ['field selector', { fieldSelector: 'metadata.name=x' }],
    ['transform', { transform: (object: Thing) => ({ ...object, spec: { size: 0 } }) }],
    ['metadataOnly', { metadataOnly: true }],
    ['optional', { optional: true }],
  ])('has a separate table for a different option: %s', (_what, options) => {
    const tables = new Tables([Thing]);
    const other = defineTable(Thing, options);
    expect(tables.of(other)).not.toBe(tables.of(Thing));
    expect(tables.of(other)).toBe(tables.of(defineTable(Thing, options)));
    expect(tables.holding(Thing)).toEqual([tables.of(Thing), tables.of(other)]);
  });

  test('is visible to each reader in the form that it asked for', () => {
    const Large = defineTable(Thing, { transform: (object) => ({ ...object, spec: { size: 100 } }) });
    const Meta = defineTable(Thing, { metadataOnly: true });
    const tables = new Tables([Thing, Large, Meta]);
    for (const table of tables.holding(Thing)) table.observe(thing('x', 7));
    const sizes = [Thing, Large, Meta].map((kind: Kind<Thing>) => tables.of(kind).get('n/x')?.spec?.size);
    expect(sizes).toEqual([7, 100, undefined]);
    expect(tables.of(Meta).get('n/x')).toMatchObject({ apiVersion: 'test.dev/v1', kind: 'Thing' });
  });
});

describe('Tables', () => {
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  afterEach(async () => {
    ending.abort();
    await running;
  });

  /** Tables that run on a server that knows no things until `isInstalled`. */
  function run({ isInstalled = true, namespaces }: { isInstalled?: boolean; namespaces?: readonly string[] } = {}) {
    const api = new FakeApi();
    const clock = new FakeClock();
    const tables = new Tables([], namespaces);
    const server = { isInstalled, refused: false, lists: [] as string[] };
    api.intercept = ({ verb, kind }) => {
      if (verb !== 'list') return;
      server.lists.push(kind);
      if (kind !== 'Thing') return;
      if (server.refused) throw new ApiError('no', { code: 403, reason: 'Forbidden' });
      if (!server.isInstalled) throw new ApiError('no such path', { code: 404, reason: 'NotFound' });
    };
    api.raw = () => Promise.resolve({ kind: 'APIGroupList', groups: [] } as never);
    ending = new AbortController();
    running = tables.run({ client: api, clock, signal: ending.signal });
    return { api, clock, tables, server };
  }

  test('start a table when it is first read', async () => {
    const { api, tables, server } = run();
    await api.create(Thing, thing('x'));
    await settle();
    expect(server.lists).toEqual([]);
    const table = tables.of(Thing);
    expect([tables.awaits(table), table.synced]).toEqual([true, false]);
    await table.whenSynced();
    expect([tables.awaits(table), [...table.keys()], server.lists]).toEqual([false, ['n/x'], ['Thing']]);
  });

  test('notice at once when the CRD of a kind is installed later', async () => {
    const { api, tables, server } = run({ isInstalled: false });
    const table = tables.of(Thing);
    await settle();
    await settle();
    expect([table.served, table.synced]).toEqual([false, true]);
    server.isInstalled = true;
    await api.create(Thing, thing('x'));
    await api.create(Definition, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.test.dev' },
    });
    // The clock stands still, so no retry happens by itself.
    await settle();
    await settle();
    expect([table.served, [...table.keys()]]).toEqual([true, ['n/x']]);
  });

  test('are empty for an optional kind that may not be read, and keep its objects if that happens later', async () => {
    const { api, clock, tables, server } = run();
    server.refused = true;
    const table = tables.of(defineTable(Thing, { optional: true }));
    await settle();
    expect([table.served, table.synced, table.size]).toEqual([false, true, 0]);
    server.refused = false;
    await api.create(Thing, thing('x'));
    await clock.advance(1_000);
    await settle();
    expect([table.served, table.size]).toEqual([true, 1]);
  });

  describe('limited to namespaces', () => {
    const inSpace = (namespace: string, name: string): Thing => {
      const { metadata, ...rest } = thing(name);
      return { ...rest, metadata: { ...metadata, namespace, uid: `uid-${namespace}-${name}` } };
    };

    test('list and watch each namespace separately, and see nothing else', async () => {
      const { api, tables } = run({ namespaces: ['a', 'b'] });
      const asked: (string | undefined)[] = [];
      const list = api.list.bind(api);
      api.list = (kind, options) => {
        asked.push(options?.namespace);
        return list(kind, options);
      };
      for (const namespace of ['a', 'b', 'c']) await api.create(Thing, inSpace(namespace, 'x'));
      const table = tables.of(Thing);
      await table.whenSynced();
      expect([asked, [...table.keys()]]).toEqual([
        ['a', 'b'],
        ['a/x', 'b/x'],
      ]);
      for (const namespace of ['a', 'b', 'c']) await api.create(Thing, inSpace(namespace, 'y'));
      await api.delete(Thing, { namespace: 'a', name: 'x' });
      await settle();
      expect([...table.keys()].toSorted()).toEqual(['a/y', 'b/x', 'b/y']);
      table.observe(inSpace('c', 'z'));
      expect(table.get('c/z')).toBeUndefined();
    });

    test('are synced when all namespaces have been listed', () => {
      const table = new Tables([], ['a', 'b']).of(Thing);
      table.beginList('a').complete('1');
      expect(table.synced).toBe(false);
      table.beginList('b').complete('2');
      expect([table.synced, table.served]).toEqual([true, true]);
    });

    test('do not apply the list of one namespace to another', () => {
      const table = new Tables([], ['a', 'b']).of(Thing);
      for (const namespace of ['a', 'b']) {
        const listing = table.beginList(namespace);
        listing.add([inSpace(namespace, 'x')]);
        listing.complete('5');
      }
      table.beginList('a').complete('9');
      expect([...table.keys()]).toEqual(['b/x']);
      // Older than the other list, but newer than its own.
      const changed = inSpace('b', 'x');
      table.event({
        type: 'MODIFIED',
        object: { ...changed, metadata: { ...changed.metadata, resourceVersion: '7' } },
      });
      expect(table.get('b/x')?.metadata.resourceVersion).toBe('7');
    });

    test('have an empty table for another namespace', async () => {
      const { api, tables, server } = run({ namespaces: ['a'] });
      await api.create(Thing, inSpace('c', 'x'));
      const table = tables.of(defineTable(Thing, { namespace: 'c' }));
      await table.whenSynced();
      expect([table.served, table.size, server.lists]).toEqual([false, 0, []]);
    });

    test('find a kind that is installed later without watching CRDs', async () => {
      const { api, clock, tables, server } = run({ isInstalled: false, namespaces: ['a', 'b'] });
      const table = tables.of(Thing);
      await settle();
      await settle();
      expect([table.served, table.synced]).toEqual([false, true]);
      server.isInstalled = true;
      await api.create(Thing, inSpace('b', 'x'));
      await clock.advance(60_000);
      await settle();
      expect([table.served, [...table.keys()], new Set(server.lists)]).toEqual([true, ['b/x'], new Set(['Thing'])]);
    });
  });
});
