// One HTTP request to the API server over kept-alive connections, and the collecting of its answer. Called by exchange.ts.
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
import type { ConnectConfig } from './config.ts';
import type { Credential } from './credentials.ts';
import { connectionError, networkError } from './errors.ts';
import type { RequestLine } from './errors.ts';
import { http } from './http.ts';
import { openTunnel } from './proxy.ts';

/** A request as it goes over the wire; `path` has its query, and is without the path of the server's URL. */
export interface WireRequest extends RequestLine {
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** The failure of a request on a kept-alive connection that the server had given up: it never saw the request. */
export class StaleConnection extends Error {}

const inflate = promisify(gunzip);

/** The connections to one API server. */
export class Transport {
  readonly host: string;
  readonly #url: URL;
  readonly #prefix: string;
  readonly #config: ConnectConfig;
  #agent: { readonly agent: Agent; readonly certPem?: string; readonly keyPem?: string } | undefined;

  constructor(config: ConnectConfig) {
    const url = URL.parse(config.server);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      throw new Error(`server must be an http or https URL, found '${config.server}'`);
    }
    this.#url = url;
    this.#prefix = url.pathname.replace(/\/+$/, '');
    this.#config = config;
    this.host = url.host;
  }

  /** Sends a request and resolves with the answer's head; its body is still to come. An abort also ends the body. */
  open(request: WireRequest, credential: Credential, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      let response: IncomingMessage | undefined;
      const outgoing = this.#start(request, credential);
      const abort = (): void => void (response ?? outgoing).destroy(signal.reason as Error);
      signal.addEventListener('abort', abort, { once: true });
      outgoing.on('response', (incoming) => {
        response = incoming;
        resolve(incoming);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const failure = networkError(request, this.host, error);
        const stale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(stale ? new StaleConnection(failure.message, { cause: failure }) : failure);
      });
      outgoing.on('close', () => signal.removeEventListener('abort', abort));
      outgoing.end(request.body);
    });
  }

  /** Ends every connection, also those in use. */
  close(): void {
    this.#agent?.agent.destroy();
  }

  #start(request: WireRequest, credential: Credential): ClientRequest {
    return (this.#url.protocol === 'https:' ? https : http).request({
      agent: this.#agentFor(credential),
      host: this.#url.hostname.replaceAll(/^\[|\]$/g, ''),
      port: this.#url.port,
      method: request.method,
      path: this.#prefix + request.path,
      headers: withLength(request, credential),
    });
  }

  /** Connections belong to a client certificate: another certificate means another agent. */
  #agentFor({ certPem, keyPem }: Credential): Agent {
    const known = this.#agent;
    if (known !== undefined && known.certPem === certPem && known.keyPem === keyPem) return known.agent;
    if (known !== undefined) retire(known.agent);
    const agent = makeAgent(this.#url, this.#config, certPem, keyPem);
    this.#agent = { agent, ...(certPem === undefined ? {} : { certPem }), ...(keyPem === undefined ? {} : { keyPem }) };
    return agent;
  }
}

/** Requests under way finish on their connections, which then end; idle ones end at once. */
function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

/** Without a length, Node sends a body in chunks, and of a DELETE not even that: the API server then ignores it. */
function withLength({ headers, body }: WireRequest, { authorization }: Credential): OutgoingHttpHeaders {
  return {
    ...headers,
    ...(authorization === undefined ? {} : { authorization }),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
}

function makeAgent(url: URL, config: ConnectConfig, certPem?: string, keyPem?: string): Agent {
  const options: https.AgentOptions = { keepAlive: true, scheduling: 'lifo' };
  if (url.protocol === 'http:') {
    return config.proxyUrl === undefined ? new http.Agent(options) : new HttpProxyAgent(config.proxyUrl, options);
  }
  // One context for all connections: reading the certificates again for each would cost more than the handshake.
  options.secureContext = tls.createSecureContext({ ca: config.caPem, cert: certPem, key: keyPem });
  options.rejectUnauthorized = config.insecureSkipTlsVerify !== true;
  if (config.tlsServerName !== undefined) options.servername = config.tlsServerName;
  return config.proxyUrl === undefined ? new https.Agent(options) : new HttpsProxyAgent(config.proxyUrl, options);
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

/** The whole body of an answer, decompressed. Rejects when the connection is lost on the way, or the signal aborts. */
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

/** The error for a body that broke off. */
export function lost(request: RequestLine, error: Error, signal: AbortSignal): Error {
  if (signal.aborted) return signal.reason as Error;
  return connectionError(
    request,
    'ConnectionLost',
    `the connection was lost while the answer came in: ${error.message}`,
    error,
  );
}
