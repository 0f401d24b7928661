// Strategic merge patch: a merge patch where the schema declares which lists are merged, and by which key.
// Called for `application/strategic-merge-patch+json`; kubectl sends it for built-in kinds.
import type { Schema } from '../../schema/types.ts';
import { PatchError } from '../errors.ts';
import { isList, isObject, ownValue, sameJson, typeName, withField, withoutField } from '../json.ts';
import type { JsonList, JsonObject } from '../json.ts';
import {
  DELETE_FROM_PRIMITIVE_LIST,
  isDirectiveKey,
  MARKER,
  markerText,
  newValue,
  parallelListField,
  plainValue,
  RETAIN_KEYS,
  SET_ELEMENT_ORDER,
} from './directives.ts';
import { deleteScalars, elementKind, mergeByKey, mergeScalars, orderElements } from './lists.ts';

/** How a field is merged, and the schema of its value or items. */
interface FieldRules {
  readonly inner: Schema;
  readonly replace: boolean;
  readonly merge: boolean;
  readonly mergeKey: string | undefined;
}

/** Applies a strategic merge patch. Fields without a patch strategy are merged as in a JSON merge patch. */
export function applyStrategicMergePatch(schema: Schema, document: JsonObject, patch: unknown): JsonObject {
  if (!isObject(patch)) throw new PatchError(400, 'invalid JSON document: a strategic merge patch must be an object');
  return mergeObject(schema, document, patch, '');
}

function mergeObject(schema: Schema, original: JsonObject, patch: JsonObject, path: string): JsonObject {
  if (Object.hasOwn(patch, MARKER)) return markedObject(patch, path);
  let result = retainKeys(original, patch, path);
  const ordered = new Set<string>();
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(SET_ELEMENT_ORDER)) continue;
    const field = parallelListField(key, SET_ELEMENT_ORDER, path);
    result = mergeInOrder(schema, result, patch, field, order, path);
    ordered.add(field);
  }
  for (const [key, value] of Object.entries(patch)) {
    if (key === RETAIN_KEYS || key.startsWith(SET_ELEMENT_ORDER) || ordered.has(key)) continue;
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST)) {
      result = deleteFromList(result, parallelListField(key, DELETE_FROM_PRIMITIVE_LIST, path), value, path);
    } else {
      result = mergeField(schema, result, key, value, `${path}.${key}`);
    }
  }
  return result;
}

/** The result of an object with `$patch`, which replaces or deletes instead of merging. */
function markedObject(patch: JsonObject, path: string): JsonObject {
  const marker = patch[MARKER];
  if (marker === 'delete') return {};
  if (marker === 'replace') return plainValue(withoutField(patch, MARKER)) as JsonObject;
  throw new PatchError(
    400,
    `unknown patch type: ${markerText(marker)} in ${path || 'the patch'}: use delete or replace`,
  );
}

function mergeField(schema: Schema, target: JsonObject, key: string, value: unknown, path: string): JsonObject {
  if (value === null) return withoutField(target, key);
  const current = ownValue(target, key);
  const rules = fieldRules(schema, key);
  if (isObject(current) && isObject(value)) {
    const merged = rules.replace ? plainValue(value) : mergeObject(rules.inner, current, value, path);
    return setField(target, key, merged);
  }
  if (isList(current) && isList(value)) {
    return setField(target, key, rules.merge ? mergeList(rules, current, value, path) : plainValue(value));
  }
  const fresh = newValue(value);
  return fresh === undefined ? withoutField(target, key) : setField(target, key, fresh);
}

/** Keeps an equal old value, so that unchanged parts stay shared. */
function setField(target: JsonObject, key: string, value: unknown): JsonObject {
  return sameJson(ownValue(target, key), value) ? target : withField(target, key, value);
}

function mergeList(rules: FieldRules, original: JsonList, patch: JsonList, path: string): JsonList {
  if (original.length === 0 && patch.length === 0) return original;
  if (elementKind([original, patch], path) !== 'object') return mergeScalars(original, patch);
  const mergeKey = requireMergeKey(rules, path);
  return mergeByKey(original, patch, mergeKey, path, (current, change, itemPath) =>
    mergeObject(rules.inner, current, change, itemPath),
  );
}

