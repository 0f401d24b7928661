import { deepFreeze } from '../../../watchable/index.ts';
import { describe, expect, test } from 'vitest';
import type { Schema } from '../../schema/types.ts';
import { applyPatch } from './apply.ts';
import { ApplyConflict } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { custom, deployment, service } from '../testdata/schemas.ts';
import { refusal } from '../testdata/support.ts';
import { trackUpdate } from '../managed-fields/track-update.ts';

const NOON = Date.parse('2026-01-01T12:00:00.789Z');
const LATER = Date.parse('2026-01-01T13:00:00Z');

interface Options {
  readonly schema?: Schema;
  readonly force?: boolean;
  readonly now?: number;
  readonly subresource?: string;
}

function apply(live: JsonObject | undefined, manager: string, part: JsonObject, options: Options = {}): JsonObject {
  const applied = { apiVersion: 'apps/v1', kind: 'Deployment', ...part };
  const { schema = deployment, force = false, now = NOON, subresource = '' } = options;
  const request = { schema, live, applied, manager, force, apiVersion: 'apps/v1', subresource, now };
  return deepFreeze(applyPatch(deepFreeze(request)).object);
}

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly time?: string;
  readonly fieldsV1: JsonObject;
}

function entries(object: JsonObject): readonly Entry[] {
  return ((object['metadata'] as JsonObject)['managedFields'] ?? []) as Entry[];
}

function owners(object: JsonObject): Record<string, JsonObject> {
  return Object.fromEntries(entries(object).map(({ manager, fieldsV1 }) => [manager, fieldsV1]));
}

const named = { metadata: { name: 'x' } };

function container(name: string, extra: JsonObject = {}): JsonObject {
  return { name, image: 'i', ...extra };
}

function withContainers(...containers: JsonObject[]): JsonObject {
  return { ...named, spec: { template: { spec: { containers } } } };
}

function containersOf(object: JsonObject): unknown {
  return (object as { spec?: { template?: { spec?: { containers?: unknown } } } }).spec?.template?.spec?.containers;
}

