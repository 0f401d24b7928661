import { deepFreeze } from '../../../watchable/index.ts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { pod } from '../testdata/schemas.ts';
import { trackUpdate } from './track-update.ts';

interface Write {
  readonly manager: string;
  readonly minute?: number;
  readonly apiVersion?: string;
  readonly subresource?: string;
}

function write(old: JsonObject | undefined, next: JsonObject, { manager, minute = 0, ...rest }: Write): JsonObject {
  const now = Date.UTC(2026, 0, 1, 0, minute);
  return deepFreeze(trackUpdate(deepFreeze({ schema: pod, old, next, manager, apiVersion: 'v1', now, ...rest })));
}

interface Entry {
  readonly manager: string;
  readonly time: string;
  readonly subresource?: string;
  readonly fieldsV1: JsonObject;
}

function entries(object: JsonObject): readonly Entry[] {
  return ((object['metadata'] as JsonObject)['managedFields'] ?? []) as Entry[];
}

function labelled(labels: JsonObject, more: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', uid: 'u', labels, ...more } };
}

function labelOwners(object: JsonObject): Record<string, string[]> {
  const shares = entries(object).map(({ manager, fieldsV1 }) => {
    const metadata = (fieldsV1['f:metadata'] ?? {}) as JsonObject;
    return [manager, Object.keys(metadata['f:labels'] ?? {})] as const;
  });
  return Object.fromEntries(shares);
}

describe('trackUpdate', () => {
  test('gives the creator the fields that it wrote, but not those that the server sets', () => {
    const more = { resourceVersion: '1', generation: 1, creationTimestamp: 'now', namespace: 'n' };
    const created = write(undefined, labelled({ a: '1' }, more), { manager: 'a' });
    expect(entries(created)).toEqual([
      {
        manager: 'a',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } },
      },
    ]);
  });

  test('moves changed fields to the updater, and removes deleted fields from all managers', () => {
    const created = write(undefined, labelled({ a: '1', b: '1', c: '1' }), { manager: 'a' });
    const updated = write(created, labelled({ a: '1', b: '2', d: '2' }), { manager: 'b', minute: 1 });
    expect(labelOwners(updated)).toEqual({ a: ['.', 'f:a'], b: ['f:b', 'f:d'] });
  });

  test('keeps entries and times when nothing changes', () => {
    const created = write(undefined, labelled({ a: '1' }), { manager: 'a' });
    expect(write(created, created, { manager: 'b', minute: 5 })).toBe(created);
    expect(write(created, labelled({ a: '1' }), { manager: 'b', minute: 5 })).toEqual(created);
  });

  test('removes a manager that owns no fields any more', () => {
    const created = write(undefined, labelled({ a: '1' }), { manager: 'a' });
    const emptied = write(created, { ...labelled({}), metadata: { name: 'x', uid: 'u' } }, { manager: 'b' });
    expect(emptied['metadata']).not.toHaveProperty('managedFields');
  });

  test('sorts entries by time, then by name', () => {
    const first = write(undefined, labelled({ a: '1' }), { manager: 'z', minute: 1 });
    const second = write(first, labelled({ a: '1', b: '1' }), { manager: 'y', minute: 2 });
    const third = write(second, labelled({ a: '1', b: '1', c: '1' }), { manager: 'x', minute: 2 });
    expect(entries(third).map(({ manager }) => manager)).toEqual(['z', 'x', 'y']);
  });

  test('keeps separate entries per subresource and API version, and calls an unnamed manager unknown', () => {
    const created = write(undefined, labelled({ a: '1' }), { manager: 'a' });
    const status = { status: { observedGeneration: 1 } };
    const reported = write(created, { ...labelled({ a: '1' }), ...status }, { manager: 'a', subresource: 'status' });
    const other = { ...labelled({ a: '2' }), ...status };
    const changed = write(reported, other, { manager: '', apiVersion: 'v2', minute: 1 });
    expect(entries(changed).map(({ manager, subresource }) => [manager, subresource])).toEqual([
      ['a', undefined],
      ['a', 'status'],
      ['unknown', undefined],
    ]);
  });

  test('allows clients to edit and reset managedFields, but not by invalid entries or through a subresource', () => {
    const created = write(undefined, labelled({ a: '1' }), { manager: 'a' });
    const [entry] = entries(created);
    const renamed = labelled({ a: '1' }, { managedFields: [{ ...entry, manager: 'renamed' }] });
    expect(labelOwners(write(created, renamed, { manager: 'b' }))).toEqual({ renamed: ['.', 'f:a'] });
    expect(labelOwners(write(created, renamed, { manager: 'b', subresource: 'status' }))).toEqual({ a: ['.', 'f:a'] });
    for (const managedFields of [[{ manager: 'bad' }], [{ ...entry, fieldsV1: { bad: {} } }], null]) {
      const invalid = labelled({ a: '1' }, { managedFields });
      expect(labelOwners(write(created, invalid, { manager: 'b' }))).toEqual({ a: ['.', 'f:a'] });
    }
    for (const managedFields of [[], [{}]]) {
      const cleared = write(created, labelled({ a: '2' }, { managedFields }), { manager: 'b' });
      expect(cleared['metadata']).toEqual({ name: 'x', uid: 'u', labels: { a: '2' } });
      expect(write(cleared, labelled({ a: '3' }), { manager: 'b' })['metadata']).not.toHaveProperty('managedFields');
    }
  });

  test('merges the oldest of more than ten updaters', () => {
    let object: JsonObject | undefined;
    const labels: Record<string, string> = {};
    for (let index = 0; index < 13; index++) {
      labels[`l${index}`] = 'x';
      object = write(object, labelled({ ...labels }), { manager: `m${index}`, minute: index });
    }
    const managers = entries(object!).map(({ manager }) => manager);
    expect(managers).toEqual(['ancient-changes', ...Array.from({ length: 9 }, (_, index) => `m${index + 4}`)]);
    expect(labelOwners(object!)['ancient-changes']).toEqual(['.', 'f:l0', 'f:l1', 'f:l2', 'f:l3']);
  });

  test('keeps the old entries when a list item has no valid key', () => {
    const created = write(undefined, labelled({ a: '1' }), { manager: 'a' });
    const broken = { ...labelled({ a: '1' }), spec: { containers: [{ image: 'no name' }] } };
    const result = write(created, broken, { manager: 'b' });
    expect(result['spec']).toEqual(broken.spec);
    expect(entries(result)).toEqual(entries(created));
  });
});
