import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tracker } from '../../watchable/index.ts';
import type { Update } from '../../watchable/index.ts';
import { byLabel, byOwner } from './object-index.ts';
import { defineKind, keyOf } from '../objects.ts';
import type { KubeObject, ObjectMeta } from '../objects.ts';
import { Table } from './table.ts';
import type { TableOptions } from './table.ts';

interface Thing extends KubeObject {
  readonly spec?: { readonly size: number };
}
const Thing = defineKind<Thing>('test.dev/v1', 'Thing', 'things');

function thing(name: string, version: number | string, meta: Partial<ObjectMeta> = {}): Thing {
  const metadata = { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: `${version}`, ...meta };
  return { apiVersion: 'test.dev/v1', kind: 'Thing', metadata };
}

type Updates = readonly Update<string, Thing>[];

/** A table, and the updates that subscribers of its map have received since. */
function tableOf(options: TableOptions<Thing> = {}): { table: Table<Thing>; changes: () => Promise<Updates> } {
  const table = new Table(Thing, options);
  const subscription = table.map.subscribe();
  return { table, changes: async () => ((await subscription.next()) as { value: { updates: Updates } }).value.updates };
}

const versions = (table: Table<Thing>): Record<string, string | undefined> =>
  Object.fromEntries(table.list().map((each) => [keyOf(each.metadata), each.metadata.resourceVersion]));

const shape = (updates: Updates): string[] =>
  updates.map(
    ({ key, delete: isGone, value, before }) =>
      `${key} ${before?.metadata.resourceVersion ?? '-'}→${isGone ? '-' : value.metadata.resourceVersion}`,
  );

