// From the JSON of a request to an object of a kind: the first step of every write.
import type { ApiObject, Resource } from '../resource.ts';
import { decode, type Decoded } from '../schema/decode.ts';
import { normalise } from '../schema/normalise.ts';
import type { Schema } from '../schema/types.ts';
import { definition, goTypeName } from './definitions.ts';
import { isObject } from './read.ts';

/**
 * Drops what the kind does not have, and fills in the defaults of a custom kind's schema. Built-in kinds have their
 * defaults elsewhere: see `setDefaults`.
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

/** A custom object without what a schema does not have; nothing is filled in. */
export function pruneObject(schema: Schema, object: ApiObject): ApiObject {
  return normalise(schema, object, definition('meta.v1.ObjectMeta'), false).value as ApiObject;
}