/** Merges a list with the order of `$setElementOrder/<field>`, or only reorders it. */
function mergeInOrder(
  schema: Schema,
  target: JsonObject,
  patch: JsonObject,
  field: string,
  order: unknown,
  path: string,
): JsonObject {
  const fieldPath = `${path}.${field}`;
  if (!isList(order)) throw badOrder(fieldPath, `must be a list, found ${typeName(order)}`);
  const original = listOrNothing(target, field, fieldPath);
  const change = listOrNothing(patch, field, fieldPath);
  const rules = fieldRules(schema, field);
  if (change !== undefined) checkOrder(change, order, rules.mergeKey, fieldPath);
  const merged =
    original === undefined
      ? (newValue(change) as JsonList | undefined)
      : change === undefined
        ? original
        : rules.merge
          ? mergeList(rules, original, change, fieldPath)
          : (plainValue(change) as JsonList);
  if (merged === undefined) return target;
  return setField(target, field, orderElements(merged, order, original ?? [], rules.mergeKey, fieldPath));
}

/** The directive must list all items of the patch, in their order. */
function checkOrder(change: JsonList, order: JsonList, mergeKey: string | undefined, path: string): void {
  if (change.length === 0 || order.length === 0) return;
  const keyOf = (item: unknown): unknown =>
    mergeKey !== undefined && isObject(item) ? ownValue(item, mergeKey) : item;
  let position = 0;
  for (const item of change) {
    const marker = isObject(item) ? ownValue(item, MARKER) : undefined;
    // Markers need not be listed; kube-apiserver only requires that a `replace` comes before the order ends.
    if (marker === 'delete' || (marker !== undefined && position < order.length)) continue;
    const found = order.findIndex((entry, index) => index >= position && sameJson(keyOf(entry), keyOf(item)));
    if (found < 0) throw badOrder(path, `does not list the items of the patch in their order`, 422);
    position = found + 1;
  }
}

function badOrder(path: string, problem: string, code: 400 | 422 = 400): PatchError {
  return new PatchError(code, `invalid patch format of setElementOrder list: $setElementOrder of ${path} ${problem}`);
}

function deleteFromList(target: JsonObject, field: string, value: unknown, path: string): JsonObject {
  const current = ownValue(target, field);
  if (value === null) return withoutField(target, field);
  if (!isList(value)) {
    throw new PatchError(
      400,
      `invalid patch format of primitive list: ${path}.$deleteFromPrimitiveList/${field} must be a list`,
    );
  }
  return isList(current) ? setField(target, field, deleteScalars(current, value)) : target;
}

/** `$retainKeys` lists the fields to keep: it clears the other members of a union. */
function retainKeys(original: JsonObject, patch: JsonObject, path: string): JsonObject {
  const retained = patch[RETAIN_KEYS];
  if (retained === undefined) return original;
  const refuse = (problem: string): never => {
    throw new PatchError(400, `invalid patch format of retainKeys: ${path || 'the patch'}: ${problem}`);
  };
  if (!isList(retained)) return refuse(`$retainKeys must be a list, found ${typeName(retained)}`);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !isDirectiveKey(key) && !retained.includes(key)) refuse(`"${key}" is not in $retainKeys`);
  }
  const kept = Object.entries(original).filter(([key]) => retained.includes(key));
  return kept.length === Object.keys(original).length ? original : Object.fromEntries(kept);
}

function fieldRules(schema: Schema, field: string): FieldRules {
  const { properties = {}, additionalProperties } = schema;
  const others = typeof additionalProperties === 'object' ? additionalProperties : {};
  const own = Object.hasOwn(properties, field) ? properties[field]! : others;
  const strategies = own['x-kubernetes-patch-strategy']?.split(',') ?? [];
  return {
    inner: own.items ?? own,
    replace: strategies.includes('replace'),
    merge: strategies.includes('merge'),
    mergeKey: own['x-kubernetes-patch-merge-key'],
  };
}

function requireMergeKey(rules: FieldRules, path: string): string {
  if (rules.mergeKey === undefined) throw new PatchError(422, `cannot merge lists without merge key for ${path}`);
  return rules.mergeKey;
}

function listOrNothing(object: JsonObject, field: string, path: string): JsonList | undefined {
  const value = ownValue(object, field);
  if (value === undefined || isList(value)) return value;
  throw badOrder(path, `needs a list, found ${typeName(value)}`);
}