describe('Table', () => {
  it('holds frozen objects, found by key, namespace and index', () => {
    const { table } = tableOf({ indexes: { owner: byOwner, app: byLabel('app') } });
    const owned = thing('x', 3, {
      labels: { app: 'shop' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'owner-1' }],
    });
    table.replaceAll([thing('z', 1, { namespace: 'b' }), owned, thing('c', 2)], '5');
    expect(table.size).toBe(3);
    expect([...table.keys()].sort()).toEqual(['a/c', 'a/x', 'b/z']);
    expect(table.list().map((each) => each.metadata.name)).toEqual(['c', 'x', 'z']);
    expect(table.list('a').map((each) => each.metadata.name)).toEqual(['c', 'x']);
    expect(table.list('none')).toEqual([]);
    expect(table.index('owner', 'owner-1')).toEqual([table.get('a/x')]);
    expect(table.index('app', 'shop')).toEqual([table.get('a/x')]);
    expect(table.index('app', 'other')).toEqual([]);
    expect(Object.isFrozen(table.get('a/x')!.metadata.labels)).toBe(true);
    expect(() => table.index('host', 'x')).toThrow(
      'watchable map "things" has no index "host" (declared: metadata.namespace, owner, app)',
    );
  });

  it('keeps the reference of an object that a list or event repeats', async () => {
    const { table, changes } = tableOf();
    table.replaceAll([thing('x', 3)], '5');
    const before = table.get('a/x');
    table.replaceAll([thing('x', 3)], '6');
    table.event({ type: 'MODIFIED', object: thing('x', 3) });
    expect(table.get('a/x')).toBe(before);
    expect(shape(await changes())).toEqual(['a/x -→3']);
  });

  it('drops the managed fields of others and nothing else', () => {
    const { table } = tableOf();
    const ours = { manager: 'offshoot-status', operation: 'Apply' as const };
    const labels = { app: 'shop' };
    table.replaceAll([thing('x', 1, { labels, managedFields: [{ manager: 'kubectl' }, ours] })], '5');
    table.event({ type: 'ADDED', object: thing('y', 6, { managedFields: [{ manager: 'kubectl' }] }) });
    expect(table.get('a/x')).toEqual(thing('x', 1, { labels, managedFields: [ours] }));
    expect(table.get('a/y')).toEqual(thing('y', 6));
  });

  it('applies a transform of its own to lists, events and observed objects', () => {
    const { table } = tableOf({ transform: (object) => ({ ...object, spec: { size: 7 } }) });
    table.replaceAll([thing('x', 1)], '5');
    table.event({ type: 'ADDED', object: thing('y', 6) });
    table.observe(thing('z', 7));
    expect(table.list().map((each) => each.spec?.size)).toEqual([7, 7, 7]);
  });

  describe('synced and served', () => {
    it('is synced after the first complete list', async () => {
      const { table } = tableOf();
      let synced = false;
      const waiting = table.whenSynced().then(() => (synced = true));
      const listing = table.beginList();
      listing.add([thing('x', 1)]);
      await Promise.resolve();
      expect([table.synced, table.size, synced]).toEqual([false, 0, false]);
      listing.complete('5');
      await waiting;
      expect([table.synced, table.size]).toEqual([true, 1]);
      await table.whenSynced();
    });

    it('stops waiting when the signal aborts', async () => {
      const { table } = tableOf();
      const abort = new AbortController();
      const waiting = table.whenSynced(abort.signal);
      abort.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(table.whenSynced(abort.signal)).rejects.toThrow('enough');
    });

    it('is empty and synced while the kind is not served, and wakes readers when that changes', async () => {
      const { table, changes } = tableOf();
      const served: boolean[] = [];
      const tracker = new Tracker<string>({ wake: () => served.push(look()) });
      const look = (): boolean => tracker.track('reader', (read) => read.get(table.state, 'served')!);
      look();
      table.replaceAll([thing('x', 1)], '5');
      table.notServed();
      tracker.deliver();
      table.notServed();
      tracker.deliver();
      expect([table.served, table.synced, table.size]).toEqual([false, true, 0]);
      table.replaceAll([thing('x', 9, { uid: 'new' })], '10');
      tracker.deliver();
      expect(served).toEqual([false, true]);
      expect(shape(await changes())).toEqual(['a/x -→1', 'a/x 1→-', 'a/x -→9']);
    });
  });

  describe('read your writes', () => {
    it('never lets an older event replace an observed object', () => {
      const { table } = tableOf();
      table.replaceAll([thing('x', 3)], '5');
      table.observe(thing('x', 10));
      table.event({ type: 'MODIFIED', object: thing('x', 9) });
      table.event({ type: 'DELETED', object: thing('x', 8) });
      expect(versions(table)).toEqual({ 'a/x': '10' });
      table.event({ type: 'MODIFIED', object: thing('x', 11) });
      table.observe(thing('x', 10));
      expect(versions(table)).toEqual({ 'a/x': '11' });
    });

    it('compares versions as whole numbers beyond 2^53', () => {
      const { table } = tableOf();
      table.observe(thing('x', '90071992547409931'));
      table.event({ type: 'MODIFIED', object: thing('x', '90071992547409930') });
      expect(versions(table)).toEqual({ 'a/x': '90071992547409931' });
    });

    it('prefers the watch to the writer if versions cannot be compared', () => {
      const { table } = tableOf();
      table.event({ type: 'ADDED', object: thing('x', 'f00') });
      table.observe(thing('x', 'abc'));
      expect(versions(table)).toEqual({ 'a/x': 'f00' });
      table.event({ type: 'MODIFIED', object: thing('x', 'abc') });
      expect(versions(table)).toEqual({ 'a/x': 'abc' });
      table.event({ type: 'DELETED', object: thing('x', 'abd') });
      table.observe(thing('x', 'abc'));
      expect(versions(table)).toEqual({});
    });

    it('does not restore an object that was observed as deleted', async () => {
      const { table, changes } = tableOf();
      table.replaceAll([thing('x', 3)], '5');
      table.observeDeleted(thing('x', 3));
      table.event({ type: 'MODIFIED', object: thing('x', 6) });
      table.observe(thing('x', 7));
      expect(versions(table)).toEqual({});
      table.event({ type: 'DELETED', object: thing('x', 8) });
      table.event({ type: 'ADDED', object: thing('x', 9, { uid: 'again' }) });
      expect(versions(table)).toEqual({ 'a/x': '9' });
      expect(shape(await changes())).toEqual(['a/x -→3', 'a/x 3→-', 'a/x -→9']);
    });

    it('does not remove a newer object of the same name', () => {
      const { table } = tableOf();
      table.observe(thing('x', 9, { uid: 'again' }));
      table.observeDeleted(thing('x', 3));
      table.observeDeleted({ name: 'x', namespace: 'a', uid: 'uid-x' });
      table.event({ type: 'DELETED', object: thing('x', 8) });
      expect(versions(table)).toEqual({ 'a/x': '9' });
    });

    it('removes an older object when a newer one of the same name is deleted', () => {
      const { table } = tableOf();
      table.replaceAll([thing('x', 3), thing('y', 4)], '5');
      table.observeDeleted(thing('x', 7, { uid: 'x-again' }));
      table.event({ type: 'DELETED', object: thing('y', 8, { uid: 'y-again' }) });
      expect(versions(table)).toEqual({});
      table.event({ type: 'MODIFIED', object: thing('x', 6) });
      expect(versions(table)).toEqual({});
    });

    it('ignores objects outside its namespace or selectors, and removes those that leave them', () => {
      const { table } = tableOf({ namespace: 'a', labelSelector: 'on=yes', fieldSelector: 'metadata.name!=hidden' });
      const labels = { on: 'yes' };
      table.observe(thing('x', 6, { labels }));
      table.observe(thing('y', 7));
      table.observe(thing('z', 8, { labels, namespace: 'b' }));
      table.observe(thing('hidden', 9, { labels }));
      expect(versions(table)).toEqual({ 'a/x': '6' });
      table.observe(thing('x', 10));
      table.event({ type: 'MODIFIED', object: thing('x', 9, { labels }) });
      expect(versions(table)).toEqual({});
      table.event({ type: 'ADDED', object: thing('x', 11, { labels }) });
      expect(versions(table)).toEqual({ 'a/x': '11' });
    });
  });

  describe('lists', () => {
    it('keep what was written while they were being read, and replace the rest', () => {
      const { table } = tableOf();
      table.replaceAll([thing('stays', 1), thing('goes', 2), thing('deleted', 3)], '5');
      const listing = table.beginList();
      listing.add([thing('stays', 1), thing('deleted', 3), thing('changed', 6)]);
      table.observe(thing('created', 11));
      table.observe(thing('changed', 12));
      table.observeDeleted(thing('deleted', 3));
      listing.complete('10');
      expect(versions(table)).toEqual({ 'a/changed': '12', 'a/created': '11', 'a/stays': '1' });
    });

    it('are believed even if versions went back, as after a restored backup', () => {
      const { table } = tableOf();
      table.replaceAll([thing('x', 900), thing('y', 901)], '1000');
      table.event({ type: 'MODIFIED', object: thing('y', 1001) });
      const listing = table.beginList();
      listing.add([thing('x', 5)]);
      listing.complete('10');
      table.event({ type: 'MODIFIED', object: thing('x', 11) });
      expect(versions(table)).toEqual({ 'a/x': '11' });
    });

    it('overrule an earlier observed deletion', () => {
      const { table } = tableOf();
      table.replaceAll([thing('x', 3)], '5');
      table.observeDeleted(thing('x', 3));
      const listing = table.beginList();
      listing.add([thing('x', 3)]);
      listing.complete('10');
      expect(versions(table)).toEqual({ 'a/x': '3' });
    });

    it('make later messages about older versions be ignored', () => {
      const { table } = tableOf();
      table.replaceAll([], '10');
      table.event({ type: 'ADDED', object: thing('x', 9) });
      table.observe(thing('x', 10));
      expect(versions(table)).toEqual({});
    });

    it('replace everything at once for subscribers and tracked readers', async () => {
      const { table, changes } = tableOf();
      table.replaceAll([thing('x', 1), thing('y', 2)], '5');
      await changes();
      const seen: unknown[] = [];
      const tracker = new Tracker<string>({ wake: () => seen.push(versions(table)) });
      tracker.track('reader', (read) => read.list(table.map));
      table.replaceAll([thing('y', 6), thing('z', 7)], '10');
      expect(shape(await changes())).toEqual(['a/x 1→-', 'a/y 2→6', 'a/z -→7']);
      expect(seen).toEqual([{ 'a/y': '6', 'a/z': '7' }]);
    });
  });

  describe('changes', () => {
    it('report a re-creation under one name as a delete and an add', async () => {
      const { table, changes } = tableOf();
      table.replaceAll([thing('x', 1)], '5');
      table.event({ type: 'MODIFIED', object: thing('x', 6, { uid: 'b' }) });
      table.replaceAll([thing('x', 9, { uid: 'c' })], '10');
      expect(shape(await changes())).toEqual(['a/x -→1', 'a/x 1→-', 'a/x -→6', 'a/x 6→-', 'a/x -→9']);
    });

    it('are applied although an index function throws', () => {
      const errors: unknown[] = [];
      const table = new Table<Thing>(Thing, {
        indexes: {
          bad: () => {
            throw new Error('index');
          },
        },
        onError: (error) => errors.push((error as Error).message),
      });
      table.event({ type: 'ADDED', object: thing('x', 1) });
      table.event({ type: 'ADDED', object: thing('y', 2) });
      expect(errors).toEqual(['index', 'index']);
      expect(table.size).toBe(2);
    });
  });
});

