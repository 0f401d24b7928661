import { expect, test } from 'vitest';
import type { Json, KubeObject, ManagedFieldsEntry } from '../objects.ts';
import { takenOver } from './take-over.ts';

const marked = { 'f:metadata': { 'f:annotations': { 'f:mark': {} } } };
const entry = (manager: string, fieldsV1: Json, rest: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  fieldsV1,
  ...rest,
});

function taken(...managedFields: readonly ManagedFieldsEntry[]): readonly ManagedFieldsEntry[] | undefined {
  const object: KubeObject = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', managedFields } };
  return takenOver(object, 'mark', 'us');
}

test('the fields that the creator of an object set by updates become ours, and no others', () => {
  const status = entry('maker', { 'f:status': {} }, { subresource: 'status' });
  const person = entry('person', { 'f:metadata': { 'f:labels': { 'f:theirs': {} } } });
  expect(
    taken(
      entry('maker', { ...marked, 'f:spec': { 'f:a': {} } }),
      person,
      status,
      entry('maker', { 'f:spec': { 'f:b': {} } }, { apiVersion: 'old/v1' }),
    ),
  ).toEqual([
    person,
    status,
    { manager: 'us', operation: 'Apply', fieldsV1: { ...marked, 'f:spec': { 'f:a': {}, 'f:b': {} } } },
  ]);
});

test.each<[string, readonly ManagedFieldsEntry[]]>([
  ['nobody set the annotation', [entry('person', { 'f:spec': {} })]],
  [
    'the annotation was applied, so its manager can remove fields itself',
    [entry('maker', marked, { operation: 'Apply' })],
  ],
  ['there are no managedFields', []],
])('nothing is taken over if %s', (_why, managedFields) => {
  expect(taken(...managedFields)).toBeUndefined();
});
