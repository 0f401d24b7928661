// Decodes the JSON of a request into an object of a kind: the first step of every write.
import type { ApiObject, Resource } from '../resource.ts';
import { decode, type Decoded } from '../schema/decode.ts';
import { normalise } from '../schema/normalise.ts';
import type { Schema } from '../schema/types.ts';
import { definition, goTypeName } from './definitions.ts';
import { isObject } from './read.ts';

/**
 * Drops unknown fields, and sets the defaults of a custom resource's schema. `setDefaults` sets those of built-in
 * kinds.
 */
export function decodeObject(resource: Resource, object: Readonly<Record<string, unknown>>): Decoded {
  const decoded = resource.custom ? decodeCustom(resource, object) : decode(resource.schema, object, goTypeName);
  if (decoded.problem === undefined) return decoded;
  const { kind, version } = resource;
  return { ...decoded, problem: `${kind} in version "${version}" cannot be handled as a ${kind}: ${decoded.problem}` };
}

function decodeCustom(resource: Resource, object: Readonly<Record<string, unknown>>): Decoded {
  const metadata = definition('meta.v1.ObjectMeta');
  const normalised = normalise(resource.schema, object, metadata);
  if (!isObject(normalised.value)) return normalised;
  const decoded = decode(metadata, normalised.value['metadata'] ?? {}, goTypeName);
  const value = { ...normalised.value, metadata: decoded.value };
  return { ...normalised, value, ...(decoded.problem !== undefined && { problem: decoded.problem }) };
}

/** Drops the fields of a custom object that are not in the schema; sets no defaults. */
export function pruneObject(schema: Schema, object: ApiObject): ApiObject {
  return normalise(schema, object, definition('meta.v1.ObjectMeta'), false).value as ApiObject;
}
