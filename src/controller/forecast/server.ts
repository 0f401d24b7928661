// The answer of the API server to a write: the object as it would be stored. Pure; nothing is sent anywhere.
import { withAnnotations } from '../../kube/annotations.ts';
import { timestamp } from '../../kube/times.ts';
import type { AnyKind, KubeObject, ManagedFieldsEntry } from '../../kube/objects.ts';
import { apiVersionOf } from '../../kube/objects.ts';
import { comparable, ownedPart } from '../../kube/write/owned.ts';
import { dataDigest, TOKEN_DIGEST, TOKEN_EXPIRES, TOKEN_ISSUED } from '../../kube/write/service-account-token.ts';
import { editPatch } from '../../kube/write/steps.ts';
import { isAppliedOnly, takenOver } from '../../kube/write/take-over.ts';
import type { Edit, Make, Own, Remove, Step, Token } from '../../kube/write/steps.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { applyFields, managedFieldsAfter } from './apply-fields.ts';
import { sameFields } from './diff.ts';

/** The result of a write. */
export interface Answer {
  readonly did: 'created' | 'changed' | 'removed' | 'nothing';
  /** The object after it; undefined if it is deleted. */
  readonly object: KubeObject | undefined;
}

/** The server would reject the write because the object has changed since the plan was made. */
export const OUTDATED = 'outdated';

/** What only the server knows: the time, and values that it generates. */
export interface Server {
  now(): number;
  /** A uid for a new object. */
  uid(object: KubeObject): string;
  /** The next resource version. */
  version(): string;
  /** A placeholder for a kubeconfig with a token. */
  token(): string;
  /** All managedFields of an object, including those of others, which tables leave out; undefined if unknown. */
  managedFields(kind: AnyKind, object: KubeObject): readonly ManagedFieldsEntry[] | undefined;
}

/** The answer of the server to a step, given the stored object. */
export function answerTo(
  step: Step,
  live: KubeObject | undefined,
  manager: string,
  server: Server,
): Answer | typeof OUTDATED {
  switch (step.do) {
    case 'own':
      return applied(step, step.object, live && takeOver(step, live, manager, server), manager, server);
    case 'token':
      return applied(step, issued(step, server), live, manager, server);
    case 'make':
      return live === undefined
        ? { did: 'created', object: created(step, step.object, server) }
        : { did: 'nothing', object: live };
    case 'edit':
      return edited(step, live, server);
    case 'remove':
      return removed(step, live, server);
  }
}

/** The stored object after taking over the fields of its creator: an apply removes those that it does not set. */
function takeOver({ kind, takeOverAnnotation }: Own, live: KubeObject, manager: string, server: Server): KubeObject {
  if (takeOverAnnotation === undefined || isAppliedOnly(live, manager)) return live;
  const all = server.managedFields(kind, live) ?? live.metadata.managedFields ?? [];
  const whole = { ...live, metadata: { ...live.metadata, managedFields: all } };
  const managedFields = takenOver(whole, takeOverAnnotation, manager);
  return managedFields === undefined ? live : { ...live, metadata: { ...live.metadata, managedFields } };
}

function applied(
  step: Own | Token,
  desired: KubeObject,
  live: KubeObject | undefined,
  manager: string,
  server: Server,
): Answer {
  if (live === undefined) {
    const object = created(step, desired, server);
    const managedFields = managedFieldsAfter(undefined, desired, manager);
    return { did: 'created', object: { ...object, metadata: { ...object.metadata, managedFields } } };
  }
  if (jsonEqual(ownedPart(live, manager), comparable(desired))) return { did: 'nothing', object: live };
  const next = applyFields(live, desired, manager);
  // The server keeps its own form of equal values, such as quantities.
  if (sameFields(live, next)) return { did: 'nothing', object: live };
  return { did: 'changed', object: stored(live, next, server) };
}

/** The Secret of a `token` step, with a placeholder for the token. */
function issued({ object, expirationSeconds }: Token, server: Server): KubeObject {
  const now = server.now();
  const kubeconfig = Buffer.from(server.token()).toString('base64');
  const annotations = {
    [TOKEN_ISSUED]: timestamp(now),
    [TOKEN_EXPIRES]: timestamp(now + expirationSeconds * 1000),
    [TOKEN_DIGEST]: dataDigest(kubeconfig),
  };
  const secret: KubeObject & { data: object } = { ...withAnnotations(object, annotations), data: { kubeconfig } };
  return secret;
}

function created({ kind }: Own | Token | Make, object: KubeObject, server: Server): KubeObject {
  // The status is written separately.
  const { status: _status, ...rest } = object as KubeObject & { status?: unknown };
  return {
    ...rest,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...object.metadata,
      uid: server.uid(object),
      creationTimestamp: timestamp(server.now()),
      generation: 1,
      resourceVersion: server.version(),
    },
  };
}

function edited(step: Edit, live: KubeObject | undefined, server: Server): Answer | typeof OUTDATED {
  const patch = editPatch(step);
  if (patch === undefined) return { did: 'nothing', object: live };
  const { uid, resourceVersion } = step.from.metadata;
  if (live?.metadata.uid !== uid || live?.metadata.resourceVersion !== resourceVersion) return OUTDATED;
  const next = stored(live!, patched(live, patch) as KubeObject, server);
  const isGone = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
  return isGone ? { did: 'removed', object: undefined } : { did: 'changed', object: next };
}

function removed(step: Remove, live: KubeObject | undefined, server: Server): Answer | typeof OUTDATED {
  const { uid, resourceVersion, deletionTimestamp } = step.object.metadata;
  if (deletionTimestamp !== undefined || live === undefined) return { did: 'nothing', object: live };
  const isChanged = step.unchanged === true && live.metadata.resourceVersion !== resourceVersion;
  if (live.metadata.uid !== uid || isChanged) return OUTDATED;
  return deleted(live, server);
}

/** The result of deleting an object: finalizers keep it. */
export function deleted(live: KubeObject, server: Server): Answer {
  const { finalizers = [], deletionTimestamp } = live.metadata;
  if (finalizers.length === 0) return { did: 'removed', object: undefined };
  if (deletionTimestamp !== undefined) return { did: 'nothing', object: live };
  const metadata = { ...live.metadata, deletionTimestamp: timestamp(server.now()) };
  return { did: 'changed', object: stored(live, { ...live, metadata }, server, true) };
}

/** The new version of an object as the server stores it. */
function stored(live: KubeObject, next: KubeObject, server: Server, isNewGeneration = false): KubeObject {
  const specOf = (object: KubeObject): unknown => (object as KubeObject & { spec?: unknown }).spec;
  const isChanged = isNewGeneration || !jsonEqual(specOf(live), specOf(next));
  const generation = (live.metadata.generation ?? 0) + (isChanged ? 1 : 0);
  return { ...next, metadata: { ...next.metadata, generation, resourceVersion: server.version() } };
}

/** Applies a JSON merge patch. */
function patched(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const result: Record<string, unknown> = isObject ? { ...value } : {};
  for (const [name, inner] of Object.entries(patch)) {
    if (inner === null) delete result[name];
    else result[name] = patched(result[name], inner);
  }
  return result;
}
