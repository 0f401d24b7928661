// Types whose JSON differs from their wire format: times, quantities, ports, and JSON inside messages.
import { stringifyJson } from '../../kube/json.ts';
import { timestamp } from '../../kube/times.ts';
import { Reader, InvalidMessage, wireTypes } from './wire.ts';
import type { Writer } from './wire.ts';

/** Reads nested messages. */
export interface NestedReader {
  read(reader: Reader, message: string): unknown;
  /** Reads an object in an envelope with its kind. */
  object(bytes: Buffer): unknown;
  json(bytes: Buffer): unknown;
}

/** Writes a nested message. */
type NestedWriter = (writer: Writer, value: unknown, message: string) => void;

interface SpecialType {
  /** Returns the JSON value; undefined if there is none. */
  read(fields: WireFields, nested: NestedReader): unknown;
  /** Writes the fields in reverse order. */
  write(writer: Writer, value: unknown, nested: NestedWriter): void;
}

/** The fields of a small message, by number. */
class WireFields {
  readonly #values: readonly (readonly [number, number | bigint | Buffer])[];

  constructor(reader: Reader) {
    const values: (readonly [number, number | bigint | Buffer])[] = [];
    while (!reader.done) {
      const { number, wire } = reader.tag();
      if (wire === wireTypes.varint) values.push([number, reader.integer()]);
      else if (wire === wireTypes.bytes) values.push([number, reader.bytes()]);
      else reader.skip(wire);
    }
    this.#values = values;
  }

  get empty(): boolean {
    return this.#values.length === 0;
  }

  integer(number: number): number | bigint {
    const value = this.#values.findLast(([each]) => each === number)?.[1] ?? 0;
    if (typeof value === 'object') throw new InvalidMessage('text stands where a number is expected');
    return value;
  }

  all(number: number): readonly Buffer[] {
    return this.#values.flatMap(([each, value]) => (each === number && typeof value === 'object' ? [value] : []));
  }

  text(number: number): string {
    return this.all(number).at(-1)?.toString() ?? '';
  }
}

const { bytes: asBytes, varint: asVarint } = wireTypes;

const quantity: SpecialType = {
  read: (fields) => (fields.empty ? '0' : fields.text(1)),
  write(writer, value) {
    writer.text(String(value));
    writer.tag(1, asBytes);
  },
};

const intOrString: SpecialType = {
  read: (fields) => (fields.integer(1) === 1 ? fields.text(3) : fields.integer(2)),
  write(writer, value) {
    const isText = typeof value === 'string';
    writer.text(isText ? value : '');
    writer.tag(3, asBytes);
    writer.integer(isText ? 0 : (value as number));
    writer.tag(2, asVarint);
    writer.integer(isText ? 1 : 0);
    writer.tag(1, asVarint);
  },
};

/** The range of times in JSON in seconds: the years 0001 to 9999. */
const [earliest, latest] = [-62_135_596_800, 253_402_300_799];

/** Seconds and nanoseconds since 1970. An empty message is an unset time. */
const time: SpecialType = {
  read: (fields) => (fields.empty ? undefined : timestamp(secondsOf(fields) * 1000)),
  write: writeTime,
};

const microTime: SpecialType = {
  read(fields) {
    if (fields.empty) return undefined;
    const micros = Math.floor(Number(fields.integer(2)) / 1000) % 1_000_000;
    return timestamp(secondsOf(fields) * 1000).replace('Z', `.${String(micros).padStart(6, '0')}Z`);
  },
  write: writeTime,
};

function secondsOf(fields: WireFields): number {
  const seconds = Number(fields.integer(1));
  if (seconds < earliest || seconds > latest) throw new InvalidMessage('a time is out of range');
  return seconds;
}

function writeTime(writer: Writer, value: unknown): void {
  const text = String(value);
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) return;
  const fraction = /\.(\d{1,9})/.exec(text)?.[1] ?? '';
  writer.integer(Number(fraction.padEnd(9, '0')));
  writer.tag(2, asVarint);
  writer.integer(Math.floor(ms / 1000));
  writer.tag(1, asVarint);
}

/** A single field with JSON or with an object in protobuf. */
const json: SpecialType = {
  read(fields, nested) {
    const [bytes] = fields.all(1);
    if (bytes === undefined || bytes.length === 0) return undefined;
    if (startsObject(bytes)) return nested.object(bytes);
    return nested.json(bytes);
  },
  write(writer, value) {
    writer.bytes(Buffer.from(stringifyJson(value)));
    writer.tag(1, asBytes);
  },
};

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** Whether the bytes start with the magic bytes of an object in protobuf. */
export function startsObject(bytes: Buffer): boolean {
  return bytes.subarray(0, magic.length).equals(magic);
}

/** The magic bytes at the start of every object in protobuf. */
export const objectStart: Buffer = magic;

const schema = 'apiextensions.v1.JSONSchemaProps';

function readSchemas(fields: WireFields, number: number, nested: NestedReader): unknown[] {
  return fields.all(number).map((bytes) => nested.read(new Reader(bytes), schema));
}

function writeSchema(writer: Writer, number: number, value: unknown, nested: NestedWriter): void {
  const from = writer.size;
  nested(writer, value, schema);
  writer.message(number, from);
}

const schemaOrBool: SpecialType = {
  read: (fields, nested) => readSchemas(fields, 2, nested).at(-1) ?? fields.integer(1) !== 0,
  write(writer, value, nested) {
    if (typeof value !== 'boolean') writeSchema(writer, 2, value, nested);
    writer.integer(value === false ? 0 : 1);
    writer.tag(1, asVarint);
  },
};

const schemaOrArray: SpecialType = {
  read(fields, nested) {
    const list = readSchemas(fields, 2, nested);
    return list.length > 0 ? list : readSchemas(fields, 1, nested).at(-1);
  },
  write(writer, value, nested) {
    if (!Array.isArray(value)) return writeSchema(writer, 1, value, nested);
    for (const item of value.toReversed()) writeSchema(writer, 2, item, nested);
  },
};

const schemaOrStringArray: SpecialType = {
  read(fields, nested) {
    const list = fields.all(2).map((bytes) => bytes.toString());
    return list.length > 0 ? list : readSchemas(fields, 1, nested).at(-1);
  },
  write(writer, value, nested) {
    if (!Array.isArray(value)) return writeSchema(writer, 1, value, nested);
    for (const item of value.toReversed()) {
      writer.text(String(item));
      writer.tag(2, asBytes);
    }
  },
};

const types: Readonly<Record<string, SpecialType>> = {
  'resource.Quantity': quantity,
  'intstr.IntOrString': intOrString,
  'meta.v1.Time': time,
  'meta.v1.MicroTime': microTime,
  'meta.v1.FieldsV1': json,
  'runtime.RawExtension': json,
  'apiextensions.v1.JSON': json,
  'apiextensions.v1.JSONSchemaPropsOrArray': schemaOrArray,
  'apiextensions.v1.JSONSchemaPropsOrBool': schemaOrBool,
  'apiextensions.v1.JSONSchemaPropsOrStringArray': schemaOrStringArray,
};

/** The types that are read and written here instead of by the message table. */
export const specialTypes: ReadonlyMap<string, SpecialType> = new Map(Object.entries(types));

/** Reads a message of a special type. */
export function readSpecial(type: SpecialType, reader: Reader, nested: NestedReader): unknown {
  return type.read(new WireFields(reader), nested);
}
