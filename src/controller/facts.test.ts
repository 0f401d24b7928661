import { expect, test } from 'vitest';
import { FakeApi } from '../../test/support/fake-api.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { byLabel } from '../kube/tables/object-index.ts';
import { defineKind, keyOf, refOf } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import { defineTable, Tables } from '../kube/tables/tables.ts';
import { derive, WatchableMap } from '../watchable/index.ts';
import { defineModel } from './facts.ts';
import { Reads } from './view.ts';
import type { View } from './view.ts';

const Thing = defineKind<KubeObject>('test.dev/v1', 'Thing', 'things');
const Owner = defineKind<KubeObject>('test.dev/v1', 'Owner', 'owners');

let computed = 0;

/** What each thing wants from the owner that its label names, if that exists. */
const wishes = defineModel((facts) =>
  derive(
    'wishes',
    (read, key: string) => {
      computed++;
      const view = facts(read);
      const thing = view.get(Thing, refOf(key));
      const owner = thing?.metadata.labels?.['owner'];
      if (thing === undefined || owner === undefined) return undefined;
      const isThere = view.get(Owner, { namespace: 'n', name: owner }) !== undefined;
      return { owner, wish: thing.metadata.labels?.['wish'], isThere };
    },
    { keys: (read) => facts(read).keys(Thing), indexes: { owner: ({ owner }) => [owner] } },
  ),
);

function attempt(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
}

function world() {
  const tables = new Tables([defineTable(Thing, { indexes: { owner: byLabel('owner') } }), Owner]);
  const woken: string[] = [];
  const reads = new Reads({ tables, now: () => 0, wake: (reader) => woken.push(reader) });
  let version = 0;
  return {
    tables,
    reads,
    put(kind: typeof Thing, name: string, labels: Record<string, string> = {}): void {
      const metadata = { name, namespace: 'n', uid: name, resourceVersion: String(++version), labels };
      tables.of(kind).observe({ apiVersion: 'test.dev/v1', kind: kind.kind, metadata });
    },
    woken(): string[] {
      reads.deliver();
      return woken.splice(0).sort();
    },
  };
}

test('a plan reads a model of the tables, and is woken when its result changes', () => {
  const w = world();
  w.put(Thing, 'a', { owner: 'x', wish: '1' });
  w.put(Thing, 'b', { owner: 'y', wish: '2' });
  const plan = (owner: string): unknown =>
    w.reads.track(owner, (view) => view.read.index(view.model(wishes), 'owner', owner));
  expect(plan('x')).toEqual([{ owner: 'x', wish: '1', isThere: false }]);
  expect(plan('y')).toEqual([{ owner: 'y', wish: '2', isThere: false }]);

  computed = 0;
  w.put(Owner, 'x');
  expect(w.woken()).toEqual(['x']);
  expect(computed).toBe(1);
  expect(plan('x')).toEqual([{ owner: 'x', wish: '1', isThere: true }]);

  w.put(Thing, 'a', { owner: 'x', wish: '1', note: 'of no concern' });
  expect(w.woken()).toEqual([]);
  w.put(Thing, 'b', { owner: 'x', wish: '2' });
  expect(w.woken()).toEqual(['x', 'y']);
  expect([plan('x'), plan('y')]).toMatchObject([[{ wish: '1' }, { wish: '2' }], []]);
});

test('a model is created once for each set of tables', () => {
  const [one, other] = [world(), world()];
  const modelOf = (w: typeof one, reader: string): unknown => w.reads.track(reader, (view) => view.model(wishes));
  expect(modelOf(one, 'a')).toBe(modelOf(one, 'b'));
  expect(modelOf(other, 'a')).not.toBe(modelOf(one, 'a'));
});

test('reading a table that is not synced throws NotSynced, also through a model', async () => {
  const api = new FakeApi();
  await api.create(Thing, {
    apiVersion: 'test.dev/v1',
    kind: 'Thing',
    metadata: { name: 'a', namespace: 'n', labels: { owner: 'x' } },
  });
  const ending = new AbortController();
  const tables = new Tables();
  const running = tables.run({ client: api, clock: new FakeClock(), signal: ending.signal });
  const woken: string[] = [];
  const reads = new Reads({ tables, now: () => 0, wake: (reader) => woken.push(reader) });
  const plans: Record<string, (view: View) => unknown> = {
    get: (view: View) => view.get(Thing, { namespace: 'n', name: 'a' })?.metadata.name,
    list: (view: View) => view.list(Thing).length,
    keys: (view: View) => view.keys(Thing),
    served: (view: View) => view.served(Thing),
    'value of a model': (view: View) => view.read.get(view.model(wishes), 'n/a')?.isThere,
    'index of a model': (view: View) => view.read.index(view.model(wishes), 'owner', 'x').length,
  };
  const look = (): unknown[] => Object.entries(plans).map(([name, plan]) => attempt(() => reads.track(name, plan)));
  const unlisted = (plural: string): string => `the ${plural} of the cluster have not been listed yet`;
  expect(look()).toEqual(Object.keys(plans).map(() => unlisted('things')));
  await tables.of(Thing).whenSynced();
  reads.deliver();
  expect(woken.splice(0).sort()).toEqual(Object.keys(plans).sort());
  // The value reads the owners next.
  expect(look()).toEqual(['a', 1, ['n/a'], true, unlisted('owners'), unlisted('owners')]);
  await tables.of(Owner).whenSynced();
  reads.deliver();
  expect(woken.splice(0).sort()).toEqual(['index of a model', 'value of a model']);
  expect(look()).toEqual(['a', 1, ['n/a'], true, false, 1]);
  ending.abort();
  await running;
});

test('a plan is woken by a map that somebody else fills, also for a key that was missing', () => {
  const w = world();
  const outcomes = new WatchableMap<string, string>();
  const plan = (key: string): unknown => w.reads.track(key, (view) => view.read.get(outcomes, key));
  expect([plan('a'), plan('b')]).toEqual([undefined, undefined]);
  outcomes.store('a', 'refused');
  expect(w.woken()).toEqual(['a']);
  expect(plan('a')).toBe('refused');
});

test('a reader of the keys of a kind is woken when an object is added or removed, not when one changes', () => {
  const w = world();
  w.put(Thing, 'a');
  const keys = (): unknown => w.reads.track('reader', (view) => view.keys(Thing));
  expect(keys()).toEqual(['n/a']);
  w.put(Thing, 'a', { other: 'label' });
  expect(w.woken()).toEqual([]);
  w.put(Thing, 'b');
  expect(w.woken()).toEqual(['reader']);
  expect(keys()).toEqual(['n/a', 'n/b']);
  w.tables.of(Thing).observeDeleted(w.tables.of(Thing).get(keyOf({ namespace: 'n', name: 'a' }))!);
  expect(w.woken()).toEqual(['reader']);
});
