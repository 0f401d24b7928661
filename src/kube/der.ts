// The subset of ASN.1 DER that certificates need: encoding and parsing values. Called by pki.ts.

/** Tags of the DER types used in certificates. */
export const tag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One DER value: tag, length, and the contents one after the other. */
export function encode(tagByte: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tagByte, ...encodeLength(body.length)]), body]);
}

function encodeLength(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

/** A SEQUENCE of already encoded values. */
export function sequence(...values: readonly Uint8Array[]): Buffer {
  return encode(tag.sequence, ...values);
}

/** A non-negative INTEGER from its big-endian bytes, in the shortest form, which DER requires. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  return (shortest[0] ?? 0) >= 0x80 || shortest.length === 0
    ? encode(tag.integer, Buffer.from([0]), shortest)
    : encode(tag.integer, shortest);
}

/** An OBJECT IDENTIFIER from its dotted form. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return encode(tag.objectIdentifier, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const bytes = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** A BIT STRING; `unusedBits` are the padding bits at the end of the last byte. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return encode(tag.bitString, Buffer.from([unusedBits]), bytes);
}

/** UTCTime up to 2049 and GeneralizedTime after, as certificates require; whole seconds. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? encode(tag.utcTime, Buffer.from(digits.slice(2), 'ascii'))
    : encode(tag.generalizedTime, Buffer.from(digits, 'ascii'));
}

/** One parsed DER value: `whole` is as encoded, `content` is without tag and length. */
export interface Element {
  readonly tag: number;
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** The consecutive values in these bytes. Throws if a value reaches beyond the end. */
export function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const tagByte = bytes.readUInt8(offset);
    const short = bytes.readUInt8(offset + 1);
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    const start = offset + 2 + lengthBytes;
    const end = start + (lengthBytes === 0 ? short : bytes.readUIntBE(offset + 2, lengthBytes));
    if (end > bytes.length) throw new RangeError(`DER value at ${offset} ends at ${end}, beyond ${bytes.length} bytes`);
    found.push({ tag: tagByte, whole: bytes.subarray(offset, end), content: bytes.subarray(start, end) });
    offset = end;
  }
  return found;
}