/** One write: create, change (the label decides whether it is selected), delete; impossible writes are skipped. */
type Write = { readonly name: string; readonly act: 'put' | 'delete'; readonly on: boolean };
/** How the table learns of it. Numbers choose among the available messages. */
type Step =
  | { readonly do: 'write'; readonly write: Write }
  | { readonly do: 'stream' | 'beginList' | 'completeList' }
  | { readonly do: 'repeat' | 'answer'; readonly which: number };

interface Entry {
  readonly version: number;
  readonly key: string;
  readonly old?: Thing;
  readonly new?: Thing;
}

const selected = (object: Thing | undefined): boolean => object?.metadata.labels?.['on'] === 'yes';

/** A server with a history, and the messages that reach a table. `known` is the newest version that reached it by key. */
class World {
  readonly errors: unknown[] = [];
  readonly table = new Table<Thing>(Thing, {
    labelSelector: 'on=yes',
    onError: (error) => this.errors.push(error),
    indexes: { size: (object) => [`${object.spec?.size}`], owner: byOwner },
  });
  readonly history: Entry[] = [];
  readonly known = new Map<string, number>();
  position = 0;
  listing: { complete(version: string): void; version: number } | undefined;

  constructor() {
    this.table.replaceAll([], '0');
  }

  stateAt(key: string, version: number): Thing | undefined {
    const last = this.history.findLast((entry) => entry.key === key && entry.version <= version);
    return selected(last?.new) ? last!.new : undefined;
  }

