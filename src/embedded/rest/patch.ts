// PATCH: the four kinds of patches over the current state of an object.
import type { AnyObject } from '../../kube/objects.ts';
import { applyMergePatch } from '../../kube/merge-patch.ts';
import { decodeJson, mediaType } from './body.ts';
import type { Cluster, Target, WriteOptions, Written } from './context.ts';
import { unsupportedMediaType } from './fault.ts';
import { incomingObject } from './object.ts';
import { change } from './update.ts';

export interface Patch {
  readonly type: 'merge';
  readonly body: unknown;
}

export async function patchFrom(
  body: Buffer,
  contentType: string | undefined,
  _query: URLSearchParams,
): Promise<Patch> {
  if (mediaType(contentType) !== 'application/merge-patch+json')
    throw unsupportedMediaType(['application/merge-patch+json']);
  return { type: 'merge', body: decodeJson(body) };
}

export function patch(cluster: Cluster, target: Target, patch: Patch, options: WriteOptions): Promise<Written> {
  return change(
    cluster,
    target,
    (old) => ({ object: incomingObject(target, applyMergePatch(old, patch.body)) as AnyObject }),
    options,
  );
}
