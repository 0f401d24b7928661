// Answers: what a handler returns, and how it is written to the connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { converting } from '../conversion/forms.ts';
import type { Stored } from '../store/types.ts';
import type { Cluster } from './context.ts';
import type { Status } from './fault.ts';
import { jsonType, prefersProtobuf, protobufType } from './negotiate.ts';
import { json, listBody, objectBody } from './represent.ts';
import type { ListMeta, View } from './represent.ts';
import { protobufValue } from './represent-protobuf.ts';

export interface Answer {
  readonly code: number;
  /** Bytes as they are, or an object that is still to be put into the form that the caller accepts. */
  readonly body: Buffer | object;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const compress = promisify(gzip);
const compressFrom = 128 * 1024;
const unreadMs = 60_000;
const warningCharacters = 4096;
const charactersOfOne = 256;

/** An answer that shows a stored object. `fresh`: the webhook that converts it is asked again. */
export async function objectAnswer(
  cluster: Cluster,
  code: number,
  stored: Stored,
  view: View,
  fresh = false,
): Promise<Answer> {
  await converting(cluster, [stored], view.resource, fresh);
  return { code, body: objectBody(stored, view), contentType: contentTypeOf(view) };
}

/** An answer that shows a list of stored objects. */
export async function listAnswer(
  cluster: Cluster,
  code: number,
  items: readonly Stored[],
  metadata: ListMeta,
  view: View,
): Promise<Answer> {
  await converting(cluster, items, view.resource);
  return { code, body: listBody(items, metadata, view), contentType: contentTypeOf(view) };
}

function contentTypeOf({ format }: View): string {
  return format.protobuf ? protobufType : jsonType;
}

/** The answer that tells a Status. */
export function statusAnswer(status: Status): Answer {
  const retry = status.details?.retryAfterSeconds;
  const answer = { code: status.code ?? 200, body: status };
  return retry === undefined ? answer : { ...answer, headers: { 'Retry-After': String(retry) } };
}

/** Is a body to be compressed? Between two programs of one machine, compressing takes longer than sending. */
export function isCompressed(accepted: string | undefined, from: string | undefined, size: number): boolean {
  if (size < compressFrom || !/\bgzip\b/.test(accepted ?? '')) return false;
  return !/^(::1|(::ffff:)?127\.[\d.]+)$/.test(from ?? '');
}

/** Writes an answer; large bodies are compressed for distant clients that accept it. */
export async function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  warnings: readonly string[],
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  const [encoded, type] = encodedBody(answer.body, request.headers.accept);
  const headers: Record<string, string | string[] | number> = {
    'Content-Type': answer.contentType ?? type,
    'Cache-Control': 'no-cache, private',
    ...answer.headers,
  };
  if (warnings.length > 0) headers['Warning'] = shortened(warnings).map(warningHeader);
  let body = encoded;
  const accepted = request.headers['accept-encoding']?.toString();
  if (isCompressed(accepted, request.socket.remoteAddress, body.length)) {
    body = await compress(body, { level: 1 });
    headers['Content-Encoding'] = 'gzip';
    headers['Vary'] = 'Accept-Encoding';
  }
  headers['Content-Length'] = body.length;
  // Whoever asks for much and then does not read it may not keep it in our memory.
  if (body.length >= compressFrom) response.setTimeout(unreadMs, () => response.destroy());
  response.writeHead(answer.code, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

function encodedBody(body: Buffer | object, accept: string | undefined): [Buffer, string] {
  if (Buffer.isBuffer(body)) return [body, jsonType];
  const bytes = prefersProtobuf(accept) ? protobufValue(body) : undefined;
  return bytes === undefined ? [json(body), jsonType] : [bytes, protobufType];
}

/** Each warning once. Many, or long ones, are cut: clients take no more than some kilobytes of headers. */
function shortened(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)];
  let left = warningCharacters;
  if (texts.every((text) => (left -= text.length) >= 0)) return texts;
  left = warningCharacters;
  const cut = texts.map((text) => text.slice(0, charactersOfOne));
  const end = cut.findIndex((text) => (left -= text.length) <= 0);
  return end < 0 ? cut : cut.slice(0, end + 1);
}

/** `299 - "text"`, with what a header cannot hold taken out. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]/g, ' ');
  return `299 - "${printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
