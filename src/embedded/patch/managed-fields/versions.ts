// Other API versions of a kind. A manager owns fields of the version that it wrote, which may have other names there.
import type { Schema } from '../../schema/types.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface Versions {
  /** The schema of a version; throws `MissingVersion` if it was removed. */
  schemaOf(apiVersion: string): Schema;
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

/** A manager owns fields of a version that was removed from the kind. */
export class MissingVersion extends Error {
  constructor(apiVersion: string) {
    super(`request to convert CR to an invalid group/version: ${apiVersion}`);
    this.name = 'MissingVersion';
  }
}

const identifying = ['name', 'namespace', 'uid'];

/** Converts a part of an object to another version. It keeps the identity of the object, which conversion requires. */
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
