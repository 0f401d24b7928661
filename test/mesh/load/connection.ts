// A keep-alive connection that sends one request at a time, with little CPU time per request, so that a busy machine
// still sends a thousand a second.
import { connect } from 'node:net';
import type { Socket } from 'node:net';

/** How a request ended: the image that answered, or the error. */
export type Outcome = { readonly image: string } | { readonly failure: string };

/** Long, because a busy machine answers late: a request that is lost is never answered. */
const DEADLINE_MS = 30_000;

export class Connection {
  readonly #socket: Socket;
  #received = '';
  #done: ((outcome: Outcome) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** False once it can't be reused. */
  isOpen = true;

  constructor(address: string, port: number) {
    this.#socket = connect({ host: address, port, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => this.#end({ failure: error.code ?? error.message }));
    this.#socket.on('close', () => this.#end({ failure: 'closed before the answer' }));
  }

  send(request: string, done: (outcome: Outcome) => void): void {
    this.#done = done;
    this.#timer = setTimeout(() => this.close({ failure: `no answer within ${DEADLINE_MS} ms` }), DEADLINE_MS);
    this.#socket.write(request, 'latin1');
  }

  close(outcome: Outcome = { failure: 'stopped' }): void {
    this.#end(outcome);
    this.#socket.destroy();
  }

  #end(outcome: Outcome): void {
    this.isOpen = false;
    this.#finish(outcome);
  }

  #finish(outcome: Outcome): void {
    clearTimeout(this.#timer);
    const done = this.#done;
    this.#done = undefined;
    done?.(outcome);
  }

  /** Expects a Content-Length: the pods and Envoy itself always send one. */
  #read(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.slice(0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
    if (this.#received.length < end + 4 + length) return;
    const body = this.#received.slice(end + 4, end + 4 + length);
    this.#received = this.#received.slice(end + 4 + length);
    if (/\r\nconnection: close/i.test(head)) this.isOpen = false;
    const image = /\r\nx-image: ([^\r]*)/i.exec(head)?.[1];
    const isFine = head.startsWith('HTTP/1.1 200 ') && image !== undefined;
    this.#finish(isFine ? { image } : { failure: `${head.split('\r\n', 1)[0]} ${body}`.trim() });
    if (!this.isOpen) this.#socket.destroy();
  }
}
