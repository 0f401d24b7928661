// PATCH: the four kinds of patches over the current state of an object. Apply creates the object when it is not there.
import { stringifyJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { applyJsonPatch, applyMergePatch, applyPatch, applyStrategicMergePatch } from '../patch/index.ts';
import { invalid as invalidValue } from '../schema/field-error.ts';
import { apiVersionOf, collectionOf } from '../registry.ts';
import { decodeJson, decodeYaml, mediaType } from './body.ts';
import { keyOf } from './context.ts';
import type { Cluster, Target, WriteOptions, Written } from './context.ts';
import { create } from './create.ts';
import { forbidden, required } from '../schema/field-error.ts';
import { Fault, invalidOptions, unsupportedMediaType, unsupportedPatchType, invalid } from './fault.ts';
import { incomingObject } from './object.ts';
import { flag } from './request.ts';
import { change } from './update.ts';

export type Patch =
  | { readonly type: 'json' | 'merge' | 'strategic'; readonly body: unknown }
  | { readonly type: 'apply'; readonly body: unknown; readonly force: boolean; readonly manager: string };

const types: Readonly<Record<string, Patch['type']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  'application/apply-patch+json': 'apply',
};

/** Reads a patch from a request. */
export async function patchFrom(body: Buffer, contentType: string | undefined, query: URLSearchParams): Promise<Patch> {
  const type = types[mediaType(contentType)];
  if (type === undefined) throw unsupportedPatchType();
  if (type !== 'apply') {
    if (query.has('force')) {
      throw invalidOptions('PatchOptions', forbidden('force', 'may not be specified for non-apply patch'));
    }
    return { type, body: decodeJson(body) };
  }
  const manager = query.get('fieldManager') ?? '';
  if (manager === '') {
    throw invalidOptions('PatchOptions', required('fieldManager', 'is required for apply patch'));
  }
  return { type, body: await decodeYaml(body), force: flag(query, 'force'), manager };
}

/** Patches an object. */
export async function patch(cluster: Cluster, target: Target, wish: Patch, options: WriteOptions): Promise<Written> {
  if (wish.type === 'strategic' && target.resource.custom) {
    throw unsupportedMediaType(Object.keys(types).filter((name) => !/strategic|apply-patch\+json/.test(name)));
  }
  if (wish.type !== 'apply') {
    const work = change(cluster, target, (old) => ({ object: patched(target, old, wish) }), options);
    return blamingPatch(wish, work);
  }
  const exists = cluster.store.get(collectionOf(target.resource), keyOf(target)) !== undefined;
  if (exists || target.subresource !== '') {
    return change(cluster, target, (old) => ({ object: applied(target, old, wish), managed: true }), options);
  }
  const first = applied(target, undefined, wish);
  try {
    return await create(cluster, target, first, options, true);
  } catch (error) {
    if (!(error instanceof Fault && error.status.reason === 'AlreadyExists')) throw error;
    // Somebody created it a moment ago: apply to that.
    return patch(cluster, target, wish, options);
  }
}

/** A patch that leads to unknown fields is itself what is invalid. */
async function blamingPatch(wish: Patch, work: Promise<Written>): Promise<Written> {
  try {
    return await work;
  } catch (error) {
    const found = error instanceof Fault ? /strict decoding error: .*$/s.exec(error.message)?.[0] : undefined;
    if (found === undefined) throw error;
    throw invalid({ group: '', kind: '' }, '', [invalidValue('patch', stringifyJson(wish.body), found)]);
  }
}

function patched(target: Target, old: AnyObject, wish: Exclude<Patch, { type: 'apply' }>): AnyObject {
  const result =
    wish.type === 'json'
      ? applyJsonPatch(old, wish.body)
      : wish.type === 'merge'
        ? applyMergePatch(old, wish.body)
        : applyStrategicMergePatch(target.resource.schema, old, wish.body);
  return incomingObject(target, result);
}

/** The object after a server-side apply, field owners included. */
function applied(target: Target, live: AnyObject | undefined, wish: Extract<Patch, { type: 'apply' }>): AnyObject {
  const { resource, subresource } = target;
  const given = incomingObject(target, wish.body);
  const { status: _status, ...withoutStatus } = given;
  const { object } = applyPatch({
    schema: resource.schema,
    live,
    applied: resource.status && subresource !== 'status' ? withoutStatus : given,
    manager: wish.manager,
    force: wish.force,
    apiVersion: apiVersionOf(resource),
    subresource,
    now: new Date(),
  });
  return object as AnyObject;
}
