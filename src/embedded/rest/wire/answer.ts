// Responses: what a handler returns, and how it is written to the connection.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ensureConverted } from '../../conversion/forms.ts';
import type { Stored } from '../../store/types.ts';
import type { Cluster } from '../context.ts';
import type { Status } from '../fault.ts';
import { jsonType, prefersProtobuf, protobufType } from './negotiate.ts';
import { json, listBody, objectBody } from './represent.ts';
import type { ListMeta, View } from './represent.ts';
import { protobufValue } from './represent-protobuf.ts';

export interface Answer {
  readonly code: number;
  /** Encoded bytes, or an object to encode in the format that the client accepts. */
  readonly body: Buffer | object;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const compress = promisify(gzip);
const compressMinBytes = 128 * 1024;
const unreadTimeoutMs = 60_000;
const warningCharacters = 4096;
const charactersPerWarning = 256;

/** A response with a stored object. `fresh` calls the conversion webhook again. */
export async function objectAnswer(
  cluster: Cluster,
  code: number,
  stored: Stored,
  view: View,
  fresh = false,
): Promise<Answer> {
  await ensureConverted(cluster, [stored], view.resource, fresh);
  return { code, body: objectBody(stored, view), contentType: contentTypeOf(view) };
}

/** A response with a list of stored objects. */
export async function listAnswer(
  cluster: Cluster,
  code: number,
  items: readonly Stored[],
  metadata: ListMeta,
  view: View,
): Promise<Answer> {
  await ensureConverted(cluster, items, view.resource);
  return { code, body: listBody(items, metadata, view), contentType: contentTypeOf(view) };
}

function contentTypeOf({ format }: View): string {
  return format.protobuf ? protobufType : jsonType;
}

/** A response with a Status. */
export function statusAnswer(status: Status): Answer {
  const retry = status.details?.retryAfterSeconds;
  const answer = { code: status.code ?? 200, body: status };
  return retry === undefined ? answer : { ...answer, headers: { 'Retry-After': String(retry) } };
}

/** Whether to compress a body. On the same machine, compressing takes longer than sending. */
export function isCompressed(accepted: string | undefined, from: string | undefined, size: number): boolean {
  if (size < compressMinBytes || !/\bgzip\b/.test(accepted ?? '')) return false;
  return !/^(::1|(::ffff:)?127\.[\d.]+)$/.test(from ?? '');
}

/** Writes a response; compresses large bodies for remote clients that accept gzip. */
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
  // A client that does not read a large response must not keep it in memory.
  if (body.length >= compressMinBytes) response.setTimeout(unreadTimeoutMs, () => response.destroy());
  response.writeHead(answer.code, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

function encodedBody(body: Buffer | object, accept: string | undefined): [Buffer, string] {
  if (Buffer.isBuffer(body)) return [body, jsonType];
  const bytes = prefersProtobuf(accept) ? protobufValue(body) : undefined;
  return bytes === undefined ? [json(body), jsonType] : [bytes, protobufType];
}

/** Removes duplicate warnings and truncates the rest: clients accept only some kilobytes of headers. */
function shortened(warnings: readonly string[]): readonly string[] {
  const texts = [...new Set(warnings)];
  let left = warningCharacters;
  if (texts.every((text) => (left -= text.length) >= 0)) return texts;
  left = warningCharacters;
  const cut = texts.map((text) => text.slice(0, charactersPerWarning));
  const end = cut.findIndex((text) => (left -= text.length) <= 0);
  return end < 0 ? cut : cut.slice(0, end + 1);
}

/** `299 - "text"`, without characters that a header cannot contain. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/[^\x20-\x7e]/g, ' ');
  return `299 - "${printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
