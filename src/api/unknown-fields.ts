// Keeps status fields that a newer version wrote and this version does not know, so that the newer version finds them
// again when an upgrade that was rolled back is repeated.
import type { KubeObject } from '../kube/objects.ts';
import type { Resource } from './resource.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns a function that adds to a planned status the live fields that the schema of the kind does not have. */
export function keepUnknownStatus(
  resource: Resource<KubeObject>,
): (live: JsonObject, planned: JsonObject) => JsonObject {
  let schema: Schema | undefined;
  return (live, planned) => withUnknown((schema ??= statusSchema(resource)), live, planned);
}

function statusSchema({ crd }: Resource<KubeObject>): Schema {
  const { versions } = crd['spec'] as {
    readonly versions: readonly { readonly schema: { openAPIV3Schema: Schema } }[];
  };
  return versions[0]!.schema.openAPIV3Schema.properties?.['status'] ?? {};
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists are replaced as a whole, and so is anything that the schema leaves open. */
function withUnknown({ properties, additionalProperties }: Schema, live: JsonObject, planned: JsonObject): JsonObject {
  const entries = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const kept = Object.entries(planned).map(([key, value]): [string, unknown] => {
    const schema = properties?.[key] ?? entries;
    const before = live[key];
    const isNested = schema !== undefined && isJsonObject(before) && isJsonObject(value);
    return [key, isNested ? withUnknown(schema, before, value) : value];
  });
  const isUnknown = (key: string): boolean => properties !== undefined && !(key in properties) && !(key in planned);
  const unknown = entries === undefined ? Object.entries(live).filter(([key]) => isUnknown(key)) : [];
  return Object.fromEntries([...kept, ...unknown]);
}
