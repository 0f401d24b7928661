// The wire format of protobuf: reads and writes numbers, strings and messages. Not specific to Kubernetes.

/** A message is not valid protobuf. */
export class InvalidMessage extends Error {}

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const safeBits = 53;
const shortText = 64;

export class Reader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** Reads the number and wire type of the next field. */
  tag(): { readonly number: number; readonly wire: number } {
    const tag = this.#unsigned();
    if (tag > 0xffff_ffff || tag < 8) throw new InvalidMessage('a field has no number');
    return { number: Math.floor(tag / 8), wire: tag % 8 };
  }

  /** Reads a signed integer; returns a bigint if it is not a safe integer. */
  integer(): number | bigint {
    const start = this.#at;
    let value = 0;
    for (let shift = 0; shift + 7 <= safeBits; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    this.#at = start;
    const exact = BigInt.asIntN(64, this.#exact());
    const rounded = Number(exact);
    return Number.isSafeInteger(rounded) ? rounded : exact;
  }

  double(): number {
    return this.#bytes.readDoubleLE(this.#take(8));
  }

  text(): string {
    const [start, end] = this.#span();
    return this.#bytes.toString('utf8', start, end);
  }

  bytes(): Buffer {
    return this.#bytes.subarray(...this.#span());
  }

  message(): Reader {
    return new Reader(this.#bytes, ...this.#span());
  }

  skip(wire: number): void {
    if (wire === wireTypes.varint) this.#exact();
    else if (wire === wireTypes.fixed64) this.#take(8);
    else if (wire === wireTypes.bytes) this.#span();
    else if (wire === wireTypes.fixed32) this.#take(4);
    else throw new InvalidMessage('a field has an unknown wire type');
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new InvalidMessage('it ends inside a number');
    return this.#bytes[this.#at++]!;
  }

  #unsigned(): number {
    const value = this.integer();
    if (typeof value === 'bigint' || value < 0) throw new InvalidMessage('a length is out of range');
    return value;
  }

  #exact(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new InvalidMessage('a number is too long');
  }

  /** Skips some bytes and returns their start. */
  #take(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) throw new InvalidMessage('it ends inside a field');
    this.#at = start + length;
    return start;
  }

  #span(): [start: number, end: number] {
    const length = this.#unsigned();
    const start = this.#take(length);
    return [start, start + length];
  }
}

/**
 * Writes a message from back to front, because the length of a part precedes it but is known only after the part is
 * written. Call it for the last field first, and for each field write the value before the tag.
 */
export class Writer {
  #bytes = Buffer.allocUnsafe(1024);
  #at = this.#bytes.length;

  /** The number of bytes written so far. */
  get size(): number {
    return this.#bytes.length - this.#at;
  }

  finish(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#at));
  }

  tag(number: number, wire: number): void {
    this.integer(number * 8 + wire);
  }

  integer(value: number | bigint): void {
    if (value >= 0 && value < 0x80) {
      const at = this.#room(1);
      this.#bytes[at] = Number(value);
      return;
    }
    if (typeof value === 'bigint' || value < 0) return this.#exact(BigInt.asUintN(64, BigInt(value)));
    let length = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
    let at = this.#room(length);
    let rest = value;
    for (; length > 1; length--) {
      this.#bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[at] = rest;
  }

  double(value: number): void {
    const at = this.#room(8);
    this.#bytes.writeDoubleLE(value, at);
  }

  text(value: string): void {
    if (value.length > shortText || !this.#shortText(value)) {
      const length = Buffer.byteLength(value);
      const at = this.#room(length);
      this.#bytes.write(value, at, 'utf8');
      this.integer(length);
    }
  }

  /** Copies short ASCII strings, which are the most frequent, faster than `Buffer.write`. */
  #shortText(value: string): boolean {
    const { length } = value;
    const at = this.#room(length);
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) {
        this.#at += length;
        return false;
      }
      this.#bytes[at + index] = code;
    }
    this.integer(length);
    return true;
  }

  bytes(value: Buffer): void {
    const at = this.#room(value.length);
    value.copy(this.#bytes, at);
    this.integer(value.length);
  }

  /** Ends a nested message that started at the size `from`. */
  message(number: number, from: number): void {
    this.integer(this.size - from);
    this.tag(number, wireTypes.bytes);
  }

  #exact(value: bigint): void {
    const groups: number[] = [];
    let rest = value;
    for (; rest >= 0x80n; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    const at = this.#room(groups.length);
    for (const [index, group] of groups.entries()) this.#bytes[at + index] = group;
  }

  /** Reserves space before the written bytes and returns its start. */
  #room(length: number): number {
    if (length > this.#at) {
      const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.size + length));
      const at = larger.length - this.size;
      this.#bytes.copy(larger, at, this.#at);
      this.#bytes = larger;
      this.#at = at;
    }
    return (this.#at -= length);
  }
}