describe('server-side apply', () => {
  test('creates an object and records its fields, with the time in seconds', () => {
    const created = apply(undefined, 'a', { metadata: { name: 'x', labels: { app: 'x' } }, spec: { replicas: 1 } });
    expect(created).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'x',
        labels: { app: 'x' },
        managedFields: [
          {
            manager: 'a',
            operation: 'Apply',
            apiVersion: 'apps/v1',
            time: '2026-01-01T12:00:00Z',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:spec': { 'f:replicas': {} } },
          },
        ],
      },
      spec: { replicas: 1 },
    });
  });

  test('returns the same object, with the old time, when the configuration has not changed', () => {
    const part = withContainers(container('web', { env: [{ name: 'A', value: '1' }] }));
    const live = apply(undefined, 'a', part);
    expect(apply(live, 'a', part, { now: LATER })).toBe(live);
  });

  test('lets two managers share an object, and removes only the fields of the one that drops them', () => {
    const live = apply(apply(undefined, 'a', withContainers(container('web'))), 'b', withContainers(container('side')));
    expect(containersOf(live)).toEqual([container('web'), container('side')]);
    const without = apply(live, 'a', withContainers(), { now: LATER });
    expect(containersOf(without)).toEqual([container('side')]);
    expect(Object.keys(owners(without))).toEqual(['b']);
  });

  test('keeps a field until the last of its owners drops it', () => {
    const both = apply(apply(undefined, 'a', { ...named, spec: { replicas: 2 } }), 'b', {
      ...named,
      spec: { replicas: 2 },
    });
    expect(apply(both, 'a', named)['spec']).toEqual({ replicas: 2 });
    expect(apply(apply(both, 'a', named), 'b', named)).not.toHaveProperty('spec');
  });

  test('names the owner and the field in a conflict', () => {
    const live = trackUpdate({
      schema: deployment,
      old: undefined,
      next: { apiVersion: 'apps/v1', kind: 'Deployment', ...named, spec: { replicas: 2 } },
      manager: 'kubectl',
      apiVersion: 'apps/v1',
      now: NOON,
    });
    const error = refusal(() => apply(live, 'a', { ...named, spec: { replicas: 3 } }));
    expect(error).toBeInstanceOf(ApplyConflict);
    expect(error).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas',
      causes: [
        { reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using apps/v1', field: '.spec.replicas' },
      ],
    });
  });

  test('lists several conflicts by owner', () => {
    const one = apply(undefined, 'a', { ...named, spec: { replicas: 1, paused: true } });
    const two = apply(one, 'b', withContainers(container('web')));
    const changed = { ...withContainers(container('web', { image: 'other' })) };
    const error = refusal(() =>
      apply(two, 'c', { ...named, spec: { ...(changed['spec'] as JsonObject), replicas: 2, paused: false } }),
    );
    expect(error.message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "a":',
        '- .spec.paused',
        '- .spec.replicas',
        'conflicts with "b":',
        '- .spec.template.spec.containers[name="web"].image',
      ].join('\n'),
    );
    expect(error.causes.map(({ field }) => field)).toContain('.spec.template.spec.containers[name="web"].image');
  });

  test('takes over fields with force', () => {
    const live = apply(undefined, 'a', { ...named, spec: { replicas: 1, paused: true } });
    const forced = apply(live, 'b', { ...named, spec: { replicas: 5 } }, { force: true });
    expect(forced['spec']).toEqual({ replicas: 5, paused: true });
    expect(owners(forced)).toEqual({ a: { 'f:spec': { 'f:paused': {} } }, b: { 'f:spec': { 'f:replicas': {} } } });
  });

  test('reports no conflict for equal values: the field gets two owners', () => {
    const part = { ...named, spec: { replicas: 1 } };
    const shared = apply(apply(undefined, 'a', part), 'b', part, { now: LATER });
    expect(owners(shared)['a']).toEqual(owners(shared)['b']);
  });

  test('matches list keys with a schema default whether they are set or not', () => {
    const options = { schema: service };
    const live = apply(undefined, 'a', { ...named, spec: { ports: [{ port: 80, name: 'http' }] } }, options);
    expect(JSON.stringify(owners(live)['a'])).toContain('k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}');
    const second = {
      ...named,
      spec: {
        ports: [
          { port: 80, protocol: 'TCP' },
          { port: 80, protocol: 'UDP' },
        ],
      },
    };
    expect((apply(live, 'b', second, options)['spec'] as JsonObject)['ports']).toEqual([
      { port: 80, name: 'http', protocol: 'TCP' },
      { port: 80, protocol: 'UDP' },
    ]);
  });

  test('treats atomic lists and maps as one field, and free-form objects field by field', () => {
    const options = { schema: custom };
    const live = apply(
      undefined,
      'a',
      { ...named, spec: { hosts: ['h'], whole: { a: 1 }, free: { deep: { x: 1, list: [1] } } } },
      options,
    );
    expect(owners(live)['a']).toEqual({
      'f:spec': {
        'f:free': { 'f:deep': { '.': {}, 'f:list': {}, 'f:x': {} } },
        'f:hosts': {},
        'f:whole': {},
      },
    });
    const beside = apply(live, 'b', { ...named, spec: { free: { deep: { y: 2 } } } }, options);
    expect(beside['spec']).toMatchObject({ free: { deep: { x: 1, y: 2 } } });
    expect(refusal(() => apply(live, 'b', { ...named, spec: { whole: { b: 1 } } }, options)).message).toContain(
      '.spec.whole',
    );
  });

  test('merges finalizers and labels even if a custom schema does not describe metadata', () => {
    const options = { schema: custom };
    const live = apply(undefined, 'a', { metadata: { name: 'x', finalizers: ['f/a'] } }, options);
    const both = apply(live, 'b', { metadata: { name: 'x', finalizers: ['f/b'], labels: { l: '1' } } }, options);
    expect(both['metadata']).toMatchObject({ finalizers: ['f/a', 'f/b'], labels: { l: '1' } });
  });

  test('adds the manager before-first-apply for the fields of an untracked object', () => {
    const bare = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', uid: 'u' },
      spec: { replicas: 1 },
    };
    const live = apply(bare, 'a', { ...named, spec: { paused: true } });
    expect(entries(live).map(({ manager, operation }) => [manager, operation])).toEqual([
      ['a', 'Apply'],
      ['before-first-apply', 'Update'],
    ]);
    expect(refusal(() => apply(bare, 'a', { ...named, spec: { replicas: 2 } })).message).toContain(
      'before-first-apply',
    );
  });

  test('lets kubectl take over its client-side applied fields, and updates the last-applied annotation', () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const config = { apiVersion: 'apps/v1', kind: 'Deployment', ...named, spec: { replicas: 1 } };
    const next = { ...config, metadata: { name: 'x', annotations: { [annotation]: JSON.stringify(config) } } };
    const manager = 'kubectl-client-side-apply';
    const live = trackUpdate({ schema: deployment, old: undefined, next, manager, apiVersion: 'apps/v1', now: NOON });
    expect(refusal(() => apply(live, 'other', { ...named, spec: { replicas: 2 } })).code).toBe(409);
    const taken = apply(live, 'kubectl', { ...named, spec: { replicas: 2 } });
    expect(taken['spec']).toEqual({ replicas: 2 });
    const annotations = (taken['metadata'] as JsonObject)['annotations'] as Record<string, string>;
    expect(annotations[annotation]).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x"},"spec":{"replicas":2}}\n',
    );
  });

  test('keeps a separate entry for the status subresource, and names it in conflicts', () => {
    const live = apply(undefined, 'a', { ...named, spec: { replicas: 1 } });
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    const reported = apply(live, 'a', { ...named, status }, { subresource: 'status' });
    expect(reported).toMatchObject({ spec: { replicas: 1 }, status });
    const other = { ...named, status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    expect(refusal(() => apply(reported, 'b', other, { subresource: 'status' })).message).toBe(
      'Apply failed with 1 conflict: conflict with "a" with subresource "status": .status.conditions[type="Ready"].status',
    );
  });

  test('preserves big integers in values and in keys', () => {
    const options = { schema: service };
    const part = { ...named, spec: { ports: [{ port: 2n ** 60n, name: 'big' }] } };
    const live = apply(undefined, 'a', part, options);
    expect(live['spec']).toEqual(part.spec);
    expect(apply(live, 'a', part, { ...options, now: LATER })).toBe(live);
  });

  test.each<[string, JsonObject, string]>([
    ['another version', { apiVersion: 'apps/v2' }, 'expected: apps/v1'],
    ['managedFields', { metadata: { name: 'x', managedFields: [] } }, 'metadata.managedFields must be nil'],
    ['an undeclared field', { spec: { replica: 1 } }, '.spec.replica: field not declared in schema'],
    [
      'a scalar for a list',
      withContainers('web' as unknown as JsonObject),
      '.spec.template.spec.containers: element 0',
    ],
    ['a map for a scalar', { spec: { replicas: {} } }, '.spec.replicas: expected integer, got object'],
    ['a list for a map', { spec: [] }, '.spec: expected map, got list'],
    ['items with the same key', withContainers(container('a'), container('a')), 'duplicate entries for key [name="a"]'],
    ['an item without keys', withContainers({ image: 'i' }), 'omits all key fields ["name"]'],
  ])('refuses %s', (_, part, mention) => {
    const error = refusal(() => apply(undefined, 'a', part));
    expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(error.message).toContain(mention);
  });
});
