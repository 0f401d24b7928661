// Schemas of custom resources do not describe `metadata`; this adds the schema of ObjectMeta.
import type { Schema } from '../../schema/types.ts';

const string: Schema = { type: 'string' };
const stringMap: Schema = { type: 'object', additionalProperties: string };

const OBJECT_META: Schema = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    labels: stringMap,
    annotations: stringMap,
    finalizers: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: string,
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: string,
          name: string,
          uid: string,
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    ...Object.fromEntries(
      [
        'name',
        'generateName',
        'namespace',
        'uid',
        'resourceVersion',
        'selfLink',
        'creationTimestamp',
        'deletionTimestamp',
      ].map((name) => [name, string]),
    ),
    generation: { type: 'integer' },
    deletionGracePeriodSeconds: { type: 'integer' },
  },
};

const completed = new WeakMap<Schema, Schema>();

/** Adds apiVersion, kind and metadata to the schema of a kind. */
export function withObjectMeta(schema: Schema): Schema {
  if (schema.properties?.['metadata']?.properties !== undefined) return schema;
  let result = completed.get(schema);
  if (result === undefined) {
    const properties = { apiVersion: string, kind: string, ...schema.properties, metadata: OBJECT_META };
    result = { ...schema, type: 'object', properties };
    completed.set(schema, result);
  }
  return result;
}
