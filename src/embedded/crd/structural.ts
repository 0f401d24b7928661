// Checks that the schema of a CustomResourceDefinition is structural, which pruning and defaulting require.
import { type FieldError, forbidden, invalid, notSupported, required } from '../schema/field-error.ts';
import { normalise } from '../schema/normalise.ts';
import { re2 } from '../schema/regex.ts';
import type { Schema } from '../schema/types.ts';
import { validateValue } from '../schema/validate.ts';
import { definition } from '../kinds/definitions.ts';
import { checkRulesCompile } from './rule-problems.ts';

type Level = 'root' | 'items' | 'field';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const emptyTypeTexts: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** The errors of a schema, with messages and paths of the API server. */
export function structuralProblems(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  checkNode(schema, 'root', path, errors);
  if (errors.length === 0) checkDefaults(schema, path, errors);
  if (errors.length === 0) checkRulesCompile(schema, path, true, undefined, errors);
  return errors.sort((a, b) => (a.field < b.field ? -1 : a.field > b.field ? 1 : 0));
}

function checkNode(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  checkType(schema, level, path, errors);
  checkLists(schema, path, errors);
  checkResource(schema, level, path, errors);
  if (schema.uniqueItems === true) {
    const text = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, text));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  if (level === 'root' && schema.nullable === true) {
    errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  }
  checkPattern(schema, path, errors);
  checkJunctions(schema, path, errors);
  if (schema.items !== undefined) checkNode(schema.items, 'items', `${path}.items`, errors);
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    checkNode(child, 'field', `${path}.properties[${key}]`, errors);
  }
  checkAdditional(schema, level, path, errors);
}

function checkType(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { type } = schema;
  const untyped =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (type === undefined) {
    if (schema['x-kubernetes-embedded-resource'] === true) {
      errors.push(required(`${path}.type`, 'must be object if x-kubernetes-embedded-resource is true'));
    } else if (!untyped) {
      errors.push(required(`${path}.type`, emptyTypeTexts[level]));
    }
    return;
  }
  if (!types.includes(type)) errors.push(notSupported(`${path}.type`, type, types));
  else if (level === 'root' && type !== 'object')
    errors.push(invalid(`${path}.type`, type, 'must be object at the root'));
  if (type === 'array' && schema.items === undefined) errors.push(required(`${path}.items`, 'must be specified'));
}

function checkAdditional(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const { additionalProperties } = schema;
  if (additionalProperties === undefined) return;
  const fieldPath = `${path}.additionalProperties`;
  if (level === 'root') errors.push(forbidden(fieldPath, 'must not be used at the root'));
  if (additionalProperties !== true && Object.keys(schema.properties ?? {}).length > 0) {
    errors.push(forbidden(fieldPath, 'additionalProperties and properties are mutual exclusive'));
  }
  if (typeof additionalProperties === 'object') checkNode(additionalProperties, 'field', fieldPath, errors);
}

function checkResource(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const embedded = schema['x-kubernetes-embedded-resource'] === true;
  if (level !== 'root' && !embedded) return;
  for (const name of ['apiVersion', 'kind']) {
    const type = schema.properties?.[name]?.type;
    if (type !== undefined && type !== 'string')
      errors.push(invalid(`${path}.properties[${name}].type`, type, 'must be string'));
  }
  const metadata = schema.properties?.['metadata'];
  if (metadata?.type !== undefined && metadata.type !== 'object') {
    errors.push(invalid(`${path}.properties[metadata].type`, metadata.type, 'must be object'));
  }
  if (level === 'root' && metadata !== undefined) {
    const { type: _type, properties = {}, description: _description, ...rest } = metadata;
    const known = Object.keys(properties).every((key) => key === 'name' || key === 'generateName');
    if (!known || Object.keys(rest).length > 0) {
      const text = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
      errors.push(forbidden(`${path}.properties[metadata]`, text));
    }
  }
  if (embedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && schema.properties === undefined) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, text));
  }
}

/** Items of a set are compared as a whole, so they must be atomic. */
function checkSetItems(items: Schema | undefined, path: string, errors: FieldError[]): void {
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const mapType = items?.['x-kubernetes-map-type'];
  const listType = items?.['x-kubernetes-list-type'];
  if (items?.type === 'object' && mapType !== 'atomic') {
    errors.push(invalid(`${path}.x-kubernetes-map-type`, mapType ?? null, text));
  }
  if (items?.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(invalid(`${path}.x-kubernetes-list-type`, listType, text));
  }
}

function checkLists(schema: Schema, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (listType !== undefined) {
    if (schema.type !== 'array') {
      const text = 'must be array if x-kubernetes-list-type is specified';
      errors.push(
        schema.type === undefined ? required(`${path}.type`, text) : invalid(`${path}.type`, schema.type, text),
      );
    }
    if (!['atomic', 'set', 'map'].includes(listType)) {
      errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']));
    }
  }
  if (keys.length > 0 && listType !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const fieldPath = `${path}.x-kubernetes-list-type`;
    errors.push(listType === undefined ? required(fieldPath, text) : invalid(fieldPath, listType, text));
  }
  if (listType === 'set') checkSetItems(schema.items, `${path}.items`, errors);
  if (listType !== 'map') return;
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (schema.items?.type !== 'object') {
    if (schema.items !== undefined) {
      const text = "must be object if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(`${path}.items.type`, schema.items.type ?? '', text));
    }
    return;
  }
  const { items } = schema;
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) errors.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
    else if (property.default === undefined && items.required?.includes(key) !== true) {
      const text =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(`${path}.items.properties[${key}].default`, text));
    }
  }
}

