// Finds unknown fields of a manifest, with suggestions. Called by check.ts.
import type { Resource } from '../../api/resource.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { closestNames } from '../objects/closest-names.ts';
import type { FieldPath } from './kubectl-yaml.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

interface UnknownField {
  readonly at: FieldPath;
  readonly message: string;
}

/** The unknown fields of a spec, whether or not the rest of it is valid. */
export function unknownFieldsOf(spec: unknown, { crd }: Resource<KubeObject>): readonly UnknownField[] {
  const { versions } = crd['spec'] as { readonly versions: readonly { schema: { openAPIV3Schema: Schema } }[] };
  const { properties } = versions[0]!.schema.openAPIV3Schema;
  return unknownIn(spec, properties?.['spec'] ?? {}, ['spec']);
}

function unknownIn(value: unknown, schema: Schema, at: FieldPath): readonly UnknownField[] {
  const { properties, items = {}, additionalProperties: entries } = schema;
  if (Array.isArray(value)) return value.flatMap((item, index) => unknownIn(item, items, [...at, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([field, each]) => {
    const known = properties?.[field] ?? (typeof entries === 'object' ? entries : undefined);
    if (known !== undefined) return unknownIn(each, known, [...at, field]);
    if (properties === undefined || schema['x-kubernetes-preserve-unknown-fields'] || entries === true) return [];
    return [unknownField([...at, field], Object.keys(properties), Object.keys(value))];
  });
}

/** Reports an unknown field; fields that are already set are not suggested. */
export function unknownField(at: FieldPath, known: readonly string[], there: readonly string[]): UnknownField {
  const close = closestNames(
    String(at.at(-1)),
    known.filter((each) => !there.includes(each)),
  );
  const hint = close.length > 0 ? `; did you mean ${close.join(' or ')}?` : '';
  return { at, message: `unknown field ${JSON.stringify(pathText(at))}${hint}` };
}

/** `spec.subsets[0].name` */
export function pathText(at: FieldPath): string {
  return at
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}
