// PUT, and the part that PATCH shares with it: changes an object, with a retry on conflict.
import type { AnyObject } from '../../../kube/objects.ts';
import { prepareForUpdate, raisesGeneration, warningsOf } from '../../kinds/index.ts';
import { sameJson } from '../../patch/json.ts';
import { collectionOf, storedApiVersionOf } from '../../registry.ts';
import { invalid as invalidValue } from '../../schema/field-error.ts';
import { storedFromObject } from '../../store/stored.ts';
import { VersionConflict } from '../../store/types.ts';
import type { Stored } from '../../store/types.ts';
import { commit, commitInTurn } from '../write/commit.ts';
import { conform, conformAdmitted, problemsOf } from '../write/conform.ts';
import { keyOf } from '../context.ts';
import type { Cluster, Target, WriteOptions, Written } from '../context.ts';
import { ensureConverted, servedObject } from '../../conversion/forms.ts';
import { withVersions } from '../../conversion/owners.ts';
import { create } from './create.ts';
import { conflict, invalid, modified, notFound } from '../fault.ts';
import { trackWrite } from '../write/managers.ts';
import { changedMeta } from '../write/meta.ts';
import { incomingObject } from '../write/object.ts';
import { rulesOf } from '../rules/index.ts';

/** Of concurrent writers of one object, one succeeds per attempt: this limits how many there may be. */
const attempts = 200;

/** Returns the requested object, given the current one. `managed`: its managedFields are already set. */
export type Mutate = (old: AnyObject) => Mutated | Promise<Mutated>;

interface Mutated {
  readonly object: AnyObject;
  readonly managed?: boolean;
}

/** Replaces an object. */
export async function replace(
  cluster: Cluster,
  target: Target,
  body: unknown,
  options: WriteOptions,
): Promise<Written> {
  const given = incomingObject(target, body);
  const version = given.metadata.resourceVersion ?? '';
  const present = cluster.store.get(collectionOf(target.resource), keyOf(target));
  if (present !== undefined) await ensureConverted(cluster, [present], target.resource);
  if (
    present === undefined &&
    version === '' &&
    target.subresource === '' &&
    rulesOf(target.resource).createsOnUpdate === true
  ) {
    return create(cluster, target, body, options);
  }
  if (version === '' && rulesOf(target.resource).needsVersion) {
    const { resource } = target;
    const named = resource.custom ? { ...resource, kind: resource.plural } : resource;
    throw invalid(named, target.name, [invalidValue('metadata.resourceVersion', 0, 'must be specified for an update')]);
  }
  return change(cluster, target, () => ({ object: given }), options);
}

/** Changes an object, and retries on conflict. */
export async function change(
  cluster: Cluster,
  target: Target,
  mutate: Mutate,
  options: WriteOptions,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const stored = cluster.store.get(collectionOf(target.resource), keyOf(target));
    if (stored === undefined) throw notFound(target.resource, target.name);
    try {
      return await changeOnce(cluster, target, stored, mutate, options);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      // If the client sent a resourceVersion, the next attempt refuses it; if the object was deleted, it throws a 404.
      if (attempt === attempts) throw modified(target.resource, target.name);
    }
  }
}

