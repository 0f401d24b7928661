// One version of an object: stored as JSON, parsed into a frozen value while it is in use. Keeping tens of thousands of
// parsed values would fill the memory; parsing one again takes microseconds.
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
  #apiVersion: string | undefined;

  constructor(collection: string, key: string, version: number, bytes: Buffer, object?: AnyObject) {
    this.collection = collection;
    this.key = key;
    this.version = version;
    this.bytes = bytes;
    if (object !== undefined) this.#object = new WeakRef(object);
  }

  get apiVersion(): string {
    return (this.#apiVersion ??= interned(apiVersionIn(this.bytes) ?? this.object.apiVersion));
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

const front = Buffer.from('{"apiVersion":"');
const quote = 0x22;

/** The `apiVersion` at the start of a JSON text, where the server always writes it. */
function apiVersionIn(bytes: Buffer): string | undefined {
  if (!bytes.subarray(0, front.length).equals(front)) return undefined;
  const text = bytes.toString('utf8', front.length, bytes.indexOf(quote, front.length));
  return text.includes('\\') ? undefined : text;
}

/** Shared strings: tens of thousands of objects have one of a few versions. */
const apiVersions = new Map<string, string>();

function interned(apiVersion: string): string {
  const known = apiVersions.get(apiVersion);
  if (known === undefined) apiVersions.set(apiVersion, apiVersion);
  return known ?? apiVersion;
}

/** Prepares an object for the store: sets its resourceVersion and freezes it. */
export function storedFromObject(collection: string, key: string, version: number, object: AnyObject): Stored {
  const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
  return new TextStored(collection, key, version, Buffer.from(stringifyJson(stamped)), deepFreeze(stamped));
}

/** Restores an object from durable storage; it is parsed on first use. */
export function storedFromJson(collection: string, key: string, version: number, json: Uint8Array): Stored {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  return new TextStored(collection, key, version, bytes);
}
