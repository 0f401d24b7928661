// The first look at an object that came in: is it one, is it of this kind, does it agree with the path. The rest of its
// shape is checked by conform.ts.
import type { AnyObject } from '../../kube/objects.ts';
import { apiVersionOf } from '../registry.ts';
import type { Target } from './context.ts';
import { invalid as invalidValue } from '../schema/field-error.ts';
import { countValues } from './body.ts';
import { badRequest, Fault, invalid } from './fault.ts';

/** An object of so many values takes a fifth of a second from here to the store, in which nobody else is served. */
const valueLimit = 20_000;
/** The record of who owns what grows with the fields, and with those who apply them. */
const ownersLimit = 50_000;

/**
 * Refuses objects in namespaces that are too large to be handled in a moment, also those that a small patch made so, and
 * patches that are. What belongs to the whole cluster, such as the definition of a kind, is written by those who look
 * after it.
 */
export function refuseExcess({ resource }: Target, object: object): void {
  if (!resource.namespaced) return;
  const { managedFields, ...metadata } = (object as Partial<AnyObject>).metadata ?? { managedFields: undefined };
  const refuse = (what: string, limit: number): never => {
    throw new Fault(413, 'RequestEntityTooLarge', `the object is too large: the limit is ${limit} ${what}`);
  };
  if (countValues({ ...object, metadata }) > valueLimit) refuse('values', valueLimit);
  if (countValues(managedFields) > ownersLimit) refuse('owned fields', ownersLimit);
}

/** The body of a create or an update as an object of the target's kind. */
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

/** Metadata whose parts have the types that every verb relies on; nulls are dropped. */
function checkedMetadata(target: Target, metadata: unknown): Record<string, unknown> {
  const refuse = (field: string, wanted: string, found: unknown): never => {
    throw badRequest(
      `${target.resource.kind} in version "${target.resource.version}" cannot be handled as a ${target.resource.kind}: ` +
        `json: cannot unmarshal ${describe(found)} into Go struct field ${field} of type ${wanted}`,
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
    const wanted = field === 'finalizers' ? 'string' : 'object';
    for (const item of list) {
      if (typeof item !== wanted || item === null) refuse(metaField(field), wanted, item);
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
