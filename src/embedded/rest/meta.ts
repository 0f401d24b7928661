// The metadata of objects: names, identity, and what may never change. Called by create and update.
import { randomInt, randomUUID } from 'node:crypto';
import type { AnyObject, ObjectMeta } from '../../kube/objects.ts';
import { forbidden, invalid, required, tooLong } from '../schema/field-error.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { Target } from './context.ts';

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const startingWithLetter = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const startingWithLetterText =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/** What is wrong with the name of an object of this kind. */
function nameProblems(target: Target, name: string): FieldError[] {
  const field = 'metadata.name';
  if (name === '') return [required(field, 'name or generateName is required')];
  const { group, plural } = target.resource;
  if (group === 'rbac.authorization.k8s.io') {
    if (name === '.' || name === '..') return [invalid(field, name, `may not be '${name}'`)];
    return ['/', '%']
      .filter((sign) => name.includes(sign))
      .map((sign) => invalid(field, name, `may not contain '${sign}'`));
  }
  const [pattern, limit, text] =
    group === '' && plural === 'services'
      ? ([startingWithLetter, 63, startingWithLetterText] as const)
      : group === '' && plural === 'namespaces'
        ? ([label, 63, labelText] as const)
        : ([subdomain, 253, subdomainText] as const);
  const problems: FieldError[] = [];
  if (!pattern.test(name)) problems.push(invalid(field, name, text));
  if (name.length > limit) {
    problems.push(tooLong(field, limit));
  }
  return problems;
}

const keyPrefix = subdomain;
const keyName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const keyText =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const annotationLimit = 256 * 1024;

/** What is wrong with the metadata of an object, its name included. */
export function metaProblems(target: Target, object: AnyObject): FieldError[] {
  const { name, labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = object.metadata;
  const problems = nameProblems(target, name ?? '');
  for (const [key, value] of Object.entries(labels)) {
    problems.push(...keyProblems('metadata.labels', key));
    if (value.length > 63) {
      problems.push(invalid('metadata.labels', value, 'must be no more than 63 bytes'));
    }
    if (!labelValue.test(value)) problems.push(invalid('metadata.labels', value, valueText));
  }
  let size = 0;
  for (const [key, value] of Object.entries(annotations)) {
    problems.push(...keyProblems('metadata.annotations', key.toLowerCase()));
    size += key.length + value.length;
  }
  if (size > annotationLimit) {
    problems.push(tooLong('metadata.annotations', annotationLimit));
  }
  for (const finalizer of finalizers) problems.push(...keyProblems('metadata.finalizers', finalizer));
  for (const [index, owner] of ownerReferences.entries()) {
    for (const part of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if ((owner[part] ?? '') !== '') continue;
      const field = `metadata.ownerReferences[${index}].${part}`;
      problems.push(
        invalid(field, owner[part] ?? '', part === 'apiVersion' ? 'version must not be empty' : 'must not be empty'),
      );
    }
  }
  if (ownerReferences.filter((owner) => owner.controller === true).length > 1) {
    const detail = 'Only one reference can have Controller set to true';
    problems.push(invalid('metadata.ownerReferences', ownerReferences, detail));
  }
  return problems;
}

function keyProblems(field: string, key: string): FieldError[] {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const problems: FieldError[] = [];
  if (prefix !== undefined && !keyPrefix.test(prefix)) {
    problems.push(invalid(field, key, `prefix part ${prefix === '' ? 'must be non-empty' : subdomainText}`));
  }
  if (name.length > 63) problems.push(invalid(field, key, 'name part must be no more than 63 bytes'));
  if (!keyName.test(name)) problems.push(invalid(field, key, name === '' ? 'name part must be non-empty' : keyText));
  return problems;
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** A name that starts with the prefix and ends with five random letters. */
export function generatedName(prefix: string): string {
  let suffix = '';
  for (let index = 0; index < 5; index++) suffix += suffixAlphabet[randomInt(suffixAlphabet.length)];
  return `${prefix.slice(0, 58)}${suffix}`;
}

/** A time as the API writes it: whole seconds. */
export function timestamp(milliseconds: number = Date.now()): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}

/** The metadata of a new object: what the caller may set, and the identity that the server gives. */
export function newMeta(given: ObjectMeta, name: string, namespace: string, generation: boolean): ObjectMeta {
  const {
    resourceVersion: _version,
    selfLink: _link,
    deletionTimestamp: _time,
    ...rest
  } = given as ObjectMeta & {
    selfLink?: string;
  };
  const { deletionGracePeriodSeconds: _grace, generation: _generation, namespace: _namespace, ...kept } = rest;
  return withoutEmpty({
    ...kept,
    name,
    ...(namespace !== '' && { namespace }),
    uid: randomUUID(),
    ...(generation && { generation: 1 }),
    creationTimestamp: timestamp(),
  });
}

/** The metadata of a changed object: identity comes from the old state, whatever the caller sent. */
export function changedMeta(given: ObjectMeta, old: ObjectMeta): ObjectMeta {
  const { selfLink: _link, ...kept } = given as ObjectMeta & { selfLink?: string };
  const fixed: Record<string, unknown> = { ...kept };
  for (const field of [
    'name',
    'namespace',
    'generateName',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
  ] as const) {
    if (old[field] === undefined) delete fixed[field];
    else fixed[field] = old[field];
  }
  return withoutEmpty(fixed as unknown as ObjectMeta);
}

function withoutEmpty(meta: ObjectMeta): ObjectMeta {
  const result: Record<string, unknown> = { ...meta };
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'] as const) {
    const value = meta[field];
    if (value === undefined) continue;
    if (value === null || (Array.isArray(value) ? value.length : Object.keys(value).length) === 0) delete result[field];
  }
  return result as unknown as ObjectMeta;
}

/** What an update may not do to the metadata. */
export function changeProblems(next: ObjectMeta, old: ObjectMeta): FieldError[] {
  if (old.deletionTimestamp === undefined) return [];
  const added = (next.finalizers ?? []).filter((finalizer) => !(old.finalizers ?? []).includes(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [forbidden('metadata.finalizers', text)];
}
