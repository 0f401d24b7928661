// One version of an object, kept as JSON text, as a frozen value, or both: each is made from the other when first asked.
import type { AnyObject } from '../../kube/objects.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import type { Stored } from './types.ts';

class LazyStored implements Stored {
  readonly collection: string;
  readonly key: string;
  readonly version: number;
  #object: AnyObject | undefined;
  #bytes: Buffer | undefined;

  constructor(collection: string, key: string, version: number, object: AnyObject | undefined, bytes?: Buffer) {
    this.collection = collection;
    this.key = key;
    this.version = version;
    this.#object = object;
    this.#bytes = bytes;
  }

  get object(): AnyObject {
    return (this.#object ??= deepFreeze(parseJson(this.#bytes!.toString()) as AnyObject));
  }

  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.from(stringifyJson(this.#object!)));
  }
}

/** Takes an object into the store's keeping: stamps its version and freezes it. */
export function storedFromObject(collection: string, key: string, version: number, object: AnyObject): Stored {
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  return new LazyStored(collection, key, version, deepFreeze(stamped));
}

/** Takes an object back from durable storage; it is parsed when somebody looks inside. */
export function storedFromJson(collection: string, key: string, version: number, json: Uint8Array): Stored {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return new LazyStored(collection, key, version, undefined, bytes);
}

/** Freezes a JSON value all the way down. Parts that are frozen already are taken to be frozen below too. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
