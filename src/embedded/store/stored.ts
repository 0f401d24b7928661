// One version of an object: JSON text for as long as it is stored, and a frozen value for as long as somebody uses it.
// Tens of thousands of values would fill the memory; made again from the text, one costs some microseconds.
import { deepFreeze, freezeParsed } from '../../watchable/index.ts';
import type { AnyObject } from '../../kube/objects.ts';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import type { Stored } from './types.ts';

class TextStored implements Stored {
  readonly collection: string;
  readonly key: string;
  readonly version: number;
  readonly bytes: Buffer;
  #object: WeakRef<AnyObject> | undefined;

  constructor(collection: string, key: string, version: number, bytes: Buffer, object?: AnyObject) {
    this.collection = collection;
    this.key = key;
    this.version = version;
    this.bytes = bytes;
    if (object !== undefined) this.#object = new WeakRef(object);
  }

  get object(): AnyObject {
    let object = this.#object?.deref();
    if (object === undefined) {
      object = freezeParsed(parseJson(this.bytes) as AnyObject);
      this.#object = new WeakRef(object);
    }
    return object;
  }
}

/** Takes an object into the store's keeping: stamps its version and freezes it. */
export function storedFromObject(collection: string, key: string, version: number, object: AnyObject): Stored {
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  return new TextStored(collection, key, version, Buffer.from(stringifyJson(stamped)), deepFreeze(stamped));
}

/** Takes an object back from durable storage; it is parsed when somebody looks inside. */
export function storedFromJson(collection: string, key: string, version: number, json: Uint8Array): Stored {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return new TextStored(collection, key, version, bytes);
}
