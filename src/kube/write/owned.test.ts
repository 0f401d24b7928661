import { expect, test } from 'vitest';
import type { KubeObject, ManagedFieldsEntry } from '../objects.ts';
import { comparable, ownedPart } from './owned.ts';

const US = 'offshoot-environments';

function deployment(managedFields: readonly ManagedFieldsEntry[]): KubeObject & { spec: unknown } {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'team', labels: { app: 'web', other: 'theirs' }, managedFields },
    spec: {
      replicas: 2,
      template: {
        spec: {
          containers: [
            { name: 'sidecar', image: 'theirs' },
            {
              name: 'web',
              image: 'web:2',
              imagePullPolicy: 'Always',
              ports: [{ containerPort: 80, protocol: 'TCP' }],
            },
          ],
          tolerations: [{ key: 'a', operator: 'Exists' }],
        },
      },
    },
  };
}

const ours: ManagedFieldsEntry = {
  manager: US,
  operation: 'Apply',
  apiVersion: 'apps/v1',
  fieldsV1: {
    'f:metadata': { 'f:labels': { 'f:app': {} } },
    'f:spec': {
      'f:template': {
        'f:spec': {
          'f:containers': {
            'k:{"name":"web"}': {
              '.': {},
              'f:name': {},
              'f:image': {},
              'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
            },
          },
          'f:tolerations': {},
        },
      },
    },
  },
};

test('the owned part has what we applied, without the fields, items and defaults of others', () => {
  expect(ownedPart(deployment([ours]), US)).toEqual({
    metadata: { labels: { app: 'web' } },
    spec: {
      template: {
        spec: {
          containers: [{ name: 'web', image: 'web:2', ports: [{ containerPort: 80 }] }],
          tolerations: [{ key: 'a', operator: 'Exists' }],
        },
      },
    },
  });
});

test('members of a set and positions of a list are found', () => {
  const object = deployment([
    {
      ...ours,
      fieldsV1: { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"b"': {} }, 'f:ownerReferences': { 'i:1': {} } } },
    },
  ]);
  const metadata = { ...object.metadata, finalizers: ['a', 'b'], ownerReferences: ['x', 'y'] as never };
  expect(ownedPart({ ...object, metadata }, US)).toEqual({ metadata: { finalizers: ['b'], ownerReferences: ['y'] } });
});

test.each([
  ['nobody applied anything', []],
  ['another manager did', [{ ...ours, manager: 'kubectl' }]],
  ['we updated, but did not apply', [{ ...ours, operation: 'Update' as const }]],
  ['we applied the status only', [{ ...ours, subresource: 'status' }]],
])('there is no owned part when %s', (_when, entries) => {
  expect(ownedPart(deployment(entries), US)).toBeUndefined();
});

test('a desired object is compared without its identity', () => {
  expect(comparable({ ...deployment([]), metadata: { name: 'web', namespace: 'team' } })).not.toHaveProperty(
    'metadata',
  );
  expect(
    comparable({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u', labels: { x: 'y' } } }),
  ).toEqual({ metadata: { labels: { x: 'y' } } });
});