function checkPattern(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema.pattern === undefined) return;
  try {
    re2(schema.pattern);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    errors.push(invalid(`${path}.pattern`, schema.pattern, `must be a valid regular expression, but isn't: ${why}`));
  }
}

const nestedEmpty = ['title', 'description', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'] as const;
const nestedFalse = [
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
] as const;
const nestedUndefined = ['default', 'additionalProperties', 'x-kubernetes-list-type', 'x-kubernetes-map-type'] as const;

/** allOf, anyOf, oneOf and not may only contain validation, not the structure of an object. */
function checkJunctions(schema: Schema, path: string, errors: FieldError[]): void {
  const skipAnyOf = isIntOrStringPattern(schema.anyOf);
  if (!skipAnyOf)
    for (const [index, part] of (schema.anyOf ?? []).entries())
      checkNested(part, `${path}.anyOf[${index}]`, false, errors);
  for (const [index, part] of (schema.oneOf ?? []).entries())
    checkNested(part, `${path}.oneOf[${index}]`, false, errors);
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    checkNested(part, `${path}.allOf[${index}]`, index === 0 && isIntOrStringPattern(part.anyOf), errors);
  }
  if (schema.not !== undefined) checkNested(schema.not, `${path}.not`, false, errors);
  for (const part of [
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
    ...(schema.not === undefined ? [] : [schema.not]),
  ]) {
    if (!skipAnyOf) checkComplete(part, schema, path, errors);
  }
}

function isIntOrStringPattern(anyOf: readonly Schema[] | undefined): boolean {
  return anyOf?.length === 2 && anyOf[0]?.type === 'integer' && anyOf[1]?.type === 'string';
}

function checkNested(schema: Schema, path: string, skipAnyOf: boolean, errors: FieldError[]): void {
  const written = schema as Readonly<Record<string, unknown>>;
  if (schema.type !== undefined) errors.push(forbidden(`${path}.type`, 'must be empty to be structural'));
  for (const key of nestedEmpty)
    if (written[key] !== undefined) errors.push(forbidden(`${path}.${key}`, 'must be empty to be structural'));
  for (const key of nestedFalse)
    if (written[key] === true) errors.push(forbidden(`${path}.${key}`, 'must be false to be structural'));
  for (const key of nestedUndefined) {
    if (written[key] !== undefined) errors.push(forbidden(`${path}.${key}`, 'must be undefined to be structural'));
  }
  if (schema.properties?.['metadata'] !== undefined) {
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  checkPattern(schema, path, errors);
  if (!skipAnyOf) checkJunctions(schema, path, errors);
  if (schema.items !== undefined) checkNested(schema.items, `${path}.items`, false, errors);
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    checkNested(child, `${path}.properties[${key}]`, false, errors);
  }
}

/** All fields and lists in a nested part must also be declared outside it. */
function checkComplete(part: Schema, outside: Schema, path: string, errors: FieldError[]): void {
  for (const [key, child] of Object.entries(part.properties ?? {})) {
    const described = outside.properties?.[key];
    const fieldPath = `${path}.properties[${key}]`;
    if (described !== undefined) checkComplete(child, described, fieldPath, errors);
    else if (outside.additionalProperties === undefined && outside['x-kubernetes-preserve-unknown-fields'] !== true) {
      errors.push(required(fieldPath, `because it is defined in ${path}`));
    }
  }
  if (part.items === undefined) return;
  if (outside.items === undefined) errors.push(required(`${path}.items`, `because it is defined in ${path}`));
  else checkComplete(part.items, outside.items, `${path}.items`, errors);
}

/** A default must be valid under its own schema. */
function checkDefaults(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema.default !== undefined) {
    const fieldPath = `${path}.default`;
    const { value, unknownFields } = normalise(
      { type: 'object', properties: { default: schema } },
      { default: schema.default },
      definition('meta.v1.ObjectMeta'),
    );
    for (const field of unknownFields)
      errors.push(invalid(fieldPath, schema.default, `must not have unknown fields: ${field}`));
    const completed = (value as { default?: unknown }).default;
    for (const error of validateValue(schema, completed)) {
      errors.push({ ...error, field: error.field === '' ? fieldPath : `${fieldPath}.${error.field}` });
    }
  }
  for (const [key, child] of Object.entries(schema.properties ?? {}))
    checkDefaults(child, `${path}.properties[${key}]`, errors);
  if (schema.items !== undefined) checkDefaults(schema.items, `${path}.items`, errors);
  if (typeof schema.additionalProperties === 'object') {
    checkDefaults(schema.additionalProperties, `${path}.additionalProperties`, errors);
  }
}
