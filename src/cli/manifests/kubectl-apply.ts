// The request that `kubectl apply` would send for an object: plans predict that command. Fields that it applied before
// and that are no longer in the file are removed.
import type { JsonObject, KubeObject } from '../../kube/objects.ts';
import type { Patch } from '../../kube/client/client.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

export interface ApplyRequest {
  readonly patch: Patch;
  readonly fieldManager: string;
}

/** How an object is applied over the existing one; `before` is undefined if there is none. */
export function kubectlApply(object: KubeObject, before: KubeObject | undefined): ApplyRequest {
  const last = lastApplied(before);
  if (last === undefined) {
    // As with --server-side: the server removes fields of the manager `kubectl` that are no longer in the file.
    return { patch: { type: 'apply', body: object, force: true }, fieldManager: 'kubectl' };
  }
  // kubectl always writes its own annotation, so the map of annotations itself is never removed.
  const { metadata } = object;
  const now = { ...object, metadata: { ...metadata, annotations: metadata.annotations ?? {} } };
  const body = withRemovals(last, now);
  return { patch: { type: 'merge', body }, fieldManager: 'kubectl-client-side-apply' };
}

function lastApplied(before: KubeObject | undefined): JsonObject | undefined {
  const text = before?.metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    const last: unknown = JSON.parse(text);
    return isObject(last) ? last : undefined;
  } catch {
    return undefined;
  }
}

/** A merge patch that sets what is written now, and removes what was written last time only. */
function withRemovals(last: JsonObject, now: JsonObject): JsonObject {
  const removed = Object.keys(last).filter((key) => !Object.hasOwn(now, key));
  return Object.fromEntries([
    ...removed.map((key) => [key, null] as const),
    ...Object.entries(now).map(([key, value]) => {
      const before = last[key];
      return [key, isObject(value) && isObject(before) ? withRemovals(before, value) : value] as const;
    }),
  ]);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
