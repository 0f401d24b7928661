// Migration from client-side to server-side `kubectl apply`: kubectl may take over the fields of the last-applied
// annotation without a conflict, and the annotation is kept up to date for migrating back.
import type { Schema } from '../../schema/types.ts';
import { compareStrings, scalarText } from '../fields/field-path.ts';
import { difference, NO_FIELDS, type FieldSet } from '../fields/field-set.ts';
import { isList, isObject, withField, withoutField, type JsonObject } from '../json.ts';
import { compareTyped } from '../typed/compare.ts';
import { fieldsOf } from '../typed/fields.ts';
import { structureErrors } from '../typed/validate.ts';

const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** The only manager that this applies to: others never write the annotation. */
export const KUBECTL = 'kubectl';

/** The fields that client-side apply set and whose value has not changed since. */
export function clientSideFields(schema: Schema, live: JsonObject, apiVersion: string): FieldSet {
  const lastApplied = parse(annotationsOf(live)[ANNOTATION]);
  if (lastApplied?.['apiVersion'] !== apiVersion) return NO_FIELDS;
  if ([lastApplied, live].some((object) => structureErrors(schema, object).length > 0)) return NO_FIELDS;
  const { modified, added, removed } = compareTyped(schema, lastApplied, live);
  return difference(difference(difference(fieldsOf(schema, lastApplied), modified), added), removed);
}

/** Sets the annotation to the applied configuration, if the object has the annotation. */
export function refreshLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const before = annotations[ANNOTATION];
  if (typeof before !== 'string' || before === '') return object;
  const updated = withField(annotations, ANNOTATION, `${encode(withoutAnnotation(applied))}\n`);
  const size = Object.entries(updated).reduce((sum, entry) => sum + Buffer.byteLength(entry.join('')), 0);
  const fitting = size > MAX_ANNOTATION_BYTES ? withoutField(annotations, ANNOTATION) : updated;
  return withField(object, 'metadata', withField(object['metadata'] as JsonObject, 'annotations', fitting));
}

function annotationsOf(object: JsonObject): JsonObject {
  const metadata = object['metadata'];
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return isObject(annotations) ? annotations : {};
}

function withoutAnnotation(object: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (!Object.hasOwn(annotations, ANNOTATION)) return object;
  const metadata = withField(object['metadata'] as JsonObject, 'annotations', withoutField(annotations, ANNOTATION));
  return withField(object, 'metadata', metadata);
}

function parse(text: unknown): JsonObject | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON with sorted keys, as kubectl writes the annotation, so that applying the same file again changes nothing. */
function encode(value: unknown): string {
  if (isList(value)) return `[${value.map(encode).join(',')}]`;
  if (!isObject(value)) return scalarText(value);
  const keys = Object.keys(value).sort(compareStrings);
  return `{${keys.map((key) => `${scalarText(key)}:${encode(value[key])}`).join(',')}}`;
}
