import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { AnyObject } from '../../kube/objects.ts';
import { DataDirectoryInUse, openSqlite } from './sqlite.ts';
import { Store } from './store.ts';
import { Compacted, VersionConflict } from './types.ts';
import type { StoreEvent } from './types.ts';

const things = 'things.example.com';
const directories: string[] = [];

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), 'embedded-store-'));
  directories.push(made);
  return made;
}

afterEach(() => {
  for (const made of directories.splice(0)) rmSync(made, { recursive: true, force: true });
});

function thing(key: string, value: unknown = 0): AnyObject {
  const [namespace, name] = key.split('/') as [string, string];
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name, namespace }, value };
}

function put(store: Store, key: string, value?: unknown): Promise<unknown> {
  const expect = store.get(things, key)?.version ?? 0;
  return store.write({ collection: things, key, expect, next: thing(key, value) });
}

function erase(store: Store, key: string): Promise<unknown> {
  return store.write({ collection: things, key, expect: store.get(things, key)!.version, next: undefined });
}

describe('write', () => {
  test('sets an increasing version and freezes the object', async () => {
    const store = new Store();
    const first = await store.write({ collection: things, key: 'a/x', expect: 0, next: thing('a/x', { deep: [1] }) });
    const second = await store.write({ collection: things, key: 'a/y', expect: 0, next: thing('a/y') });
    expect(second.version).toBeGreaterThan(first.version);
    expect(first.object.metadata.resourceVersion).toBe(String(first.version));
    expect(Object.isFrozen((first.object['value'] as { deep: unknown }).deep)).toBe(true);
    expect(JSON.parse(first.bytes.toString())).toEqual(first.object);
  });

  test('rejects with a conflict unless the version is the expected one, also for concurrent writes', async () => {
    const store = new Store();
    const outcomes = await Promise.allSettled([
      store.write({ collection: things, key: 'a/x', expect: 0, next: thing('a/x', 1) }),
      store.write({ collection: things, key: 'a/x', expect: 0, next: thing('a/x', 2) }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(VersionConflict);
    expect(store.get(things, 'a/x')?.object['value']).toBe(1);
    await expect(store.write({ collection: things, key: 'a/no', expect: 0, next: undefined })).rejects.toThrow(
      'version 0',
    );
  });

  test('notifies earlier subscribers in order', async () => {
    const store = new Store();
    const seen: string[] = [];
    const record = ({ type, version, stored }: StoreEvent): void => {
      seen.push(`${type} ${stored.key} ${version}`);
    };
    await put(store, 'a/early');
    const stop = store.subscribe(things, record);
    await put(store, 'a/x');
    await put(store, 'a/x', 1);
    await erase(store, 'a/x');
    stop();
    await put(store, 'a/late');
    expect(seen).toEqual(['ADDED a/x 3', 'MODIFIED a/x 4', 'DELETED a/x 5']);
  });
});

test('a listener that throws affects neither the writer nor other listeners', async () => {
  const errors: unknown[] = [];
  const store = new Store({ onError: (error) => errors.push(error) });
  const seen: string[] = [];
  store.subscribe(things, () => {
    throw new Error('listener');
  });
  store.subscribe(things, ({ stored }) => seen.push(stored.key));
  await put(store, 'a/x');
  expect([errors.length, seen]).toEqual([1, ['a/x']]);
});

test('a failed commit changes nothing and rejects all its writes', async () => {
  let broken = true;
  const commit = (): void => {
    if (broken) throw new Error('disk full');
  };
  const backend = { load: () => ({ version: 7, rows: [] }), commit, close: () => undefined };
  const store = new Store({ backend });
  const events: StoreEvent[] = [];
  store.subscribe(undefined, (event) => events.push(event));
  const outcomes = await Promise.allSettled([put(store, 'a/x'), put(store, 'a/y')]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect([store.version, store.count(things), events.length]).toEqual([7, 0, 0]);
  broken = false;
  await put(store, 'a/x');
  expect([store.version, store.count(things), events.length]).toEqual([8, 1, 1]);
});

test('list returns objects in key order, of one namespace or all, also at a past version', async () => {
  const store = new Store();
  for (const key of ['b/1', 'a/2', 'a-b/1', 'a/1']) await put(store, key);
  const then = store.version;
  await erase(store, 'a/1');
  await put(store, 'a/0');
  await put(store, 'a/2', 'new');
  const keys = (options: object): string[] => store.list(things, options).map(({ key }) => key);
  expect(keys({})).toEqual(['a-b/1', 'a/0', 'a/2', 'b/1']);
  expect(keys({ namespace: 'a' })).toEqual(['a/0', 'a/2']);
  expect(keys({ namespace: 'a', at: then })).toEqual(['a/1', 'a/2']);
  expect(store.list(things, { at: then }).find(({ key }) => key === 'a/2')?.object['value']).toBe(0);
});

test('list at any past version returns the state of that version', async () => {
  const operation = fc.record({ key: fc.constantFrom('a/1', 'a/2', 'b/1'), remove: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 20 }), async (operations) => {
      const store = new Store();
      const past = new Map<number, string>();
      const snapshot = (at?: number): string =>
        JSON.stringify(store.list(things, at === undefined ? {} : { at }).map(({ object }) => object));
      past.set(store.version, snapshot());
      for (const [index, { key, remove }] of operations.entries()) {
        if (!remove) await put(store, key, index);
        else if (store.get(things, key) !== undefined) await erase(store, key);
        past.set(store.version, snapshot());
      }
      for (const [version, expected] of past) expect(snapshot(version)).toBe(expected);
    }),
    { numRuns: 50 },
  );
});

test('history is limited, and versions before it are refused', async () => {
  const store = new Store({ history: { events: 3 } });
  const start = store.version;
  for (let index = 0; index < 10; index++) await put(store, 'a/x', index);
  expect(() => store.eventsAfter(things, start)).toThrow(Compacted);
  expect(store.eventsAfter(things, store.version - 3)).toHaveLength(3);
  store.compact();
  expect(() => store.eventsAfter(things, store.version - 1)).toThrow('too old resource version');
  expect(store.eventsAfter(things, store.version)).toEqual([]);
});

describe('a store on disk', () => {
  test('keeps objects, big integers and the version across a restart', async () => {
    const home = directory();
    const first = new Store({ backend: openSqlite(home) });
    await put(first, 'a/x', 9_007_199_254_740_993n);
    await put(first, 'a/gone');
    await erase(first, 'a/gone');
    const before = first.version;
    first.close();
    const second = new Store({ backend: openSqlite(home) });
    expect(second.version).toBe(before);
    expect(second.list(things).map(({ key }) => key)).toEqual(['a/x']);
    expect(second.get(things, 'a/x')?.object['value']).toBe(9_007_199_254_740_993n);
    expect(() => second.eventsAfter(things, before - 1)).toThrow(Compacted);
    expect(second.eventsAfter(things, before)).toEqual([]);
    second.close();
  });

  test('refuses a second user of the directory and names the process that uses it', () => {
    const home = directory();
    const store = new Store({ backend: openSqlite(home) });
    expect(() => openSqlite(home)).toThrow(DataDirectoryInUse);
    expect(() => openSqlite(home)).toThrow(`in use by the process ${process.pid}`);
    store.close();
    openSqlite(home).close();
  });

  test('keeps all writes that were acknowledged before kill -9', async () => {
    const home = directory();
    const script = `
      const { Store } = await import(${JSON.stringify(new URL('store.ts', import.meta.url).href)});
      const { openSqlite } = await import(${JSON.stringify(new URL('sqlite.ts', import.meta.url).href)});
      const store = new Store({ backend: openSqlite(${JSON.stringify(home)}) });
      for (let index = 0; ; index++) {
        await Promise.all([0, 1, 2].map(async (lane) => {
          const key = 'a/' + lane + '-' + index;
          const next = { apiVersion: 'v1', kind: 'Thing', metadata: { name: key } };
          const { version } = await store.write({ collection: 'things.example.com', key, expect: 0, next });
          console.log(key + ' ' + version);
        }));
      }`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.length > 5_000) child.kill('SIGKILL');
      });
      child.on('close', () => resolve());
    });
    const acknowledged = output.split('\n').slice(0, -1);
    const store = new Store({ backend: openSqlite(home) });
    expect(acknowledged.length).toBeGreaterThan(10);
    for (const line of acknowledged) {
      const [key, version] = line.split(' ') as [string, string];
      expect(store.get(things, key)?.version).toBe(Number(version));
      expect(store.version).toBeGreaterThanOrEqual(Number(version));
    }
    store.close();
  });
});
