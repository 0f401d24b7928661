// Replaces the pods' addresses in a stream of bytes by loopback addresses of the same length, so that JSON and protobuf
// stay valid.
import { POD_NETWORK } from './range.ts';

const ADDRESS = /10\.244\.(\d{1,3}\.\d{1,3})/g;
/** The end of a piece that may be the start of an address. */
const UNFINISHED = /(?:1|10|10\.|10\.2|10\.24|10\.244|10\.244\.[\d.]*)$/;

/** Rewrites one stream, piece by piece. */
export class Rewriter {
  readonly #prefix: string;
  #rest = '';

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The bytes to send, and the addresses in them. What may be the start of an address is held back. */
  push(piece: Buffer): { readonly bytes: Buffer; readonly addresses: readonly string[] } {
    const text = this.#rest + piece.toString('latin1');
    this.#rest = UNFINISHED.exec(text)?.[0] ?? '';
    return this.#replace(text.slice(0, text.length - this.#rest.length));
  }

  /** The bytes that were held back. */
  end(): { readonly bytes: Buffer; readonly addresses: readonly string[] } {
    const text = this.#rest;
    this.#rest = '';
    return this.#replace(text);
  }

  #replace(text: string): { readonly bytes: Buffer; readonly addresses: readonly string[] } {
    const addresses = Array.from(text.matchAll(ADDRESS), ([, end]) => `${this.#prefix}${end}`);
    return { bytes: Buffer.from(text.replaceAll(POD_NETWORK, this.#prefix), 'latin1'), addresses };
  }
}
