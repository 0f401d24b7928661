// The first checks of a request body: is it an object of the right kind, and does it match the path? conform.ts checks
// the rest.
import type { AnyObject } from '../../../kube/objects.ts';
import { apiVersionOf } from '../../registry.ts';
import type { Target } from '../context.ts';
import { invalid as invalidValue } from '../../schema/field-error.ts';
import { countValues } from '../wire/body.ts';
import { badRequest, Fault, invalid } from '../fault.ts';

/** Writing an object with this many values blocks the server for a fifth of a second. */
const valueLimit = 20_000;
/** The managedFields grow with the number of fields and of field managers. */
const managedFieldsLimit = 50_000;

/**
 * Refuses namespaced objects and patches that would block the server for too long, including objects that became too
 * large through a small patch. Cluster-scoped objects, such as CustomResourceDefinitions, are written by administrators
 * and not limited here.
 */
export function refuseExcess({ resource }: Target, object: object): void {
  if (!resource.namespaced) return;
  const { managedFields } = (object as Partial<AnyObject>).metadata ?? {};
  const owners = managedFields === undefined ? 0 : countValues(managedFields);
  const refuse = (what: string, limit: number): never => {
    throw new Fault(413, 'RequestEntityTooLarge', `the object is too large: the limit is ${limit} ${what}`);
  };
  if (countValues(object) - owners > valueLimit) refuse('values', valueLimit);
  if (owners > managedFieldsLimit) refuse('owned fields', managedFieldsLimit);
}

/** Checks that the body of a create or update is an object of the target's kind, and completes its metadata. */
export function incomingObject(target: Target, body: unknown): AnyObject {
  const { resource } = target;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest(`the request body must be a ${resource.kind} object, found ${describe(body)}`);
  }
  const given = body as Record<string, unknown>;
  const apiVersion = apiVersionOf(resource);
  const kind = given['kind'] ?? resource.kind;
  if ((given['apiVersion'] ?? apiVersion) !== apiVersion) {
    throw badRequest(
      `the API version in the data (${text(given['apiVersion'])}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (kind !== resource.kind && resource.custom) {
    const name = text((given['metadata'] as { name?: unknown } | undefined)?.name ?? '');
    const wrong = invalidValue('kind', kind, `must be ${resource.kind}`);
    throw invalid({ group: resource.group, kind: text(kind) }, name, [wrong]);
  }
  if (kind !== resource.kind) {
    throw badRequest(`${text(kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}`);
  }
  const metadata = checkedMetadata(target, given['metadata'] ?? {});
  if (resource.namespaced && target.namespace !== '') {
    if ((metadata['namespace'] ?? '') === '') metadata['namespace'] = target.namespace;
    if (metadata['namespace'] !== target.namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
    }
  } else if (!resource.namespaced) delete metadata['namespace'];
  if (target.name !== '') {
    if ((metadata['name'] ?? '') === '') {
      throw badRequest(
        `the name of the object (${target.name} based on URL) was undeterminable: name must be provided`,
      );
    }
    if (metadata['name'] !== target.name) {
      throw badRequest(
        `the name of the object (${text(metadata['name'])}) does not match the name on the URL (${target.name})`,
      );
    }
  }
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest } = given;
  const object = { apiVersion, kind: resource.kind, metadata, ...rest } as unknown as AnyObject;
  refuseExcess(target, object);
  return object;
}

const stringFields = ['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'];
const stringMaps = ['labels', 'annotations'];
const lists = ['finalizers', 'ownerReferences', 'managedFields'];

/** Checks the types of the metadata fields that every verb relies on; drops nulls. */
function checkedMetadata(target: Target, metadata: unknown): Record<string, unknown> {
  const refuse = (field: string, expected: string, found: unknown): never => {
    throw badRequest(
      `${target.resource.kind} in version "${target.resource.version}" cannot be handled as a ${target.resource.kind}: ` +
        `json: cannot unmarshal ${describe(found)} into Go struct field ${field} of type ${expected}`,
    );
  };
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    return refuse(`${target.resource.kind}.metadata`, 'v1.ObjectMeta', metadata);
  }
  const checked = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
  for (const field of stringFields) {
    if (checked[field] !== undefined && typeof checked[field] !== 'string')
      refuse(metaField(field), 'string', checked[field]);
  }
  const { creationTimestamp: time } = checked;
  if (typeof time === 'string' && Number.isNaN(Date.parse(time))) {
    const why = `parsing time "${time}" as "2006-01-02T15:04:05Z07:00": cannot parse "${time}" as "2006"`;
    throw badRequest(
      `${target.resource.kind} in version "${target.resource.version}" cannot be handled as a ${target.resource.kind}: ${why}`,
    );
  }
  for (const field of stringMaps) {
    const map = checked[field];
    if (map === undefined) continue;
    if (typeof map !== 'object' || Array.isArray(map)) refuse(metaField(field), 'map[string]string', map);
    for (const value of Object.values(map as object)) {
      if (typeof value !== 'string') refuse(metaField(field), 'string', value);
    }
  }
  for (const field of lists) {
    const list: unknown = checked[field];
    if (list === undefined) continue;
    if (!Array.isArray(list)) return refuse(metaField(field), 'array', list);
    const expected = field === 'finalizers' ? 'string' : 'object';
    for (const item of list) {
      if (typeof item !== expected || item === null) refuse(metaField(field), expected, item);
    }
  }
  return checked;
}

function metaField(name: string): string {
  return `ObjectMeta.metadata.${name}`;
}

function describe(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
