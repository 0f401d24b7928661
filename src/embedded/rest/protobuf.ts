// Protobuf request bodies: kubectl sends them for some `create` commands. Read by the tables of protobuf-kinds.ts into
// the same JSON that other clients send; answers are always JSON.
import { timestamp } from '../../kube/times.ts';
import { badRequest } from './fault.ts';
import { messages } from './protobuf-kinds.ts';

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const deepest = 50;

/** Decodes a body: the magic bytes, then an envelope that names the kind, then the object. */
export function decodeProtobuf(body: Buffer): unknown {
  if (!body.subarray(0, 4).equals(magic)) throw refused('it does not start with the bytes k8s\\0');
  const envelope = new Map(fieldsOf(body.subarray(4)));
  const type = new Map(fieldsOf(bytesIn(envelope.get(1))));
  const [apiVersion, kind] = [bytesIn(type.get(1)).toString(), bytesIn(type.get(2)).toString()];
  const name = [`${apiVersion}/${kind}`, kind].find((each) => Object.hasOwn(messages, each));
  if (name === undefined) throw refused(`the kind ${JSON.stringify(kind)} is not known here: send JSON instead`);
  return { apiVersion, kind, ...(messageOf(bytesIn(envelope.get(2)), name, 0) as object) };
}

function refused(why: string): Error {
  return badRequest(`the protobuf body cannot be read: ${why}`);
}

type Wire = bigint | Buffer;

function bytesIn(value: Wire | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (typeof value === 'bigint') throw refused('a number stands where text or a message is expected');
  return value;
}

/** The fields of a message as they are on the wire. */
function* fieldsOf(bytes: Buffer): Generator<[number, Wire]> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw refused('it ends inside a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw refused('a number is too long');
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw refused('it ends inside a field');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    switch (Number(tag & 7n)) {
      case 0:
        yield [number, varint()];
        break;
      case 1:
        yield [number, take(8)];
        break;
      case 2:
        yield [number, take(Number(varint()))];
        break;
      case 5:
        yield [number, take(4)];
        break;
      default:
        throw refused('a field has an unknown wire type');
    }
  }
}

function messageOf(bytes: Buffer, name: string, depth: number): unknown {
  if (depth > deepest) throw refused('it is nested too deeply');
  if (name === 'Quantity') return bytesIn(new Map(fieldsOf(bytes)).get(1)).toString();
  if (name === 'Time') return timeOf(bytes);
  if (name === 'IntOrString') return intOrString(bytes);
  const table = messages[name];
  if (table === undefined) throw new Error(`no table is named ${name}`);
  const result: Record<string, unknown> = {};
  for (const [number, wire] of fieldsOf(bytes)) {
    const field = table[number];
    if (field === undefined) throw refused(`field ${number} of ${name} is not known here: send JSON instead`);
    const [key, type] = field;
    if (type === 'skip') continue;
    if (type.startsWith('list ')) {
      const list = (result[key] ??= []) as unknown[];
      list.push(valueOf(wire, type.slice(5), depth));
    } else if (type.startsWith('map ')) {
      const entry = new Map(fieldsOf(bytesIn(wire)));
      const value = valueOf(entry.get(2) ?? Buffer.alloc(0), type.slice(4), depth);
      result[key] = { ...(result[key] as object | undefined), [bytesIn(entry.get(1)).toString()]: value };
    } else if (type.startsWith('inline ')) {
      Object.assign(result, valueOf(wire, type.slice(7), depth));
    } else {
      const value = valueOf(wire, type.replace('?', ''), depth);
      // The encoder writes zero values of fields that were never set.
      const unset = value === undefined || (!type.endsWith('?') && (value === '' || value === 0 || value === false));
      if (!unset) result[key] = value;
    }
  }
  return result;
}

function valueOf(wire: Wire, type: string, depth: number): unknown {
  switch (type) {
    case 'string':
      return bytesIn(wire).toString();
    case 'bytes':
      return bytesIn(wire).toString('base64');
    case 'int':
      return numberIn(wire);
    case 'bool':
      return numberIn(wire) !== 0;
    default:
      return messageOf(bytesIn(wire), type, depth + 1);
  }
}

function numberIn(wire: Wire | undefined): number {
  if (typeof wire !== 'bigint') throw refused('text stands where a number is expected');
  return Number(BigInt.asIntN(64, wire));
}

function timeOf(bytes: Buffer): string | undefined {
  const seconds = new Map(fieldsOf(bytes)).get(1);
  if (seconds === undefined) return undefined;
  const ms = numberIn(seconds) * 1000;
  if (Number.isNaN(new Date(ms).getTime())) throw refused('a time is out of range');
  return timestamp(ms);
}

function intOrString(bytes: Buffer): unknown {
  const fields = new Map(fieldsOf(bytes));
  if (numberIn(fields.get(1) ?? 0n) === 1) return bytesIn(fields.get(3)).toString();
  return numberIn(fields.get(2) ?? 0n);
}
