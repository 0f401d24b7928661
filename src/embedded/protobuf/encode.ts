// Encodes JSON as protobuf: objects, lists of encoded objects, and watch events.
import { objectStart, specialTypes } from './special.ts';
import { messageNameOf, messageOf } from './table.ts';
import type { Field } from './table.ts';
import { wireTypes, Writer } from './wire.ts';

interface Typed {
  readonly apiVersion?: string;
  readonly kind?: string;
}

/** Encodes an object in an envelope with its kind; undefined when the kind has no protobuf message. */
export function encodeObject(object: Typed): Buffer | undefined {
  const { apiVersion = '', kind = '' } = object;
  const name = messageNameOf(apiVersion, kind);
  return name === undefined ? undefined : withType({ apiVersion, kind }, [encodeMessage(object, name)]);
}

/** Encodes a message without an envelope. */
export function encodeMessage(value: object, name: string): Buffer {
  const writer = new Writer();
  writeMessage(writer, value, name);
  return writer.finish();
}

/** Wraps an encoded object in an envelope with its kind. */
export function withType({ apiVersion, kind }: Required<Typed>, content: readonly Buffer[]): Buffer {
  const size = content.reduce((sum, { length }) => sum + length, 0);
  const writer = new Writer();
  // The writer writes only the length of the content, which is appended below without a copy.
  writer.integer(size);
  writer.tag(2, wireTypes.bytes);
  const from = writer.size;
  writer.text(kind);
  writer.tag(2, wireTypes.bytes);
  writer.text(apiVersion);
  writer.tag(1, wireTypes.bytes);
  writer.message(1, from);
  return Buffer.concat([objectStart, writer.finish(), ...content, noContentType]);
}

/** The last two fields of an envelope: empty content encoding and content type. */
const noContentType = Buffer.from([0x1a, 0, 0x22, 0]);

/** Encodes a list of encoded items. All list messages have the same layout. */
export function encodeList(type: Required<Typed>, metadata: object, items: readonly Buffer[]): Buffer {
  const parts = [field(1, encodeMessage(metadata, 'meta.v1.ListMeta'))];
  for (const item of items) parts.push(field(2, item, false), item);
  return withType(type, parts);
}

/** Encodes a watch event, preceded by its length. */
export function encodeEvent(type: string, object: Buffer): readonly Buffer[] {
  const raw = field(1, object, false);
  const extension = new Writer();
  extension.integer(raw.length + object.length);
  extension.tag(2, wireTypes.bytes);
  extension.text(type);
  extension.tag(1, wireTypes.bytes);
  const event = extension.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length + raw.length + object.length);
  return [Buffer.concat([length, event, raw]), object];
}

/** Encodes a field that contains a message; `whole = false` returns only the tag and length. */
function field(number: number, content: Buffer, whole = true): Buffer {
  const writer = new Writer();
  writer.integer(content.length);
  writer.tag(number, wireTypes.bytes);
  return whole ? Buffer.concat([writer.finish(), content]) : writer.finish();
}

function writeMessage(writer: Writer, value: unknown, name: string): void {
  const special = specialTypes.get(name);
  if (special !== undefined) return special.write(writer, value, writeMessage);
  const { fields, isUnwrapped } = messageOf(name);
  const object = value as Readonly<Record<string, unknown>>;
  for (let index = fields.length - 1; index >= 0; index--) {
    const each = fields[index]!;
    const content = isUnwrapped || each.inline ? value : object[each.name];
    if (content === undefined || content === null) continue;
    if (each.inline) writeInline(writer, each, content);
    else if (each.list) writeList(writer, each, content as unknown[]);
    else if (each.map) writeMap(writer, each, content);
    else writeValue(writer, each.number, each.type, content);
  }
}

/** Writes a message whose fields are inlined in the JSON of its parent; writes nothing if it has no fields. */
function writeInline(writer: Writer, { number, type }: Field, value: unknown): void {
  const from = writer.size;
  writeMessage(writer, value, type);
  if (writer.size > from) writer.message(number, from);
}

function writeList(writer: Writer, { number, type }: Field, list: readonly unknown[]): void {
  for (let index = list.length - 1; index >= 0; index--) writeValue(writer, number, type, list[index]);
}

function writeMap(writer: Writer, { number, type }: Field, value: unknown): void {
  const map = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(map);
  for (let index = keys.length - 1; index >= 0; index--) {
    const from = writer.size;
    writeValue(writer, 2, type, map[keys[index]!]);
    writer.text(keys[index]!);
    writer.tag(1, wireTypes.bytes);
    writer.message(number, from);
  }
}

function writeValue(writer: Writer, number: number, type: string, value: unknown): void {
  switch (type) {
    case 'string':
      writer.text(value as string);
      return writer.tag(number, wireTypes.bytes);
    case 'bytes':
      writer.bytes(Buffer.from(value as string, 'base64'));
      return writer.tag(number, wireTypes.bytes);
    case 'int':
      writer.integer(value as number | bigint);
      return writer.tag(number, wireTypes.varint);
    case 'bool':
      writer.integer(value === true ? 1 : 0);
      return writer.tag(number, wireTypes.varint);
    case 'double':
      writer.double(Number(value));
      return writer.tag(number, wireTypes.fixed64);
    default: {
      const from = writer.size;
      writeMessage(writer, value, type);
      return writer.message(number, from);
    }
  }
}
