// The other versions of a kind: managers that wrote in one own the fields that it has, by the names that it gives them.
import type { Schema } from '../schema/types.ts';
import { isObject, type JsonObject } from './json.ts';

export interface Versions {
  /** The schema of a version; throws `MissingVersion` when the kind does not have it any more. */
  schemaOf(apiVersion: string): Schema;
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** Somebody owns fields in a version that the kind does not have any more. */
export class MissingVersion extends Error {
  constructor(apiVersion: string) {
    super(`request to convert CR to an invalid group/version: ${apiVersion}`);
    this.name = 'MissingVersion';
  }
}

const identifying = ['name', 'namespace', 'uid'];

/** A part of an object in another version. It stays a part of that object, whatever else was taken out. */
export function convertPart(versions: Versions, whole: JsonObject, part: JsonObject, apiVersion: string): JsonObject {
  const metadata = isObject(whole['metadata']) ? whole['metadata'] : {};
  const identity = Object.fromEntries(
    identifying.flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]])),
  );
  const { apiVersion: from, kind } = whole;
  const kept = isObject(part['metadata']) ? part['metadata'] : {};
  return versions.convert(
    { ...part, apiVersion: part['apiVersion'] ?? from, kind, metadata: { ...kept, ...identity } },
    apiVersion,
  );
}
