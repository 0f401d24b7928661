// Which fields an apply adds, keeps and removes in lists whose items have keys: as the API server does it.
import { expect, test } from 'vitest';
import type { KubeObject } from '../../kube/objects.ts';
import { applyFields } from './apply-fields.ts';

interface Pods extends KubeObject {
  readonly spec: { readonly containers: readonly object[] };
}

const podsOf = (...containers: readonly object[]): Pods => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { containers },
});

/** A Pod of which `us` applied two containers; the server added a default, and somebody else a container. */
function live(): Pods {
  const fieldsV1 = {
    'f:spec': {
      'f:containers': {
        'k:{"name":"app"}': { '.': {}, 'f:name': {}, 'f:image': {}, 'f:command': {} },
        'k:{"name":"proxy"}': { '.': {}, 'f:name': {} },
      },
    },
  };
  const pods = podsOf(
    { name: 'app', image: 'app:1', command: ['run'], imagePullPolicy: 'Always' },
    { name: 'proxy' },
    { name: 'theirs', command: ['watch'] },
  );
  const entry = { manager: 'us', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 } as const;
  return { ...pods, metadata: { ...pods.metadata, managedFields: [entry] } };
}

test('a list goes with the last of its items', () => {
  const before = live();
  const theirs = { ...before, spec: { containers: before.spec.containers.slice(0, 2) } };
  const { spec } = applyFields(theirs, { ...podsOf(), spec: {} } as KubeObject, 'us') as Pods;
  expect(spec).toEqual({});
});

test('an item of a list loses the fields that are no longer applied, and keeps those of others', () => {
  const { spec } = applyFields(live(), podsOf({ name: 'app', image: 'app:2' }), 'us') as Pods;
  expect(spec.containers).toEqual([
    { name: 'app', image: 'app:2', imagePullPolicy: 'Always' },
    { name: 'theirs', command: ['watch'] },
  ]);
});
