// Asks one webhook: an AdmissionReview over HTTPS, and what came back in words that the caller can act on.
import { randomUUID } from 'node:crypto';
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import type { IncomingMessage } from 'node:http';
import { parseJson, stringifyJson } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/objects.ts';
import type { AdmissionRequest } from '../rest/context.ts';
import type { StatusDetails } from '../rest/fault.ts';
import { scaleOf } from '../rest/scale.ts';
import type { Resource } from '../resource.ts';
import { apiVersionOf } from '../registry.ts';
import type { Webhook } from './match.ts';

/** Where the pods behind a service can be reached; undefined when nobody serves it. */
export type ServiceResolver = (service: {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}) => string | undefined;

export interface WebhookAnswer {
  readonly allowed: boolean;
  readonly status?: {
    readonly code?: number;
    readonly message?: string;
    readonly reason?: string;
    readonly details?: StatusDetails;
  };
  readonly patch?: readonly unknown[];
  readonly warnings: readonly string[];
}

const defaultTimeoutSeconds = 10;
const answerLimit = 3 * 1024 * 1024;

/** Calls a webhook. Rejects with a reason when it cannot be reached or does not answer as it should. */
export async function callWebhook(
  webhook: Webhook,
  request: AdmissionRequest,
  resource: Resource,
  resolve: ServiceResolver,
): Promise<WebhookAnswer> {
  const uid = randomUUID();
  const review = {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: { uid, ...admissionRequestOf(request, resource) },
  };
  const body = stringifyJson(review);
  const answer = await blaming('failed to call webhook', async () => parseJson(await post(webhook, body, resolve)));
  return blaming('received invalid webhook response', () => answerOf(answer, uid));
}

async function blaming<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
  }
}

const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** What a webhook is told of a write: the `request` of an AdmissionReview, and of its conditions, but for its uid. */
export function admissionRequestOf(request: AdmissionRequest, resource: Resource): Readonly<Record<string, unknown>> {
  const { target, options, operation } = request;
  const { subresource } = target;
  const isScale = subresource === 'scale';
  const inVersion = (object: AnyObject | undefined): object | null => {
    if (object === undefined) return null;
    return isScale ? scaleOf(target, object) : { ...object, apiVersion: apiVersionOf(resource) };
  };
  const kind = ({ group, version, kind: name }: Resource): object =>
    isScale ? scaleKind : { group, version, kind: name };
  const plural = ({ group, version, plural: name }: Resource): object => ({ group, version, resource: name });
  return {
    kind: kind(resource),
    resource: plural(resource),
    ...(subresource !== '' && { subResource: subresource, requestSubResource: subresource }),
    requestKind: kind(target.resource),
    requestResource: plural(target.resource),
    ...(target.name !== '' && { name: target.name }),
    ...(target.namespace !== '' && { namespace: target.namespace }),
    operation,
    userInfo: options.user,
    object: inVersion(request.object),
    oldObject: inVersion(request.oldObject),
    dryRun: options.dryRun,
    options: {
      ...options.given,
      kind: `${operation.charAt(0)}${operation.slice(1).toLowerCase()}Options`,
      apiVersion: 'meta.k8s.io/v1',
    },
  };
}

interface Destination {
  readonly url: URL;
  /** The name that the certificate must be for, when it is not the host of the URL. */
  readonly servername?: string;
}

function destinationOf(webhook: Webhook, resolve: ServiceResolver): Destination {
  const { url, service } = webhook.clientConfig ?? {};
  if (url !== undefined) return { url: new URL(url) };
  if (service === undefined) throw new Error('clientConfig must have a url or a service');
  const { namespace, name, port = 443, path: servicePath = '/' } = service;
  const base = resolve({ namespace, name, port });
  if (base === undefined) throw new Error(`service "${namespace}/${name}" port ${port} is not served here`);
  return { url: new URL(servicePath, base), servername: `${name}.${namespace}.svc` };
}

async function post(webhook: Webhook, body: string, resolve: ServiceResolver): Promise<string> {
  const { url, servername } = destinationOf(webhook, resolve);
  const { caBundle } = webhook.clientConfig ?? {};
  const seconds = webhook.timeoutSeconds ?? defaultTimeoutSeconds;
  // Joined as a client in Go joins it: `//validate` of a careless configuration is `/validate`.
  url.pathname = path.posix.resolve('/', url.pathname);
  url.searchParams.set('timeout', `${seconds}s`);
  const options = {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
    // The bundle may also be the certificate of the server itself, whoever has signed it.
    ...(caBundle !== undefined && { ca: Buffer.from(caBundle, 'base64'), allowPartialTrustChain: true }),
    ...(servername !== undefined && { servername }),
    signal: AbortSignal.timeout(seconds * 1000),
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
  if (response.statusCode === 200) return text;
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

function answerOf(review: unknown, uid: string): WebhookAnswer {
  const response = (review as { response?: Record<string, unknown> } | null)?.response;
  if (typeof response !== 'object' || response === null) throw new Error('webhook response was absent');
  if (response['uid'] !== uid) throw new Error(`expected response.uid="${uid}", got "${String(response['uid'])}"`);
  const { patch, patchType, warnings, status } = response;
  if (patch !== undefined && patchType === undefined) {
    throw new Error('webhook returned response.patch but not response.patchType');
  }
  if (patch !== undefined && patchType !== 'JSONPatch') {
    throw new Error(`invalid value of response.patchType="${String(patchType)}": must be JSONPatch`);
  }
  return {
    allowed: response['allowed'] === true,
    ...(typeof status === 'object' && status !== null && { status }),
    ...(typeof patch === 'string' && { patch: parseJson(Buffer.from(patch, 'base64').toString()) as unknown[] }),
    warnings: Array.isArray(warnings) ? warnings.filter((warning) => typeof warning === 'string') : [],
  };
}
