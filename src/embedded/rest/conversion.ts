// The same object in the version that a caller asked for. Everything that leaves or enters the store passes here.
import type { AnyObject } from '../../kube/objects.ts';
import { stringifyJson } from '../../kube/json.ts';
import { convertObject, decodeObject } from '../kinds/index.ts';
import { apiVersionOf, storedApiVersionOf } from '../registry.ts';
import type { Resource } from '../resource.ts';
import type { Stored } from '../store/types.ts';

const converted = new WeakMap<Stored, Map<string, { object: AnyObject; bytes?: Buffer }>>();

/** A stored object as the resource serves it. */
export function servedObject(stored: Stored, resource: Resource): AnyObject {
  const wanted = apiVersionOf(resource);
  if (stored.object.apiVersion === wanted) return stored.object;
  return conversionOf(stored, wanted).object;
}

/** The JSON of a stored object as the resource serves it; made once a version, whoever asks. */
export function servedBytes(stored: Stored, resource: Resource): Buffer {
  const wanted = apiVersionOf(resource);
  if (stored.object.apiVersion === wanted) return stored.bytes;
  const conversion = conversionOf(stored, wanted);
  return (conversion.bytes ??= Buffer.from(stringifyJson(conversion.object)));
}

/** An object of the resource in the version that the store keeps. */
export function storedForm(object: AnyObject, resource: Resource): AnyObject {
  const wanted = storedApiVersionOf(resource);
  const form = convertObject(object, wanted) as AnyObject;
  const { schema, version } = resource.stored ?? {};
  if (schema === undefined || version === undefined || version === resource.version) return form;
  // What the stored version does not have cannot be kept.
  return decodeObject({ ...resource, schema, version }, form).value as AnyObject;
}

function conversionOf(stored: Stored, wanted: string): { object: AnyObject; bytes?: Buffer } {
  let versions = converted.get(stored);
  if (versions === undefined) converted.set(stored, (versions = new Map()));
  let conversion = versions.get(wanted);
  if (conversion === undefined) {
    conversion = { object: Object.freeze(convertObject(stored.object, wanted)) as AnyObject };
    versions.set(wanted, conversion);
  }
  return conversion;
}
