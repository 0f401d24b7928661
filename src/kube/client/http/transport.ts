// One HTTP request to the API server over keep-alive connections, and reading its answer. Called by exchange.ts.
import type {
  Agent,
  AgentOptions,
  ClientRequest,
  ClientRequestArgs,
  IncomingMessage,
  OutgoingHttpHeaders,
} from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { ConnectConfig } from '../config/config.ts';
import type { Credential } from '../auth/credentials.ts';
import { connectionError, networkError } from '../../errors.ts';
import type { RequestLine } from '../../errors.ts';
import { http } from '../../http.ts';
import { openTunnel } from './proxy.ts';
import { afterHead, forWatches } from './watch-connection.ts';

/** A request as it goes over the wire; `path` includes the query, but not the path of the server's URL. */
export interface WireRequest extends RequestLine {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Whether it is a watch: its connection is optimised for reading, and not shared with other requests. */
  readonly watch?: boolean;
  /** Called when there is a connection, right before anything is sent. If it throws, nothing is. */
  readonly beforeSend?: () => void;
}

/** The connections that belong to one client certificate. */
interface Agents {
  readonly requests: Agent;
  readonly watches: Agent;
  readonly certPem: string | undefined;
  readonly keyPem: string | undefined;
}

/** A request failed on a reused keep-alive connection, which the server has probably closed. */
export class StaleConnection extends Error {}

/** `beforeSend` threw: its cause. */
export class NotSent extends Error {}

const inflate = promisify(gunzip);

/** An API server in this process, which needs no connection. Rejects when it does not answer. */
export type LocalServer = (request: WireRequest, signal: AbortSignal) => Promise<IncomingMessage>;

/** The connections to one API server. */
export class Transport {
  readonly host: string;
  readonly #url: URL;
  readonly #prefix: string;
  readonly #config: ConnectConfig;
  readonly #local: LocalServer | undefined;
  #agents: Agents | undefined;

