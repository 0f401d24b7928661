// Posts a review to a webhook over HTTPS, for admission and the conversion of custom resources. Error messages are
// those of the real API server.
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import type { IncomingMessage } from 'node:http';
import { parseJson, stringifyJson } from '../kube/json.ts';

/** The base URL of the pods behind a service; undefined when no pod serves it. */
export type ServiceResolver = (service: {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}) => string | undefined;

/** The address of a webhook, and the CA bundle that verifies it. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly caBundle?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly port?: number;
    readonly path?: string;
  };
}

const answerLimit = 3 * 1024 * 1024;

interface Destination {
  readonly url: URL;
  /** The name that the certificate must match, if it is not the host of the URL. */
  readonly servername?: string;
}

function destinationOf({ url, service }: WebhookClientConfig, resolve: ServiceResolver): Destination {
  if (url !== undefined) return { url: new URL(url) };
  if (service === undefined) throw new Error('clientConfig must have a url or a service');
  const { namespace, name, port = 443, path: servicePath = '/' } = service;
  const base = resolve({ namespace, name, port });
  if (base === undefined) throw new Error(`service "${namespace}/${name}" port ${port} is not served here`);
  return { url: new URL(servicePath, base), servername: `${name}.${namespace}.svc` };
}

/** Resolves to the webhook's response. Rejects when the webhook cannot be reached or does not answer with JSON. */
export async function postReview(
  config: WebhookClientConfig,
  review: object,
  resolve: ServiceResolver,
  timeoutSeconds: number,
): Promise<unknown> {
  const body = stringifyJson(review);
  const { url, servername } = destinationOf(config, resolve);
  const { caBundle } = config;
  // Cleaned as Go's client does: `//validate` becomes `/validate`.
  url.pathname = path.posix.resolve('/', url.pathname);
  url.searchParams.set('timeout', `${timeoutSeconds}s`);
  const options = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
    // The bundle may also be the server's own certificate, whoever signed it.
    ...(caBundle !== undefined && { ca: Buffer.from(caBundle, 'base64'), allowPartialTrustChain: true }),
    ...(servername !== undefined && { servername }),
    signal: AbortSignal.timeout(timeoutSeconds * 1000),
  };
  let response: IncomingMessage;
  let text: string;
  try {
    response = await new Promise<IncomingMessage>((arrived, failed) => {
      httpsRequest(url, options, arrived).on('error', failed).end(body);
    });
    text = await readAnswer(response);
  } catch (error) {
    const { name, message } = error as Error;
    const why = name === 'AbortError' || name === 'TimeoutError' ? 'context deadline exceeded' : message;
    throw new Error(`Post "${url.href}": ${why}`, { cause: error });
  }
  if (response.statusCode === 200) return parseJson(text);
  if (response.statusCode === 404) throw new Error('the server could not find the requested resource');
  throw new Error(`an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`);
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > answerLimit) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
