import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineKind } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { byLabel } from '../kube/tables/object-index.ts';
import { defineTable, Tables } from '../kube/tables/tables.ts';
import { Reads } from './view.ts';
import type { View } from './view.ts';

const Thing = defineKind<KubeObject>('test.dev/v1', 'Thing', 'things');
const Other = defineKind<KubeObject>('test.dev/v1', 'Other', 'others');
const Global = defineKind<KubeObject>('test.dev/v1', 'Global', 'globals', { namespaced: false });

function world() {
  const tables = new Tables([defineTable(Thing, { indexes: { team: byLabel('team') } }), Other, Global]);
  const woken: string[] = [];
  const reads = new Reads({ tables, now: () => 42, wake: (reader) => woken.push(reader) });
  let version = 0;
  return {
    tables,
    reads,
    /** The readers woken since the last call. */
    woken: () => {
      reads.deliver();
      return [...new Set(woken.splice(0))].sort();
    },
    put(kind: typeof Thing, key: string, labels: Record<string, string> = {}) {
      const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
      tables.of(kind).event({
        type: 'ADDED',
        object: {
          apiVersion: 'test.dev/v1',
          kind: kind.kind,
          metadata: { name: name, namespace, uid: `uid-${key}`, resourceVersion: String(++version), labels },
        },
      });
    },
    drop(kind: typeof Thing, key: string) {
      const object = tables.of(kind).get(key)!;
      const metadata = { ...object.metadata, resourceVersion: String(++version) };
      tables.of(kind).event({ type: 'DELETED', object: { ...object, metadata } });
    },
  };
}

describe('a reader', () => {
  const cases: [string, (view: View) => unknown, (w: ReturnType<typeof world>) => void][] = [
    ['the object that it read changes', (v) => v.get(Thing, { namespace: 'a', name: 'x' }), (w) => w.put(Thing, 'a/x')],
    ['a cluster-scoped object changes', (v) => v.get(Global, { name: 'g' }), (w) => w.put(Global, 'g')],
    ['an object is added to a list', (v) => v.list(Thing), (w) => w.put(Thing, 'a/x')],
    ['an object is added to a namespace', (v) => v.list(Thing, { namespace: 'a' }), (w) => w.put(Thing, 'a/x')],
    [
      'an object is added to a selection',
      (v) => v.list(Thing, { labels: 'tier=web' }),
      (w) => w.put(Thing, 'a/x', { tier: 'web' }),
    ],
    [
      'an object is added to an index',
      (v) => v.index(Thing, 'team', 'blue'),
      (w) => w.put(Thing, 'a/x', { team: 'blue' }),
    ],
  ];
  test.each(cases)('is woken when %s, although it found nothing', (_when, read, change) => {
    const w = world();
    w.reads.track('reader', read);
    change(w);
    expect(w.woken()).toEqual(['reader']);
  });

  test('is woken when an object leaves what was read', () => {
    const w = world();
    w.put(Thing, 'a/x', { team: 'blue', tier: 'web' });
    w.reads.track('index', (view) => view.index(Thing, 'team', 'blue'));
    w.reads.track('selection', (view) => view.list(Thing, { labels: 'tier=web' }));
    w.reads.track('list', (view) => view.list(Thing, { namespace: 'a' }));
    w.put(Thing, 'a/x', { team: 'red' });
    expect(w.woken()).toEqual(['index', 'list', 'selection']);
    w.drop(Thing, 'a/x');
    expect(w.woken()).toEqual(['list']);
  });

  test('is woken by a read before the plan threw', () => {
    const w = world();
    expect(() =>
      w.reads.track('reader', (view) => {
        view.get(Thing, { namespace: 'a', name: 'x' });
        throw new Error('bad');
      }),
    ).toThrow('bad');
    w.put(Thing, 'a/x');
    expect(w.woken()).toEqual(['reader']);
  });

  test('is woken when the kind is no longer served', () => {
    const w = world();
    w.reads.track('reader', (view) => expect(view.served(Thing)).toBe(true));
    w.tables.of(Thing).notServed();
    expect(w.woken()).toEqual(['reader']);
  });
});

