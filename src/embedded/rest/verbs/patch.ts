// PATCH: the four patch types. Server-side apply creates a missing object.
import { stringifyJson } from '../../../kube/json.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { withVersions } from '../../conversion/owners.ts';
import { applyJsonPatch, applyMergePatch, applyPatch, applyStrategicMergePatch } from '../../patch/index.ts';
import type { Versions } from '../../patch/index.ts';
import { invalid as invalidValue } from '../../schema/field-error.ts';
import { apiVersionOf, collectionOf } from '../../registry.ts';
import { decodeJson, decodeYaml, mediaType, readBody } from '../wire/body.ts';
import { keyOf } from '../context.ts';
import type { Cluster, Target, WriteOptions, Written } from '../context.ts';
import { create } from './create.ts';
import { forbidden, required } from '../../schema/field-error.ts';
import type { Resource } from '../../resource.ts';
import { badRequest, Fault, invalidOptions, unsupportedMediaType, unsupportedPatchType, invalid } from '../fault.ts';
import { incomingObject, refuseExcess } from '../write/object.ts';
import { flag } from '../request.ts';
import type { ResourceRequest } from '../server-context.ts';
import { change } from './update.ts';
import type { Mutate } from './update.ts';

export type Patch =
  | { readonly type: 'json' | 'merge' | 'strategic'; readonly body: unknown; readonly text: Buffer }
  | { readonly type: 'apply'; readonly body: unknown; readonly force: boolean; readonly manager: string };

const types: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  'application/apply-patch+json': 'apply',
};

const customTypes = Object.keys(types).filter((name) => !/strategic|apply-patch\+json/.test(name));

/** Reads a patch of a resource from a request. */
export async function patchFrom({ line, request }: ResourceRequest, { custom }: Resource): Promise<Patch> {
  const { query } = line;
  const type = types[mediaType(request.headers['content-type'])];
  if (custom && (type === undefined || type === 'strategic')) throw unsupportedMediaType(customTypes);
  if (type === undefined) throw unsupportedPatchType();
  const body = await readBody(request);
  if (type !== 'apply') {
    if (query.has('force')) {
      throw invalidOptions('PatchOptions', forbidden('force', 'may not be specified for non-apply patch'));
    }
    return { type, body: decodeJson(body), text: body };
  }
  const manager = query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalidOptions('PatchOptions', required('fieldManager', 'is required for apply patch'));
  }
  return { type, body: await decodeYaml(body), force: flag(query, 'force'), manager };
}

/** Whether a patch would create the object, which requires the verb "create". */
export function createsByPatch({ store }: Cluster, target: Target, { type }: Patch): boolean {
  if (type !== 'apply' || target.subresource !== '') return false;
  return store.get(collectionOf(target.resource), keyOf(target)) === undefined;
}

/** Patches an object. */
export async function patch(
  cluster: Cluster,
  target: Target,
  incoming: Patch,
  options: WriteOptions,
): Promise<Written> {
  if (incoming.type !== 'apply') {
    // A JSON patch is not a part of an object, and has its own limits.
    if (incoming.type !== 'json') refuseExcess(target, { patch: incoming.body });
    const work = change(cluster, target, (old) => ({ object: patched(target, old, incoming) }), options);
    return reportingAsInvalidPatch(incoming, work);
  }
  if (!createsByPatch(cluster, target, incoming)) {
    const mutate: Mutate = (old) =>
      withVersions(cluster, target.resource, (versions) => ({
        object: applied(target, old, incoming, versions),
        managed: true,
      }));
    return change(cluster, target, mutate, options);
  }
  const next = applied(target, undefined, incoming);
  const { resourceVersion: _version, ...metadata } = next.metadata;
  const first = { ...next, metadata };
  try {
    return await create(cluster, target, first, options, true);
  } catch (error) {
    if (!(error instanceof Fault && error.status.reason === 'AlreadyExists')) throw error;
    // Another client created it meanwhile: apply to that object.
    return patch(cluster, target, incoming, options);
  }
}

const unreadable =
  /(?<=: )strict decoding error: .*$|^(?!.*strict).* cannot be handled as a .*$|^the API version in the data .*$/s;

/** If the patched object cannot be decoded, reports the patch as invalid. */
async function reportingAsInvalidPatch(incoming: Patch, work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    const found = error instanceof Fault ? unreadable.exec(error.message)?.[0] : undefined;
    if (found === undefined) throw error;
    throw invalid({ group: '', kind: '' }, '', [invalidValue('patch', stringifyJson(incoming.body), found)]);
  }
}

function patched(target: Target, old: AnyObject, incoming: Exclude<Patch, { type: 'apply' }>): AnyObject {
  const result =
    incoming.type === 'json'
      ? applyJsonPatch(old, incoming.body)
      : incoming.type === 'merge'
        ? applyMergePatch(old, incoming.body)
        : applyStrategicMergePatch(target.resource.schema, old, incoming.body);
  return sameObject(target, old, incomingObject(target, result));
}

/** Refuses a patch that changes the UID. */
function sameObject(target: Target, old: AnyObject | undefined, next: AnyObject): AnyObject {
  const { uid = '' } = next.metadata;
  if (old === undefined || uid === '' || uid === old.metadata.uid) return next;
  throw invalid(target.resource, target.name, [invalidValue('metadata.uid', uid, 'field is immutable')]);
}

/** The object after a server-side apply, including managedFields. */
function applied(
  target: Target,
  live: AnyObject | undefined,
  incoming: Extract<Patch, { type: 'apply' }>,
  versions?: Versions,
): AnyObject {
  const { resource, subresource } = target;
  refuseOtherType(resource, incoming.body);
  const given = sameObject(target, live, incomingObject(target, named(incoming.body, target.name)));
  const { object } = applyPatch({
    schema: resource.schema,
    live,
    applied: appliedPart(target, given),
    manager: incoming.manager,
    force: incoming.force,
    apiVersion: apiVersionOf(resource),
    subresource,
    now: Date.now(),
    versions,
  });
  refuseExcess(target, object);
  return object as AnyObject;
}

/** The fields that this endpoint may change; others are not owned by the applier. */
function appliedPart({ resource, subresource }: Target, given: AnyObject): AnyObject {
  if (!resource.status || !['', 'status'].includes(subresource)) return given;
  const { status, ...rest } = given;
  if (subresource === '') return rest;
  const { apiVersion, kind, metadata } = given;
  const { name, namespace } = metadata;
  const plain = { name, ...(namespace !== undefined && { namespace }) };
  return { apiVersion, kind, metadata: resource.custom ? plain : metadata, ...(status !== undefined && { status }) };
}

/** Defaults the name of an applied object to the one of the path. */
function named(body: unknown, name: string): unknown {
  const { metadata } = (body ?? {}) as { metadata?: { name?: unknown } | null };
  const missing = typeof metadata === 'object' && metadata !== null && (metadata.name ?? '') === '';
  return missing ? { ...(body as object), metadata: { ...metadata, name } } : body;
}

/** An applied object must have the right apiVersion and kind. */
function refuseOtherType(resource: Resource, body: unknown): void {
  if (typeof body !== 'object' || body === null) return;
  const { apiVersion = '', kind = '' } = body as Readonly<Record<string, unknown>>;
  if (apiVersion === apiVersionOf(resource) && kind === resource.kind) return;
  const version = String(apiVersion);
  throw badRequest(`invalid object type: ${version.includes('/') ? version : `/${version}`}, Kind=${String(kind)}`);
}
