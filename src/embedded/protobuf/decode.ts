// Decodes protobuf into the same JSON that other clients send. Unknown fields are skipped, as in Go's decoder.
import { parseJson } from '../../kube/json.ts';
import { sizeOfJson } from '../json-size.ts';
import type { JsonSize } from '../json-size.ts';
import { readSpecial, specialTypes, startsObject } from './special.ts';
import type { NestedReader } from './special.ts';
import { messageNameOf, messageOf } from './table.ts';
import type { Field } from './table.ts';
import { Reader, InvalidMessage, wireTypes } from './wire.ts';

type Limits = JsonSize;

/** The message is nested too deeply or has too many values. */
export class LimitExceeded extends Error {
  readonly limit: keyof Limits;

  constructor(limit: keyof Limits) {
    super(limit);
    this.limit = limit;
  }
}

/** Decodes an object: the magic bytes, an envelope with its kind, and the object itself. */
export function decodeObject(bytes: Buffer, limits: Limits): Record<string, unknown> {
  return new Decoder(limits).object(bytes);
}

class Decoder implements NestedReader {
  readonly #limits: Limits;
  #values = 0;
  #depth = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  object(bytes: Buffer): Record<string, unknown> {
    if (!startsObject(bytes)) throw new InvalidMessage('it does not start with the bytes k8s\\0');
    const reader = new Reader(bytes, 4);
    let [apiVersion, kind] = ['', ''];
    let content = new Reader(Buffer.alloc(0));
    while (!reader.done) {
      const { number, wire } = reader.tag();
      if (number === 1 && wire === wireTypes.bytes) [apiVersion, kind] = typeOf(reader.message());
      else if (number === 2 && wire === wireTypes.bytes) content = reader.message();
      else reader.skip(wire);
    }
    const name = messageNameOf(apiVersion, kind);
    if (name === undefined) {
      throw new InvalidMessage(
        `${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)} has no protobuf: send JSON instead`,
      );
    }
    return { apiVersion, kind, ...(this.read(content, name) as object) };
  }

  read(reader: Reader, name: string): unknown {
    if (++this.#depth > this.#limits.depth) throw new LimitExceeded('depth');
    const special = specialTypes.get(name);
    const value = special === undefined ? this.#message(reader, name) : readSpecial(special, reader, this);
    this.#depth--;
    return value;
  }

  json(bytes: Buffer): unknown {
    const text = bytes.toString();
    const { depth, values } = sizeOfJson(text);
    if (this.#depth + depth > this.#limits.depth) throw new LimitExceeded('depth');
    this.#count(values);
    try {
      return parseJson(text);
    } catch {
      throw new InvalidMessage('it holds JSON that is broken');
    }
  }

  #count(values: number): void {
    if ((this.#values += values) > this.#limits.values) throw new LimitExceeded('values');
  }

  #message(reader: Reader, name: string): unknown {
    const message = messageOf(name);
    const result: Record<string, unknown> = {};
    while (!reader.done) {
      const { number, wire } = reader.tag();
      const field = message.byNumber.get(number);
      if (field === undefined) {
        reader.skip(wire);
        continue;
      }
      this.#count(1);
      if (field.inline) Object.assign(result, this.#value(reader, field, wire));
      else if (field.map) this.#entry(reader, field, (result[field.name] ??= {}));
      else if (field.list) this.#items(reader, field, wire, (result[field.name] ??= []) as unknown[]);
      else {
        const value = this.#value(reader, field, wire);
        // Go's encoder also writes unset fields, as zero values.
        const unset = !field.keepsZero && !isMessage(field) && (value === '' || value === 0 || value === false);
        if (value !== undefined && !unset) result[field.name] = value;
      }
    }
    return message.isUnwrapped ? (result[message.fields[0]!.name] ?? []) : result;
  }

  #items(reader: Reader, field: Field, wire: number, list: unknown[]): void {
    if (field.type !== 'int' || wire !== wireTypes.bytes) {
      list.push(this.#value(reader, field, wire));
      return;
    }
    const packed = reader.message();
    while (!packed.done) {
      this.#count(1);
      list.push(packed.integer());
    }
  }

  #entry(reader: Reader, field: Field, map: object): void {
    const entry = reader.message();
    let key = '';
    let value: unknown;
    while (!entry.done) {
      const { number, wire } = entry.tag();
      if (number === 1 && wire === wireTypes.bytes) key = entry.text();
      else if (number === 2) value = this.#value(entry, field, wire);
      else entry.skip(wire);
    }
    value ??= this.#zero(field);
    // Not an assignment, because a key may be `__proto__`.
    Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true });
  }

  #zero(field: Field): unknown {
    if (field.type === 'string' || field.type === 'bytes') return '';
    return field.type === 'int' ? 0 : this.read(new Reader(Buffer.alloc(0)), field.type);
  }

  #value(reader: Reader, { type, name }: Field, wire: number): unknown {
    const expected = type === 'int' || type === 'bool' ? 'varint' : type === 'double' ? 'fixed64' : 'bytes';
    if (wire !== wireTypes[expected]) throw new InvalidMessage(`the field ${name} has the wrong wire type`);
    switch (type) {
      case 'string':
        return reader.text();
      case 'bytes':
        return reader.bytes().toString('base64');
      case 'int':
        return reader.integer();
      case 'bool':
        return reader.integer() !== 0;
      case 'double':
        return reader.double();
      default:
        return this.read(reader.message(), type);
    }
  }
}

function isMessage({ type }: Field): boolean {
  return type.includes('.');
}

/** Reads API version and kind of an envelope. */
function typeOf(reader: Reader): [apiVersion: string, kind: string] {
  const type: [string, string] = ['', ''];
  while (!reader.done) {
    const { number, wire } = reader.tag();
    if (wire === wireTypes.bytes && (number === 1 || number === 2)) type[number - 1] = reader.text();
    else reader.skip(wire);
  }
  return type;
}