async function changeOnce(
  cluster: Cluster,
  target: Target,
  stored: Stored,
  mutate: Mutate,
  options: WriteOptions,
): Promise<Written> {
  const { resource, name } = target;
  await ensureConverted(cluster, [stored], resource);
  const old = servedObject(stored, resource);
  const { object: given, managed } = await mutate(old);
  refuseOtherObject(target, given, old);
  const separated = separate(target, given, old);
  const conformed = conform(target, separated, options);
  // Only the subresource `finalize` may change the finalizers in the spec of a namespace.
  const kept =
    target.subresource === 'finalize' ? conformed : (prepareForUpdate(resource, conformed, old) as AnyObject);
  const prepared = rulesOf(resource).prepareUpdate?.(kept, old, cluster, target) ?? kept;
  const request = { operation: 'UPDATE', target, oldObject: old, options } as const;
  const admitted = (await cluster.admission.mutate({ ...request, object: prepared })) ?? prepared;
  const settled = admitted === prepared ? prepared : conformAdmitted(target, separate(target, admitted, old), options);
  const problems = problemsOf(cluster, target, settled, old);
  if (problems.length > 0) throw invalid(resource, name, problems);
  if (target.subresource === '') for (const warning of warningsOf(resource, settled)) options.warn(warning);
  // The field manager owns what it sent, not what admission and the server filled in.
  const owned =
    managed === true
      ? settled
      : await withVersions(cluster, resource, (versions) =>
          trackWrite(target, old, withReset(conformed, given), options, versions),
        );
  const tracked = withOwners(settled, owned);
  const next = withGeneration(target, tracked, old);
  await cluster.admission.validate({ ...request, object: next });
  if (isReleased(next) && rulesOf(resource).isHeld?.(next) !== true) {
    const { collection, key, version } = await commit(cluster, target, stored, undefined, options);
    return { stored: storedFromObject(collection, key, version, next), created: false, gone: true };
  }
  // A new time in managedFields is no change by itself: otherwise an apply that changes nothing would write every time.
  // An object in an outdated storage version is always written: this migrates it.
  const migrates = stored.object.apiVersion !== storedApiVersionOf(resource);
  if (!migrates && sameJson(withoutTimes(next), withoutTimes(old))) return { stored, created: false, gone: false };
  return { stored: await commitInTurn(cluster, target, stored, next, options), created: false, gone: false };
}

/** An empty list of managedFields in the request resets them; `changedMeta` drops it, so restore it. */
function withReset(object: AnyObject, { metadata: { managedFields } }: AnyObject): AnyObject {
  if (managedFields?.length !== 0) return object;
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function withoutTimes(object: AnyObject): AnyObject {
  const managedFields = object.metadata.managedFields?.map(({ time: _time, ...entry }) => entry);
  return managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } };
}

function withOwners(object: AnyObject, { metadata: { managedFields } }: AnyObject): AnyObject {
  const { managedFields: _previous, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
}

/** Refuses a request for another UID or resource version, or with another deletion time. */
function refuseOtherObject(target: Target, given: AnyObject, old: AnyObject): void {
  const { resourceVersion = '', uid = '' } = given.metadata;
  const fixed = ['deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
  const changed = fixed.find((name) => (given.metadata[name] ?? old.metadata[name]) !== old.metadata[name]);
  if (changed !== undefined) {
    const wrong = invalidValue(`metadata.${changed}`, given.metadata[changed], 'field is immutable');
    throw invalid(target.resource, target.name, [wrong]);
  }
  if (uid !== '' && uid !== old.metadata.uid) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
    throw conflict(target.resource, target.name, why);
  }
  if (resourceVersion !== '' && resourceVersion !== old.metadata.resourceVersion) {
    throw modified(target.resource, target.name);
  }
}

/** Merges only the fields that this endpoint may change: `status` only the status, the main one all but the status. */
function separate(target: Target, given: AnyObject, old: AnyObject): AnyObject {
  const { resource, subresource } = target;
  const metadata = changedMeta(given.metadata, old.metadata);
  if (subresource === 'status' || subresource === 'approval') {
    const { status: _status, ...rest } = old;
    const kept = resource.custom ? { ...old.metadata, managedFields: metadata.managedFields } : metadata;
    const labels = resource.group === 'apps' ? { labels: old.metadata.labels } : {};
    const meta = defined({ ...kept, ...labels });
    return { ...rest, metadata: meta, ...(given['status'] !== undefined && { status: given['status'] }) };
  }
  if (!resource.status || subresource === 'binding') return { ...given, metadata };
  const { status: _status, ...rest } = given;
  return { ...rest, metadata, ...(old['status'] !== undefined && { status: old['status'] }) };
}

function defined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}

function withGeneration(target: Target, next: AnyObject, old: AnyObject): AnyObject {
  // Binding a pod does not change the desired state.
  const keeps = ['status', 'approval', 'binding'].includes(target.subresource);
  if (keeps || !raisesGeneration(target.resource, next, old)) return next;
  return { ...next, metadata: { ...next.metadata, generation: (old.metadata.generation ?? 0) + 1 } };
}

/** True when the last finalizer of a terminating object is removed and no grace period is left. */
function isReleased(next: AnyObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = next.metadata;
  return deletionTimestamp !== undefined && finalizers.length === 0 && deletionGracePeriodSeconds === 0;
}
