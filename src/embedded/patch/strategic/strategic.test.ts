import { deepFreeze } from '../../../watchable/index.ts';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../json.ts';
import { applyStrategicMergePatch } from './strategic.ts';
import { deployment, pod } from '../testdata/schemas.ts';
import { refusal } from '../testdata/support.ts';

function podWith(spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x', ...metadata }, spec };
}

function patchedSpec(spec: JsonObject, patch: JsonObject): JsonObject {
  return applyStrategicMergePatch(pod, deepFreeze(podWith(spec)), deepFreeze({ spec: patch }))['spec'] as JsonObject;
}

function names(list: unknown): string[] {
  return (list as { name: string }[]).map(({ name }) => name);
}

const three = {
  containers: [{ name: 'a', image: '1' }, { name: 'b' }, { name: 'c' }],
  initContainers: [{ name: 'i', env: [{ name: 'e' }] }],
};

describe('strategic merge patch', () => {
  test('merges items by key, and inserts new ones before those that only the server has', () => {
    const { containers } = patchedSpec(three, { containers: [{ name: 'new' }, { name: 'b', image: '2' }] });
    expect(containers).toEqual([{ name: 'new' }, { name: 'a', image: '1' }, { name: 'b', image: '2' }, { name: 'c' }]);
    expect(names(patchedSpec(three, { containers: [{ name: 'new' }] })['containers'])).toEqual(['new', 'a', 'b', 'c']);
  });

  test('$patch: delete removes an item, $patch: replace the list', () => {
    expect(names(patchedSpec(three, { containers: [{ name: 'b', $patch: 'delete' }] })['containers'])).toEqual([
      'a',
      'c',
    ]);
    const replaced = patchedSpec(three, { containers: [{ $patch: 'replace' }, { name: 'z' }] });
    expect(replaced['containers']).toEqual([{ name: 'z' }]);
  });

  test('$setElementOrder sorts the items that it lists and keeps the others near their neighbours', () => {
    const ordered = patchedSpec(three, {
      '$setElementOrder/containers': [{ name: 'c' }, { name: 'a' }],
    });
    expect(names(ordered['containers'])).toEqual(['b', 'c', 'a']);
  });

  test('merges sets of scalars, and $deleteFromPrimitiveList removes from them', () => {
    const before = deepFreeze(podWith({}, { finalizers: ['a', 'b', 'c'] }));
    const patch = { metadata: { finalizers: ['d'], '$deleteFromPrimitiveList/finalizers': ['b'] } };
    const after = applyStrategicMergePatch(pod, before, patch);
    expect(after['metadata']).toEqual({ name: 'x', finalizers: ['d', 'a', 'c'] });
  });

  test('replaces lists without a merge strategy, merges maps, and removes null fields', () => {
    const before = { tolerations: [{ key: 'a' }], nodeSelector: { a: '1', b: '2' }, restartPolicy: 'Never' };
    const patch = { tolerations: [{ key: 'b' }], nodeSelector: { a: null, c: '3' }, restartPolicy: null };
    expect(patchedSpec(before, patch)).toEqual({ tolerations: [{ key: 'b' }], nodeSelector: { b: '2', c: '3' } });
  });

  test('$retainKeys clears the other members of a union', () => {
    const before = deepFreeze({ spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } });
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    expect(applyStrategicMergePatch(deployment, before, patch)).toEqual({ spec: { strategy: { type: 'Recreate' } } });
  });

  test('$patch on an object replaces or empties it', () => {
    const before = { nodeSelector: { a: '1' } };
    expect(patchedSpec(before, { nodeSelector: { $patch: 'replace', b: '2' } })).toEqual({ nodeSelector: { b: '2' } });
    expect(patchedSpec(before, { nodeSelector: { $patch: 'delete' } })).toEqual({ nodeSelector: {} });
  });

  test('does not store directives as data', () => {
    const patch = {
      volumes: [{ name: 'v', '$setElementOrder/x': [], emptyDir: { medium: null, $retainKeys: [] } }],
      nodeSelector: { $patch: 'delete' },
    };
    expect(patchedSpec({}, patch)).toEqual({ volumes: [{ name: 'v', emptyDir: {} }] });
    expect(patchedSpec({ volumes: [{ name: 'w' }] }, patch)).toEqual({
      volumes: [{ name: 'v', emptyDir: {} }, { name: 'w' }],
    });
  });

  test('preserves big integers in merge keys', () => {
    const before = { containers: [{ name: 'a', ports: [{ containerPort: 2n ** 60n }] }] };
    const patch = { containers: [{ name: 'a', ports: [{ containerPort: 2n ** 60n, name: 'p' }] }] };
    expect(patchedSpec(before, patch)).toEqual({
      containers: [{ name: 'a', ports: [{ containerPort: 2n ** 60n, name: 'p' }] }],
    });
  });

  test('shares unchanged parts', () => {
    const before = deepFreeze(podWith(three));
    expect(applyStrategicMergePatch(pod, before, { spec: { containers: [{ name: 'a', image: '1' }] } })).toBe(before);
    const after = applyStrategicMergePatch(pod, before, { metadata: { labels: { a: 'b' } } });
    expect(after['spec']).toBe(before['spec']);
  });

  test.each<[string, JsonObject, number, string[]]>([
    ['item without its key', { containers: [{ image: 'x' }] }, 422, ['.spec.containers', 'name']],
    [
      'nested item without its key',
      { initContainers: [{ name: 'i', env: [{ value: '1' }] }] },
      422,
      ['initContainers[name=i].env'],
    ],
    ['delete without its key', { containers: [{ $patch: 'delete' }] }, 422, ['.spec.containers', 'name']],
    ['unknown marker on an item', { containers: [{ name: 'a', $patch: 'drop' }] }, 400, ['drop', '.spec.containers']],
    ['merge marker on an item', { containers: [{ name: 'a', $patch: 'merge' }] }, 400, ['.spec.containers']],
    ['unknown marker on an object', { nodeSelector: { $patch: 'drop' } }, 400, ['drop', '.spec.nodeSelector']],
    ['mixed items', { containers: ['a'] }, 422, ['.spec.containers', 'string']],
    ['order that is not a list', { '$setElementOrder/containers': 'a' }, 400, ['.spec.containers', 'string']],
    ['order without a field', { $setElementOrder: [] }, 400, ['$setElementOrder']],
    [
      'order that misses an item',
      { '$setElementOrder/containers': [{ name: 'a' }], containers: [{ name: 'b' }] },
      422,
      ['.spec.containers'],
    ],
    ['primitive list that is not a list', { '$deleteFromPrimitiveList/args': 'a' }, 400, ['args']],
    ['retainKeys that is not a list', { nodeSelector: { $retainKeys: 'a' } }, 400, ['.spec.nodeSelector']],
    ['retainKeys that misses a field', { nodeSelector: { $retainKeys: ['a'], b: '1' } }, 400, ['"b"']],
  ])('refuses: %s', (_, patch, code, mentions) => {
    const error = refusal(() => patchedSpec({ ...three, nodeSelector: { a: '1' } }, patch));
    expect(error.code).toBe(code);
    for (const mention of mentions) expect(error.message).toContain(mention);
  });

  test('refuses a patch that is not an object', () => {
    expect(refusal(() => applyStrategicMergePatch(pod, {}, []))).toMatchObject({ code: 400 });
  });
});