  run(step: Step): void {
    const { table, history } = this;
    switch (step.do) {
      case 'write':
        this.write(step.write);
        break;
      case 'stream':
        if (this.listing) break;
        if (this.position < history.length) this.send(history[this.position++]!);
        break;
      case 'repeat':
        if (this.position > 0 && !this.listing) this.send(history[step.which % this.position]!);
        break;
      case 'answer': {
        const entry = history[step.which % Math.max(history.length, 1)];
        if (!entry) break;
        if (entry.new) table.observe(entry.new);
        else table.observeDeleted(entry.old!);
        this.heard(entry.key, entry.version);
        break;
      }
      case 'beginList': {
        const listing = table.beginList();
        for (const key of new Set(history.map((entry) => entry.key))) {
          const object = this.stateAt(key, history.length);
          if (object) listing.add([object]);
        }
        this.listing = { complete: (version) => listing.complete(version), version: history.length };
        break;
      }
      case 'completeList': {
        if (!this.listing) break;
        const { version } = this.listing;
        this.listing.complete(`${version}`);
        this.listing = undefined;
        this.position = version;
        for (const key of new Set(history.map((entry) => entry.key))) this.heard(key, version);
        break;
      }
    }
  }

  write({ name, act, on }: Write): void {
    const key = `${name === 'z' ? 'b' : 'a'}/${name}`;
    const version = this.history.length + 1;
    const old = this.history.findLast((entry) => entry.key === key)?.new;
    if (act === 'delete') {
      if (old) this.history.push({ version, key, old });
      return;
    }
    const object = thing(name, version, {
      namespace: name === 'z' ? 'b' : 'a',
      uid: old?.metadata.uid ?? `uid-${version}`,
      labels: on ? { on: 'yes' } : {},
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: `owner-${version % 2}` }],
    });
    this.history.push({ version, key, old, new: { ...object, spec: { size: version % 3 } } });
  }

  send(entry: Entry): void {
    const [before, after] = [selected(entry.old), selected(entry.new)];
    if (after) this.table.event({ type: before ? 'MODIFIED' : 'ADDED', object: entry.new! });
    else if (before) {
      const metadata = { ...entry.old!.metadata, resourceVersion: `${entry.version}` };
      this.table.event({ type: 'DELETED', object: { ...entry.old!, metadata } });
    } else return;
    this.heard(entry.key, entry.version);
  }

  heard(key: string, version: number): void {
    this.known.set(key, Math.max(this.known.get(key) ?? 0, version));
  }

  /** What the table must hold: for each key the state at the newest version that reached it. */
  expected(): Thing[] {
    return [...this.known]
      .flatMap(([key, version]) => this.stateAt(key, version) ?? [])
      .sort((a, b) => (keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1));
  }
}

