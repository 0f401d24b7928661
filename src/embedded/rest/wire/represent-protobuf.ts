// Encodes stored objects as protobuf bodies. Called by represent.ts.
import { setImmediate } from 'node:timers/promises';
import { definitionNameOf } from '../../kinds/registry.ts';
import { encodeList, encodeMessage, encodeObject, withType } from '../../protobuf/encode.ts';
import { apiVersionOf } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import type { Stored } from '../../store/types.ts';
import { servedObject } from '../../conversion/forms.ts';
import type { ListMeta } from './represent.ts';

const encoded = new WeakMap<Stored, Map<string, Buffer>>();

/** The encoded content of an object, cached per API version. */
function contentOf(stored: Stored, resource: Resource): Buffer {
  const apiVersion = apiVersionOf(resource);
  let versions = encoded.get(stored);
  if (versions === undefined) encoded.set(stored, (versions = new Map()));
  let content = versions.get(apiVersion);
  if (content === undefined) {
    content = encodeMessage(servedObject(stored, resource), definitionNameOf(resource)!);
    versions.set(apiVersion, content);
  }
  return content;
}

const sliceMs = 10;

/** Encodes objects that are not cached yet, a few milliseconds at a time, so that a long list does not block others. */
export async function encodeInTurns(items: readonly Stored[], resource: Resource): Promise<void> {
  let started = performance.now();
  for (const stored of items) {
    contentOf(stored, resource);
    if (performance.now() - started < sliceMs) continue;
    await setImmediate();
    started = performance.now();
  }
}

/** One object. */
export function protobufObject(stored: Stored, resource: Resource): Buffer {
  return withType({ apiVersion: apiVersionOf(resource), kind: resource.kind }, [contentOf(stored, resource)]);
}

/** A list of objects. */
export function protobufList(items: readonly Stored[], metadata: ListMeta, resource: Resource): Buffer {
  const type = { apiVersion: apiVersionOf(resource), kind: `${resource.kind}List` };
  return encodeList(
    type,
    metadata,
    items.map((stored) => contentOf(stored, resource)),
  );
}

/** An object that is not stored, such as a Status; undefined when its kind has no protobuf message. */
export function protobufValue(value: object): Buffer | undefined {
  return encodeObject(value);
}
