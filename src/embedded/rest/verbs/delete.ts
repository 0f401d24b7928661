// DELETE of one object or of a collection: removes objects at once, or sets the deletionTimestamp and waits for
// finalizers and the grace period.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { collectionOf } from '../../registry.ts';
import { invalid as invalidValue, notSupported } from '../../schema/field-error.ts';
import { storedFromObject } from '../../store/stored.ts';
import { VersionConflict } from '../../store/types.ts';
import type { Stored } from '../../store/types.ts';
import { commit } from '../write/commit.ts';
import { keyOf } from '../context.ts';
import type { Cluster, Target, WriteOptions, Written } from '../context.ts';
import { ensureConverted, servedObject } from '../../conversion/forms.ts';
import { badRequest, conflict, Fault, forbidden, invalidOptions, modified, notFound } from '../fault.ts';
import { rulesOf } from '../rules/index.ts';

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly orphanDependents?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly dryRun?: unknown;
}

const policies = new Set(['Foreground', 'Background', 'Orphan']);
const attempts = 200;

/** Reads DeleteOptions from the body or, without one, from the query. */
export function deleteOptionsOf(body: unknown, query: URLSearchParams): DeleteOptions {
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw badRequest('the body of a deletion must be a DeleteOptions object');
  }
  const given = (body ?? {}) as Record<string, unknown>;
  const kind = given['kind'] ?? 'DeleteOptions';
  if (kind !== 'DeleteOptions')
    throw badRequest(`the body of a deletion must be a DeleteOptions object, found ${JSON.stringify(kind)}`);
  const fromQuery: Record<string, unknown> = {};
  if (body === undefined) {
    const grace = query.get('gracePeriodSeconds');
    const orphan = query.get('orphanDependents');
    if (grace !== null) fromQuery['gracePeriodSeconds'] = Number(grace);
    if (orphan !== null) fromQuery['orphanDependents'] = orphan === 'true';
    if (query.has('propagationPolicy')) fromQuery['propagationPolicy'] = query.get('propagationPolicy');
  }
  const options = { ...given, ...fromQuery } as DeleteOptions & Record<string, unknown>;
  const { gracePeriodSeconds: grace, propagationPolicy: policy, preconditions, orphanDependents } = options;
  if (grace !== undefined && grace !== null && !Number.isInteger(grace)) {
    throw badRequest('gracePeriodSeconds must be a whole number');
  }
  if (policy !== undefined && policy !== null && !policies.has(policy)) {
    throw invalidOptions('DeleteOptions', notSupported('propagationPolicy', policy, [...policies, 'nil']));
  }
  if ((policy ?? undefined) !== undefined && (orphanDependents ?? undefined) !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    throw invalidOptions('DeleteOptions', invalidValue('propagationPolicy', policy, why));
  }
  if (preconditions !== undefined && (typeof preconditions !== 'object' || preconditions === null)) {
    throw badRequest('preconditions must be an object');
  }
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

/** Deletes one object, or starts its deletion. */
export async function remove(
  cluster: Cluster,
  target: Target,
  request: DeleteOptions,
  options: WriteOptions,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const stored = cluster.store.get(collectionOf(target.resource), keyOf(target));
    if (stored === undefined) throw notFound(target.resource, target.name);
    await ensureConverted(cluster, [stored], target.resource);
    const old = servedObject(stored, target.resource);
    if (rulesOf(target.resource).isPermanent?.(old) === true) {
      throw forbidden(target.resource, target.name, `this ${target.resource.singular} may not be deleted`);
    }
    checkPreconditions(target, request, old);
    const admission = { operation: 'DELETE', target, object: undefined, oldObject: old, options } as const;
    await cluster.admission.mutate(admission);
    await cluster.admission.validate(admission);
    const next = afterDeletion(target, request, old);
    try {
      if (next === old) return { stored, created: false, gone: false };
      const written = await commit(cluster, target, stored, next, options);
      if (next !== undefined) return { stored: written, created: false, gone: false };
      return { stored: lastState(target, written), created: false, gone: true };
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      if (attempt === attempts) throw modified(target.resource, target.name);
    }
  }
}

