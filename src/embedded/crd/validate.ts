// Validates CustomResourceDefinitions.
import { isDeepStrictEqual } from 'node:util';
import { at, isObject, objects, strings, text } from '../kinds/read.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../kinds/validate/names.ts';
import type { ApiObject } from '../resource.ts';
import { type FieldError, invalid, notSupported, required } from '../schema/field-error.ts';
import { conversionProblems } from './conversion-problems.ts';
import { compileJsonPath, simplePath } from './jsonpath.ts';
import { structuralProblems } from './structural.ts';

/** All validation errors of a definition; with the old one, also changes of immutable fields. */
export function definitionProblems(definition: ApiObject, old?: ApiObject): FieldError[] {
  const spec = at(definition, 'spec');
  const errors: FieldError[] = [];
  const group = text(spec, 'group');
  const plural = text(spec, 'names', 'plural');
  const name = text(definition, 'metadata', 'name');
  if (old === undefined && name !== `${plural}.${group}`) {
    errors.push(invalid('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  checkGroup(group, definition, errors);
  checkChoice('spec.scope', text(spec, 'scope'), ['Cluster', 'Namespaced'], errors);
  checkVersions(spec, errors);
  checkNames(spec, errors);
  if (at(spec, 'preserveUnknownFields') === true && at(old, 'spec', 'preserveUnknownFields') !== true) {
    const text =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(invalid('spec.preserveUnknownFields', true, text));
  }
  errors.push(...conversionProblems(at(spec, 'conversion')));
  if (old === undefined) checkStored(spec, errors);
  else checkUnchanged(spec, at(old, 'spec'), errors);
  return errors;
}

function checkChoice(path: string, value: string, choices: readonly string[], errors: FieldError[]): void {
  if (value === '') errors.push(required(path));
  else if (!choices.includes(value)) errors.push(notSupported(path, value, choices));
}

function checkGroup(group: string, definition: ApiObject, errors: FieldError[]): void {
  if (group === '') {
    errors.push(required('spec.group'));
    return;
  }
  const problems = dns1123SubdomainProblems(group);
  if (problems.length > 0) errors.push(invalid('spec.group', group, problems.join(',')));
  else if (!group.includes('.')) errors.push(invalid('spec.group', group, 'should be a domain with at least one dot'));
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group);
  if (isProtected && text(definition, 'metadata', 'annotations', 'api-approved.kubernetes.io') === '') {
    const field = 'metadata.annotations[api-approved.kubernetes.io]';
    const why =
      'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';
    errors.push(required(field, why));
  }
}

/** The path for errors in a field of a version: if it is the same in all versions, it is reported once, at the spec. */
function partPath(versions: readonly ApiObject[], field: string, index: number, shared: string): string | undefined {
  const same = versions.every((version) => isDeepStrictEqual(version[field], versions[0]?.[field]));
  if (!same) return `spec.versions[${index}].${field}`;
  return index === 0 ? `spec.${shared}` : undefined;
}

function checkVersions(spec: unknown, errors: FieldError[]): void {
  const versions = objects(spec, 'versions');
  for (const [index, version] of versions.entries()) {
    if (!isObject(at(version, 'schema', 'openAPIV3Schema'))) {
      errors.push(required(`spec.versions[${index}].schema.openAPIV3Schema`));
    }
  }
  for (const [index, version] of versions.entries()) checkVersion(version, index, versions, errors);
  const names = versions.map((version) => text(version, 'name'));
  if (new Set(names).size !== names.length) {
    errors.push(invalid('spec.versions', at(spec, 'versions'), 'must contain unique version names'));
  }
  if (versions.filter((version) => version['storage'] === true).length !== 1) {
    const why = 'must have exactly one version marked as storage version';
    errors.push(invalid('spec.versions', at(spec, 'versions') ?? null, why));
  }
}

/** Errors that the real server reports for `status.storedVersions` of a new definition. */
function checkStored(spec: unknown, errors: FieldError[]): void {
  const stored = objects(spec, 'versions').filter((version) => version['storage'] === true);
  const field = 'status.storedVersions';
  if (stored.length === 0) errors.push(invalid(field, null, 'must have at least one stored version'));
  if (stored.length > 1) {
    const why = `must have the storage version ${text(stored.at(-1), 'name')}`;
    errors.push(invalid(field, [text(stored[0], 'name')], why));
  }
}

function checkVersion(version: ApiObject, index: number, versions: readonly ApiObject[], errors: FieldError[]): void {
  const name = text(version, 'name');
  const problems = dns1035LabelProblems(name);
  if (problems.length > 0) errors.push(invalid(`spec.versions[${index}].name`, name, problems.join(',')));
  // The real server also reports the first version under the removed field `spec.version`.
  if (problems.length > 0 && index === 0) errors.push(invalid('spec.version', name, problems.join(',')));
  const schema = at(version, 'schema', 'openAPIV3Schema');
  const schemaPath = partPath(versions, 'schema', index, 'validation');
  if (isObject(schema) && schemaPath !== undefined) {
    errors.push(...structuralProblems(schema, `${schemaPath}.openAPIV3Schema`));
  }
  const subresources = partPath(versions, 'subresources', index, 'subresources');
  const scale = at(version, 'subresources', 'scale');
  if (isObject(scale) && subresources !== undefined) checkScale(scale, `${subresources}.scale`, errors);
  const columns = partPath(versions, 'additionalPrinterColumns', index, 'additionalPrinterColumns');
  if (columns !== undefined) {
    for (const [item, column] of objects(version, 'additionalPrinterColumns').entries()) {
      checkColumn(column, `${columns}[${item}]`, errors);
    }
  }
  const selectable = partPath(versions, 'selectableFields', index, 'selectableFields');
  if (selectable !== undefined) {
    for (const [item, field] of objects(version, 'selectableFields').entries()) {
      checkPath(text(field, 'jsonPath'), `${selectable}[${item}].jsonPath`, errors);
    }
  }
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];

function checkColumn(column: ApiObject, path: string, errors: FieldError[]): void {
  if (text(column, 'name') === '') errors.push(required(`${path}.name`));
  const type = text(column, 'type');
  if (type === '') errors.push(required(`${path}.type`, `must be one of ${columnTypes.join(',')}`));
  else if (!columnTypes.includes(type)) {
    errors.push(invalid(`${path}.type`, type, `must be one of ${columnTypes.join(',')}`));
  }
  checkPath(text(column, 'jsonPath'), `${path}.JSONPath`, errors);
}

function checkPath(jsonPath: string, path: string, errors: FieldError[]): void {
  if (jsonPath === '') {
    errors.push(required(path));
    return;
  }
  try {
    if (!jsonPath.startsWith('.')) throw new Error('must be a simple json path starting with .');
    compileJsonPath(jsonPath);
  } catch (error) {
    errors.push(invalid(path, jsonPath, error instanceof Error ? error.message : String(error)));
  }
}

function checkScale(scale: unknown, path: string, errors: FieldError[]): void {
  for (const [field, prefix] of [
    ['specReplicasPath', '.spec.'],
    ['statusReplicasPath', '.status.'],
  ] as const) {
    const value = text(scale, field);
    if (value === '') errors.push(required(`${path}.${field}`));
    else if (!value.startsWith(prefix) || simplePath(value) === undefined) {
      errors.push(invalid(`${path}.${field}`, value, `should be a json path under ${prefix.slice(0, -1)}`));
    }
  }
}

function checkNames(spec: unknown, errors: FieldError[]): void {
  const names = at(spec, 'names');
  for (const field of ['plural', 'singular', 'kind', 'listKind']) {
    const value = text(names, field);
    if (value === '') {
      errors.push(required(`spec.names.${field}`));
      continue;
    }
    const isKind = field === 'kind' || field === 'listKind';
    const problems = dns1035LabelProblems(isKind ? value.toLowerCase() : value);
    if (problems.length > 0) {
      const what = isKind
        ? `may have mixed case, but should otherwise match: ${problems.join(',')}`
        : problems.join(',');
      errors.push(invalid(`spec.names.${field}`, value, what));
    }
  }
  if (text(names, 'kind') !== '' && text(names, 'kind') === text(names, 'listKind')) {
    errors.push(invalid('spec.names.listKind', text(names, 'listKind'), 'kind and listKind may not be the same'));
  }
  for (const field of ['shortNames', 'categories']) {
    for (const [index, value] of strings(names, field).entries()) {
      const problems = dns1035LabelProblems(value);
      if (problems.length > 0) errors.push(invalid(`spec.names.${field}[${index}]`, value, problems.join(',')));
    }
  }
}

/** These fields are immutable, because existing objects depend on them. */
function checkUnchanged(spec: unknown, old: unknown, errors: FieldError[]): void {
  for (const path of [['group'], ['scope'], ['names', 'kind'], ['names', 'plural']]) {
    const value = text(spec, ...path);
    if (text(old, ...path) !== value) errors.push(invalid(`spec.${path.join('.')}`, value, 'field is immutable'));
  }
}

/** A version in which objects are stored must not be removed from a definition. */
export function storedVersionProblems(definition: ApiObject): FieldError[] {
  const names = new Set(objects(definition, 'spec', 'versions').map((version) => text(version, 'name')));
  return strings(definition, 'status', 'storedVersions').flatMap((version, index) =>
    names.has(version)
      ? []
      : [
          invalid(
            `status.storedVersions[${index}]`,
            version,
            `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`,
          ),
        ],
  );
}