  constructor(config: ConnectConfig, local?: LocalServer) {
    const url = URL.parse(config.server);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new Error(`server must be an http or https URL, found '${config.server}'`);
    }
    this.#url = url;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#config = config;
    this.#local = local;
    this.host = url.host;
  }

  /** Sends a request and resolves with the head of the answer; the body follows. An abort also ends the body. */
  open(request: WireRequest, credential: Credential, signal: AbortSignal): Promise<IncomingMessage> {
    if (this.#local !== undefined) return this.#openLocally(this.#local, request, credential, signal);
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let response: IncomingMessage | undefined;
      const outgoing = this.#start(request, credential);
      const abort = (): void => void (response ?? outgoing).destroy(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      outgoing.on('information', (head) => afterHead(head, outgoing.socket));
      outgoing.on('response', (incoming) => {
        afterHead(incoming, incoming.socket);
        response = incoming;
        resolve(incoming);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(signal.reason as Error);
        if (error instanceof NotSent) return reject(error);
        const failure = networkError(request, this.host, error);
        const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(stale ? new StaleConnection(failure.message, { cause: failure }) : failure);
      });
      outgoing.on('close', () => signal.removeEventListener('abort', abort));
      const send = (): void => {
        const obstacle = obstacleTo(request);
        if (obstacle === undefined) outgoing.end(request.body);
        else outgoing.destroy(obstacle);
      };
      if (request.beforeSend === undefined) send();
      else onConnection(outgoing, send);
    });
  }

  async #openLocally(
    local: LocalServer,
    request: WireRequest,
    credential: Credential,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    signal.throwIfAborted();
    const obstacle = obstacleTo(request);
    if (obstacle !== undefined) throw obstacle;
    try {
      return await local({ ...request, headers: withLength(request, credential) }, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw networkError(request, this.host, error as Error);
    }
  }

  /** Closes every connection, also those in use. */
  close(): void {
    this.#agents?.requests.destroy();
    this.#agents?.watches.destroy();
  }

  #start(request: WireRequest, credential: Credential): ClientRequest {
    const agents = this.#agentsFor(credential);
    return (this.#url.protocol === 'https:' ? https : http).request({
      agent: request.watch ? agents.watches : agents.requests,
      host: this.#url.hostname.replaceAll(/^\[|\]$/g, ''),
      port: this.#url.port,
      method: request.method,
      path: this.#prefix + request.path,
      headers: withLength(request, credential),
    });
  }

  /** A new certificate needs new connections. */
  #agentsFor({ certPem, keyPem }: Credential): Agents {
    const known = this.#agents;
    if (known !== undefined && known.certPem === certPem && known.keyPem === keyPem) return known;
    for (const agent of known === undefined ? [] : [known.requests, known.watches]) retire(agent);
    const options = agentOptions(this.#url, this.#config, certPem, keyPem);
    const make = (): Agent => makeAgent(this.#url, this.#config, options);
    return (this.#agents = { requests: make(), watches: forWatches(make()), certPem, keyPem });
  }
}

/** Calls `send` as soon as what it writes leaves at once. */
function onConnection(outgoing: ClientRequest, send: () => void): void {
  outgoing.on('socket', (socket) => {
    const isSecure = socket instanceof tls.TLSSocket;
    if (outgoing.reusedSocket || (!isSecure && !socket.connecting)) send();
    else socket.once(isSecure ? 'secureConnect' : 'connect', send);
  });
}

/** Why a request must not be sent. */
function obstacleTo({ beforeSend }: WireRequest): NotSent | undefined {
  try {
    beforeSend?.();
    return undefined;
  } catch (error) {
    return new NotSent('the request was not sent', { cause: error });
  }
}

/** Requests in flight finish on their connections, which are then closed; idle ones are closed at once. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

/** Without a length, Node sends a body chunked, and that of a DELETE without framing: the API server ignores it. */
function withLength({ headers, body }: WireRequest, { authorization }: Credential): OutgoingHttpHeaders {
  return {
    ...headers,
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

function agentOptions(url: URL, config: ConnectConfig, certPem?: string, keyPem?: string): https.AgentOptions {
  const options: https.AgentOptions = { keepAlive: true, scheduling: 'lifo' };
  if (url.protocol === 'http:') return options;
  // One context for all connections: parsing the certificates for each would cost more than the handshake.
  options.secureContext = tls.createSecureContext({ ca: config.caPem, cert: certPem, key: keyPem });
  options.rejectUnauthorized = config.insecureSkipTlsVerify !== true;
  if (config.tlsServerName !== undefined) options.servername = config.tlsServerName;
  return options;
}

function makeAgent({ protocol }: URL, { proxyUrl }: ConnectConfig, options: https.AgentOptions): Agent {
  if (proxyUrl === undefined) return protocol === 'http:' ? new http.Agent(options) : new https.Agent(options);
  return protocol === 'http:' ? new HttpProxyAgent(proxyUrl, options) : new HttpsProxyAgent(proxyUrl, options);
}

type Created = (error: Error | null, socket: Duplex) => void;

class HttpProxyAgent extends http.Agent {
  readonly #proxy: string;
  constructor(proxy: string, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: ClientRequestArgs, created: Created): undefined {
    tunnel(this.#proxy, options, (socket) => socket, created);
  }
}

class HttpsProxyAgent extends https.Agent {
  readonly #proxy: string;
  constructor(proxy: string, options: https.AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: https.RequestOptions, created: Created): undefined {
    const secure = (socket: Duplex): Duplex =>
      tls.connect({ ...(options as tls.ConnectionOptions), socket, host: options.host ?? undefined });
    tunnel(this.#proxy, options, secure, created);
  }
}

function tunnel(
  proxy: string,
  { host, port }: ClientRequestArgs,
  wrap: (socket: Duplex) => Duplex,
  created: Created,
): void {
  openTunnel(proxy, host ?? '', Number(port)).then(
    (socket) => created(null, wrap(socket)),
    (error: Error) => created(error, undefined as unknown as Duplex),
  );
}

/** The whole body of an answer, decompressed. Rejects if the connection is lost or the signal aborts. */
export async function collect(request: RequestLine, response: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  const body = await new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    response.on('error', (error) => reject(lost(request, error, signal)));
  });
  if (response.headers['content-encoding'] !== 'gzip') return body;
  try {
    return await inflate(body);
  } catch (error) {
    throw connectionError(
      request,
      'ConnectionLost',
      `the answer cannot be unzipped: ${(error as Error).message}`,
      error,
    );
  }
}

/** The error for a body that was cut off. */
export function lost(request: RequestLine, error: Error, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  return connectionError(
    request,
    'ConnectionLost',
    `the connection was lost while the answer came in: ${error.message}`,
    error,
  );
}
