// The framing of a chunked HTTP body (RFC 9112, section 7.1). Used by watch-connection.ts for bodies that bypass Node's
// parser.

const CR = 13;
const LF = 10;
const SEMICOLON = 59;
/** More digits than this make a size that a number cannot hold; no chunk is ever that large. */
const SIZE_DIGITS = 13;

type State = 'size' | 'extension' | 'end of size' | 'data' | 'end of data' | 'end of line' | 'trailer' | 'end' | 'over';

/** Removes the framing of a body. The bytes may be split anywhere; the data is passed on without copying it. */
export class Dechunker {
  readonly #onData: (bytes: Buffer) => void;
  #state: State = 'size';
  #digits = 0;
  /** The size of the chunk as far as it was read; then the number of its bytes still to come. */
  #size = 0;
  /** Whether the current line of the trailer has content. */
  #inLine = false;

  constructor(onData: (bytes: Buffer) => void) {
    this.#onData = onData;
  }

  /** Takes more bytes; returns whether the body has ended. Throws on invalid framing. */
  push(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length && this.#state !== 'over') {
      if (this.#state !== 'data') {
        this.#state = this.#next(bytes[at++]!);
        continue;
      }
      const end = Math.min(at + this.#size, bytes.length);
      const piece = bytes.subarray(at, end);
      this.#size -= end - at;
      if (this.#size === 0) this.#state = 'end of data';
      at = end;
      this.#onData(piece);
    }
    if (at < bytes.length) throw new Error('there is more after the last chunk');
    return this.#state === 'over';
  }

  /** The state after a byte of the framing. */
  #next(byte: number): State {
    switch (this.#state) {
      case 'size':
        return this.#readSize(byte);
      case 'extension':
        return byte === CR ? 'end of size' : 'extension';
      case 'end of size':
        expect(byte, LF);
        this.#digits = 0;
        return this.#size > 0 ? 'data' : 'trailer';
      case 'end of data':
        expect(byte, CR);
        return 'end of line';
      case 'end of line':
        expect(byte, LF);
        return 'size';
      case 'trailer':
        if (byte === CR) return 'end';
        this.#inLine = true;
        return 'trailer';
      case 'end':
        expect(byte, LF);
        if (!this.#inLine) return 'over';
        this.#inLine = false;
        return 'trailer';
      case 'data':
      case 'over':
        return this.#state;
    }
  }

  #readSize(byte: number): State {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      if (++this.#digits > SIZE_DIGITS) throw new Error('a chunk is too large');
      this.#size = this.#size * 16 + digit;
      return 'size';
    }
    if (this.#digits === 0) throw new Error('a chunk has no size');
    if (byte === CR) return 'end of size';
    if (byte === SEMICOLON) return 'extension';
    throw new Error('the size of a chunk is not a number');
  }
}

function expect(byte: number, expected: number): void {
  if (byte !== expected) throw new Error('a chunk does not end where it should');
}

/** The value of a hexadecimal digit; -1 for anything else. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}