describe('Table, for every order of messages', () => {
  const write = fc.record({
    name: fc.constantFrom('x', 'y', 'z'),
    act: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
    on: fc.boolean(),
  });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: write.map((each): Step => ({ do: 'write', write: each })) },
    { weight: 4, arbitrary: fc.constant<Step>({ do: 'stream' }) },
    { weight: 2, arbitrary: fc.nat(50).map((which): Step => ({ do: 'repeat', which })) },
    { weight: 2, arbitrary: fc.nat(50).map((which): Step => ({ do: 'answer', which })) },
    { weight: 1, arbitrary: fc.constant<Step>({ do: 'beginList' }) },
    { weight: 2, arbitrary: fc.constant<Step>({ do: 'completeList' }) },
  );

  it('holds the newest state that reached it, in the map, every index and the reported changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const world = new World();
        const { table } = world;
        const subscription = table.map.subscribe();
        for (const each of steps) {
          world.run(each);
          expect(world.errors).toEqual([]);
          const expected = world.expected();
          expect(table.list()).toEqual(expected);
          expect(table.size).toBe(expected.length);
          for (const namespace of ['a', 'b']) {
            expect(table.list(namespace)).toEqual(expected.filter((object) => object.metadata.namespace === namespace));
          }
          for (const size of [0, 1, 2]) {
            expect(table.index('size', `${size}`)).toEqual(expected.filter((object) => object.spec?.size === size));
          }
          for (const owner of ['owner-0', 'owner-1']) {
            const owned = expected.filter((object) => byOwner(object).includes(owner));
            expect(table.index('owner', owner)).toEqual(owned);
          }
        }
        const replayed = new Map<string, Thing>();
        const { value } = await subscription.next();
        for (const { key, delete: isGone, value: object, before } of (value as { updates: Updates }).updates) {
          expect(replayed.get(key)).toBe(before);
          // A new object of the same name is reported as a delete and an add.
          expect(object.metadata.uid).toBe((before ?? object).metadata.uid);
          if (isGone) replayed.delete(key);
          else replayed.set(key, object);
        }
        expect(new Set(replayed.values())).toEqual(new Set(world.expected()));
      }),
      { numRuns: 500 },
    );
  });
});
