// Validates metadata: names, labels, annotations, owner references, finalizers, and changes of them.
import type { ApiObject, Resource } from '../../resource.ts';
import { type FieldError, forbidden, invalid, required, tooLong } from '../../schema/field-error.ts';
import { at, numberAt, objects, stringMap, strings, text } from '../read.ts';
import { labelErrors, nameErrors } from './common.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  type NameCheck,
  pathSegmentProblems,
  qualifiedNameProblems,
} from './names.ts';

const annotationLimit = 256 * 1024;

const nameChecks: Readonly<Record<string, NameCheck>> = {
  '/Namespace': dns1123LabelProblems,
  '/Service': dns1123LabelProblems,
  'rbac.authorization.k8s.io/ClusterRole': pathSegmentProblems,
  'rbac.authorization.k8s.io/ClusterRoleBinding': pathSegmentProblems,
  'rbac.authorization.k8s.io/Role': pathSegmentProblems,
  'rbac.authorization.k8s.io/RoleBinding': pathSegmentProblems,
};

/** The names of a CronJob's jobs have 11 characters more, and must not exceed 63. */
const cronJobNameLimit = 52;

function nameProblems(resource: Resource, name: string): readonly string[] {
  const key = `${resource.group}/${resource.kind}`;
  const problems = (nameChecks[key] ?? dns1123SubdomainProblems)(name);
  if (key === 'batch/CronJob' && name.length > cronJobNameLimit) {
    return [...problems, `must be no more than ${cronJobNameLimit} characters`];
  }
  return problems;
}

export function metadataErrors(resource: Resource, object: ApiObject): FieldError[] {
  const metadata = at(object, 'metadata');
  const errors: FieldError[] = [];
  const name = text(metadata, 'name');
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...nameErrors((value) => nameProblems(resource, value), name, 'metadata.name'));
  const prefix = text(metadata, 'generateName');
  if (prefix !== '') {
    // The prefix may end with a dash, because a suffix follows.
    const check = (value: string): readonly string[] => nameProblems(resource, value.replace(/-$/, 'a'));
    errors.unshift(...nameErrors(check, prefix, 'metadata.generateName'));
  }
  const namespace = text(metadata, 'namespace');
  if (!resource.namespaced) {
    if (namespace !== '') errors.push(forbidden('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') errors.push(required('metadata.namespace'));
  else errors.push(...nameErrors(dns1123LabelProblems, namespace, 'metadata.namespace'));
  const generation = numberAt(metadata, 'generation') ?? 0;
  if (generation < 0) errors.push(invalid('metadata.generation', generation, 'must be greater than or equal to 0'));
  errors.push(...labelErrors(at(metadata, 'labels'), 'metadata.labels'));
  errors.push(...annotationErrors(at(metadata, 'annotations'), 'metadata.annotations'));
  errors.push(
    ...ownerErrors(metadata),
    ...finalizerErrors(metadata, resource.custom || groupsWithAnyFinalizer.has(resource.group)),
  );
  return errors;
}

/** Annotation keys have the syntax of label keys, in any case; their values are limited in total size. */
export function annotationErrors(annotations: unknown, path: string): FieldError[] {
  const entries = Object.entries(stringMap(annotations));
  const errors = entries.flatMap(([key]) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalid(path, key, problem)),
  );
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > annotationLimit) errors.push(tooLong(path, annotationLimit));
  return errors;
}

function ownerErrors(metadata: unknown): FieldError[] {
  const path = 'metadata.ownerReferences';
  const errors: FieldError[] = [];
  let controller = '';
  for (const owner of objects(metadata, 'ownerReferences')) {
    const apiVersion = text(owner, 'apiVersion');
    if (apiVersion === '') errors.push(invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
    for (const field of ['kind', 'name', 'uid']) {
      if (text(owner, field) === '') errors.push(invalid(`${path}.${field}`, '', 'must not be empty'));
    }
    if (apiVersion === 'v1' && owner['kind'] === 'Event') {
      errors.push(invalid(path, owner, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (owner['controller'] !== true) continue;
    const name = `${text(owner, 'kind')}/${text(owner, 'name')}`;
    if (controller === '') controller = name;
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(path, at(metadata, 'ownerReferences'), why));
    }
  }
  return errors;
}

/** Groups that accept any qualified name as finalizer, as custom resources do. */
const groupsWithAnyFinalizer = new Set(['apiextensions.k8s.io', 'admissionregistration.k8s.io']);
const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function finalizerErrors(metadata: unknown, anyNameAllowed: boolean): FieldError[] {
  const finalizers = strings(metadata, 'finalizers');
  const errors = finalizers.flatMap((name) => nameErrors(qualifiedNameProblems, name, 'metadata.finalizers'));
  for (const [index, name] of finalizers.entries()) {
    if (anyNameAllowed || name.includes('/') || standardFinalizers.has(name)) continue;
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.push(invalid(`metadata.finalizers[${index}]`, name, why));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalid('metadata.finalizers', finalizers, why));
  }
  return errors;
}

/** Changes that are not allowed in an update. resourceVersion and uid are checked elsewhere. */
export function metadataChangeErrors(next: ApiObject, old: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['name', 'namespace', 'creationTimestamp']) {
    const value = text(next, 'metadata', field);
    if (value !== text(old, 'metadata', field)) errors.push(invalid(`metadata.${field}`, value, 'field is immutable'));
  }
  if (text(old, 'metadata', 'deletionTimestamp') !== '') {
    const before = new Set(strings(old, 'metadata', 'finalizers'));
    const added = strings(next, 'metadata', 'finalizers').filter((name) => !before.has(name));
    if (added.length > 0) {
      const list = added
        .sort()
        .map((name) => JSON.stringify(name))
        .join(', ');
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
      errors.push(forbidden('metadata.finalizers', why));
    }
  }
  return errors;
}