/** The deleted object as returned; kinds with a grace period show 0 seconds. */
function lastState({ resource }: Target, stored: Stored): Stored {
  if (rulesOf(resource).graceSeconds === undefined) return stored;
  const { metadata } = stored.object;
  const time = { deletionTimestamp: timestamp(Date.now()), deletionGracePeriodSeconds: 0 };
  const object = { ...stored.object, metadata: { ...metadata, ...time } };
  return storedFromObject(stored.collection, stored.key, stored.version, object);
}

/** Deletes the given objects; objects that are already deleted are no error. */
export async function removeAll(
  cluster: Cluster,
  target: Target,
  selected: readonly Stored[],
  request: DeleteOptions,
  options: WriteOptions,
): Promise<void> {
  await ensureConverted(cluster, selected, target.resource);
  await Promise.all(
    selected.map(async ({ object }) => {
      const { name, namespace = '' } = object.metadata;
      try {
        await remove(cluster, { ...target, name, namespace }, request, options);
      } catch (error) {
        if (!(error instanceof Fault && error.code === 404)) throw error;
      }
    }),
  );
}

function checkPreconditions(target: Target, request: DeleteOptions, old: AnyObject): void {
  const { uid, resourceVersion } = request.preconditions ?? {};
  const { metadata } = old;
  const failed =
    uid !== undefined && uid !== metadata.uid
      ? `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). ` +
        'The object might have been deleted and then recreated'
      : resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion
        ? `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record ` +
          `(${metadata.resourceVersion}). The object might have been modified`
        : undefined;
  // Only this message names the kind; all others name the resource.
  if (failed !== undefined) throw conflict({ ...target.resource, plural: target.resource.kind }, target.name, failed);
}

/** The object after the request: marked for deletion, unchanged, or undefined if it is to be removed. */
function afterDeletion(target: Target, request: DeleteOptions, old: AnyObject): AnyObject | undefined {
  const rules = rulesOf(target.resource);
  const present = old.metadata.finalizers ?? [];
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = old.metadata;
  const own = deletionTimestamp === undefined ? rules.deletionFinalizer : undefined;
  const byDefault = deletionTimestamp === undefined && rules.orphansByDefault === true ? 'orphan' : undefined;
  const kept = own === undefined || present.includes(own) ? present : [...present, own];
  const finalizers = finalizersFor(request, kept, byDefault);
  const grace = Math.max(0, rules.graceSeconds?.(old, request.gracePeriodSeconds) ?? 0);
  const held = finalizers.length > 0 || rules.isHeld?.(old) === true;
  if (deletionTimestamp !== undefined) {
    if (grace === 0 && !held) return undefined;
    const shorter = grace < deletionGracePeriodSeconds;
    if (!shorter && sameList(finalizers, present)) return old;
    const started = Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
    const time = shorter
      ? { deletionTimestamp: timestamp(started + grace * 1000), deletionGracePeriodSeconds: grace }
      : {};
    return { ...old, metadata: { ...old.metadata, finalizers, ...time } };
  }
  if (grace === 0 && !held) return undefined;
  const marked: AnyObject = {
    ...old,
    metadata: {
      ...old.metadata,
      ...(finalizers.length > 0 && { finalizers }),
      ...(generation !== undefined && { generation: generation + 1 }),
      deletionTimestamp: timestamp(Date.now() + grace * 1000),
      deletionGracePeriodSeconds: grace,
    },
  };
  return rules.prepareDelete?.(marked) ?? marked;
}

/** Records the propagation policy as a finalizer for the garbage collector. */
function finalizersFor(
  request: DeleteOptions,
  present: readonly string[],
  byDefault: string | undefined,
): readonly string[] {
  const policy =
    request.orphanDependents === undefined ? request.propagationPolicy : orphanPolicy(request.orphanDependents);
  if (policy === undefined) return byDefault === undefined ? present : [...present, byDefault];
  const others = present.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion');
  if (policy === 'Orphan') return [...others, 'orphan'];
  return policy === 'Foreground' ? [...others, 'foregroundDeletion'] : others;
}

function orphanPolicy(orphan: boolean): 'Orphan' | 'Background' {
  return orphan ? 'Orphan' : 'Background';
}

function sameList(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
