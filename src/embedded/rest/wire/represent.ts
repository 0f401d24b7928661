// Encodes stored objects as response bodies: complete, metadata only, or as a table; in JSON or protobuf. Called by
// get, list and watch.
import { stringifyJson } from '../../../kube/json.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { apiVersionOf } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import type { Stored } from '../../store/types.ts';
import { servedBytes, servedObject } from '../../conversion/forms.ts';
import type { Format } from './negotiate.ts';
import { protobufList, protobufObject, protobufValue } from './represent-protobuf.ts';
import { tableOf } from './table.ts';

export interface ListMeta {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** How to encode objects: the format, and which part of the object a table row includes. */
export interface View {
  readonly resource: Resource;
  readonly format: Format;
  readonly includeObject: 'None' | 'Metadata' | 'Object';
}

/** The body for one object. */
export function objectBody(stored: Stored, view: View): Buffer {
  const { resource, format } = view;
  if (format.as === '') {
    return format.protobuf ? protobufObject(stored, resource) : servedBytes(stored, resource);
  }
  if (format.as === 'Table') {
    const { resourceVersion = '' } = stored.object.metadata;
    return json(tableOf([servedObject(stored, resource)], { resourceVersion }, view));
  }
  return encoded(metadataOnly(servedObject(stored, resource), format.version), format.protobuf);
}

/** The body for a list. */
export function listBody(items: readonly Stored[], metadata: ListMeta, view: View): Buffer {
  const { resource, format } = view;
  if (format.as === 'Table') {
    return json(
      tableOf(
        items.map((stored) => servedObject(stored, resource)),
        metadata,
        view,
      ),
    );
  }
  if (format.as === 'PartialObjectMetadata') {
    const list = {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${format.version}`,
      metadata,
      items: items.map((stored) => metadataOnly(servedObject(stored, resource), format.version)),
    };
    return encoded(list, format.protobuf);
  }
  if (format.protobuf) return protobufList(items, metadata, resource);
  const meta = resource.custom ? { continue: '', ...metadata } : metadata;
  const head = { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata: meta };
  const parts: Buffer[] = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"items":[`)];
  const itemOf = resource.custom ? (bytes: Buffer) => [bytes] : withoutType(head.apiVersion, resource.kind);
  for (const [index, stored] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(...itemOf(servedBytes(stored, resource)));
  }
  parts.push(end);
  return Buffer.concat(parts);
}

const comma = Buffer.from(',');
const end = Buffer.from(']}');
const opening = Buffer.from('{');

/** Items of built-in lists have no apiVersion and kind: removes them from the start of the bytes. */
function withoutType(apiVersion: string, kind: string): (bytes: Buffer) => readonly Buffer[] {
  const front = Buffer.from(`{"apiVersion":"${apiVersion}","kind":"${kind}",`);
  return (bytes) => (bytes.subarray(0, front.length).equals(front) ? [opening, bytes.subarray(front.length)] : [bytes]);
}

/** The PartialObjectMetadata of an object. */
function metadataOnly(object: AnyObject, version: string): object {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

/** Encodes an object that is not stored, in JSON if its kind has no protobuf message. */
export function encoded(value: object, asProtobuf: boolean): Buffer {
  return (asProtobuf ? protobufValue(value) : undefined) ?? json(value);
}

/** JSON as bytes. */
export function json(value: unknown): Buffer {
  return Buffer.from(stringifyJson(value));
}
