// A connection for watches. Node's HTTP client sends the request over it and reads the head of the answer; the body is
// read here directly, because Node's parser and streams cost more than decrypting the bytes. Used by transport.ts.
import type { Agent, IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Dechunker } from './chunked.ts';

/** The read buffer that all connections share: a callback must use or copy the bytes before it returns. */
const shared = Buffer.alloc(64 * 1024);
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const [CR, LF] = [13, 10];

/** What the next bytes are: unexpected, a head, held until the head was parsed, for Node, or the body. */
type State = 'idle' | 'head' | 'holding' | 'passing' | 'body';

class WatchConnection extends Duplex {
  readonly #socket: Socket;
  #state: State = 'idle';
  /** How many bytes of the blank line after the head were read. */
  #blank = 0;
  /** Bytes after the response head, kept until the body's encoding is known. */
  #held: Buffer[] = [];
  #body: Dechunker | undefined;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
    socket.on('end', () => this.push(null));
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** Whether a head was read, and one of the three methods below must say what follows. */
  get holding(): boolean {
    return this.#state === 'holding';
  }

  /** Another head follows. */
  expectHead(): void {
    this.#blank = 0;
    this.#setState('head');
  }

  /** What follows is for Node. */
  passToNode(): void {
    this.#setState('passing');
  }

  /** A chunked body follows. Node sees only its end. */
  takeBody(onData: (bytes: Buffer) => void): void {
    this.#body = new Dechunker(onData);
    this.#setState('body');
  }

  receive(bytes: Buffer): void {
    if (this.#state === 'body') this.#readBody(bytes);
    else if (this.#state === 'head') this.#readHead(bytes);
    else if (this.#state === 'passing') this.#pushToNode(bytes);
    else if (this.#state === 'holding') this.#hold(bytes);
    else this.destroy(new Error('the server sent bytes that belong to no request'));
  }

  #setState(state: State): void {
    const held = this.#held;
    this.#held = [];
    this.#state = state;
    for (const bytes of held) this.receive(bytes);
    if (!this.holding) this.#socket.resume();
  }

  #readHead(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.#blank < 4) {
      const byte = bytes[at++]!;
      if (byte === (this.#blank % 2 === 0 ? CR : LF)) this.#blank++;
      else this.#blank = byte === CR ? 1 : 0;
    }
    if (this.#blank === 4) {
      this.#state = 'holding';
      this.#hold(bytes.subarray(at));
    }
    this.#pushToNode(bytes.subarray(0, at));
  }

  #hold(bytes: Buffer): void {
    this.#socket.pause();
    if (bytes.length > 0) this.#held.push(Buffer.from(bytes));
  }

  #pushToNode(bytes: Buffer): void {
    if (!this.push(Buffer.from(bytes))) this.#socket.pause();
  }

  #readBody(bytes: Buffer): void {
    try {
      if (!this.#body!.push(bytes)) return;
      this.#state = 'idle';
      this.push(LAST_CHUNK);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _read(): void {
    if (!this.holding) this.#socket.resume();
  }

  /** Watch requests have no body: every write starts a request. */
  override _write(bytes: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.expectHead();
    this.#socket.write(bytes, encoding, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  // Called by Node's agent on keep-alive connections.
  setKeepAlive(enable: boolean, delayMs: number): void {
    this.#socket.setKeepAlive(enable, delayMs);
  }

  setTimeout(ms: number): void {
    this.#socket.setTimeout(ms);
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }
}

/** Makes an agent open its connections for watches. */
export function forWatches(agent: Agent): Agent {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, created) => {
    let connection: WatchConnection | undefined;
    const wrap = (socket: Duplex): WatchConnection => (connection = new WatchConnection(socket as Socket));
    const callback = (length: number): boolean => {
      connection?.receive(shared.subarray(0, length));
      return true;
    };
    // Only TLS copies decrypted bytes into the buffer; on some systems, a plain socket would write to it at any time.
    const onread = agent instanceof https.Agent ? { onread: { buffer: shared, callback } } : {};
    const socket = create({ ...options, ...onread }, (error, opened) =>
      created?.(error, error === null ? wrap(opened) : opened),
    );
    return socket && wrap(socket);
  };
  return agent;
}

/** Must be called for every head, before anything else is done with the answer. */
export function afterHead(response: Pick<IncomingMessage, 'statusCode' | 'headers'>, socket: Duplex | null): void {
  if (!(socket instanceof WatchConnection) || !socket.holding) return;
  const { statusCode = 0, headers } = response;
  const isPlain = headers['transfer-encoding'] === 'chunked' && headers['content-encoding'] === undefined;
  if (statusCode === 200 && isPlain) return;
  // Node is still parsing the head.
  process.nextTick(() => (statusCode < 200 ? socket.expectHead() : socket.passToNode()));
}

/** Reads the body of an answer as it arrives. The bytes are valid only until the callback returns. */
export function readBody(response: IncomingMessage, onData: (bytes: Buffer) => void): void {
  const socket: Duplex | null = response.socket;
  if (socket instanceof WatchConnection && socket.holding) {
    socket.takeBody(onData);
    response.resume();
  } else {
    response.on('data', onData);
  }
}
