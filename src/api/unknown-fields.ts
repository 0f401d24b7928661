// What a newer version wrote into the status of a kind of ours, and this one does not know: it stays, so that the newer
// one finds it again when an upgrade that was rolled back is made after all.
import type { KubeObject } from '../kube/objects.ts';
import type { Resource } from './resource.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Makes of a planned status of a kind one with the fields of the live status that the schema of the kind does not have. */
export function keepUnknownStatus(resource: Resource<KubeObject>): (live: Fields, planned: Fields) => Fields {
  let schema: Schema | undefined;
  return (live, planned) => withUnknown((schema ??= statusSchema(resource)), live, planned);
}

function statusSchema({ crd }: Resource<KubeObject>): Schema {
  const { versions } = crd['spec'] as {
    readonly versions: readonly { readonly schema: { openAPIV3Schema: Schema } }[];
  };
  return versions[0]!.schema.openAPIV3Schema.properties?.['status'] ?? {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lists are ours as a whole, and so is what the schema leaves open. */
function withUnknown({ properties, additionalProperties }: Schema, live: Fields, planned: Fields): Fields {
  const entries = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const kept = Object.entries(planned).map(([key, value]): [string, unknown] => {
    const schema = properties?.[key] ?? entries;
    const before = live[key];
    const isNested = schema !== undefined && isFields(before) && isFields(value);
    return [key, isNested ? withUnknown(schema, before, value) : value];
  });
  const isUnknown = (key: string): boolean => properties !== undefined && !(key in properties) && !(key in planned);
  const unknown = entries === undefined ? Object.entries(live).filter(([key]) => isUnknown(key)) : [];
  return Object.fromEntries([...kept, ...unknown]);
}