describe('a reader is not woken', () => {
  test('by another object, namespace, selection, index entry or kind', () => {
    const w = world();
    w.reads.track('reader', (view) => {
      view.get(Thing, { namespace: 'a', name: 'x' });
      view.list(Thing, { namespace: 'b' });
      view.list(Thing, { labels: 'tier=web' });
      view.index(Thing, 'team', 'blue');
    });
    w.put(Thing, 'a/y', { tier: 'db', team: 'red' });
    w.put(Other, 'b/x', { tier: 'web', team: 'blue' });
    expect(w.woken()).toEqual([]);
  });

  test('by what an earlier plan read and the latest did not', () => {
    const w = world();
    w.reads.track('reader', (view) => view.get(Thing, { namespace: 'a', name: 'x' }));
    w.reads.track('reader', (view) => view.get(Thing, { namespace: 'a', name: 'y' }));
    w.put(Thing, 'a/x');
    expect(w.woken()).toEqual([]);
    w.reads.forget('reader');
    w.put(Thing, 'a/y');
    expect(w.woken()).toEqual([]);
  });

  test('by an event that repeats a known version', () => {
    const w = world();
    w.put(Thing, 'a/x');
    w.reads.track('reader', (view) => view.list(Thing));
    w.tables.of(Thing).event({ type: 'MODIFIED', object: w.tables.of(Thing).get('a/x')! });
    expect(w.woken()).toEqual([]);
  });
});

test('for any reads and changes, exactly the readers whose answers changed are woken', () => {
  const name = fc.constantFrom('a/x', 'a/y', 'b/x');
  const team = fc.constantFrom('blue', 'red');
  const read = fc.oneof(
    fc.record({ how: fc.constant('get' as const), key: name }),
    fc.record({ how: fc.constant('list' as const), namespace: fc.constantFrom(undefined, 'a', 'b') }),
    fc.record({ how: fc.constant('labels' as const), team }),
    fc.record({ how: fc.constant('index' as const), team }),
  );
  const change = fc.oneof(
    fc.record({ do: fc.constant('put' as const), key: name, team }),
    fc.record({ do: fc.constant('drop' as const), key: name }),
  );
  const answer = (
    view: View,
    r: typeof read extends fc.Arbitrary<infer R> ? R : never,
  ): readonly (KubeObject | undefined)[] => {
    switch (r.how) {
      case 'get': {
        const [namespace, name] = r.key.split('/');
        return [view.get(Thing, { namespace, name: name! })];
      }
      case 'list':
        return view.list(Thing, r.namespace === undefined ? {} : { namespace: r.namespace });
      case 'labels':
        return view.list(Thing, { labels: `team=${r.team}` });
      case 'index':
        return view.index(Thing, 'team', r.team);
    }
  };
  fc.assert(
    fc.property(
      fc.array(fc.array(read, { maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      fc.array(change, { maxLength: 12 }),
      (readers, changes) => {
        const w = world();
        const look = (reader: number): unknown =>
          w.reads.track(String(reader), (view) => readers[reader]!.map((r) => answer(view, r)));
        for (const c of changes) {
          const before = readers.map((_reads, reader) => look(reader));
          w.woken();
          if (c.do === 'put') w.put(Thing, c.key, { team: c.team });
          else if (w.tables.of(Thing).get(c.key)) w.drop(Thing, c.key);
          const woken = w.woken();
          const changed = readers
            .map((_reads, reader) => String(reader))
            .filter((reader) => !same(before[Number(reader)], look(Number(reader))));
          expect(woken).toEqual(changed);
        }
      },
    ),
  );
});

/** Equal answers contain the same objects by reference. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => same(each, b[i]));
  return a === b;
}

test('heldFor returns for how long plans have had a finding, and starts over when one has not', () => {
  let now = 0;
  const reads = new Reads({ tables: new Tables([Thing]), now: () => now, wake: () => {} });
  const found = (reader: string, ...findings: readonly string[]) => {
    now += 10;
    return reads.track(reader, (view) => findings.map((each) => view.heldFor(each)));
  };
  expect([found('a', 'x'), found('a', 'x', 'y'), found('a', 'x', 'y')]).toEqual([[0], [10, 0], [20, 10]]);
  expect([found('b', 'x'), found('a', 'y'), found('a', 'x')]).toEqual([[0], [30], [0]]);
  reads.forget('a');
  expect(found('a', 'x')).toEqual([0]);
});
