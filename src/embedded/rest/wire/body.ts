// Request bodies: read with a size limit and decoded by content type into plain JSON. Called by call.ts and patch.ts.
import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../../kube/json.ts';
import { sizeOfJson } from '../../json-size.ts';
import { badRequest, Fault, tooLarge, unsupportedMediaType } from '../fault.ts';
import { decodeObject, LimitExceeded } from '../../protobuf/decode.ts';
import { InvalidMessage } from '../../protobuf/wire.ts';
import { jsonType, protobufType } from './negotiate.ts';

const bodyLimit = 3 * 1024 * 1024;
const depthLimit = 500;
/** The limit for cluster-scoped objects. Namespaced objects have a lower one: see object.ts. */
const valueLimit = 50_000;

export const yamlType = 'application/yaml';

/** Reads the whole body; rejects as soon as it exceeds the limit. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > bodyLimit) return Promise.reject(tooLarge(bodyLimit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bodyLimit) reject(tooLarge(bodyLimit));
      else chunks.push(chunk);
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => {
      // Every request closes: creating an error with its stack for complete ones would cost more than reading them.
      if (!request.complete) reject(badRequest('the connection was closed before the body was complete'));
    });
  });
}

/** The media type of a Content-Type header, without its parameters. */
export function mediaType(header: string | undefined): string {
  return (header ?? '').split(';')[0]!.trim().toLowerCase();
}

/** Decodes the body of a create, update or delete. */
export async function decodeBody(body: Buffer, contentType: string | undefined): Promise<unknown> {
  switch (mediaType(contentType)) {
    case '':
    case jsonType:
      return decodeJson(body);
    case yamlType:
    case 'application/x-yaml':
    case 'text/yaml':
      return decodeYaml(body);
    case protobufType:
      return decodeProtobuf(body);
    default:
      throw unsupportedMediaType([jsonType, yamlType, protobufType]);
  }
}

function decodeProtobuf(body: Buffer): unknown {
  try {
    return decodeObject(body, { depth: depthLimit, values: valueLimit });
  } catch (error) {
    if (error instanceof LimitExceeded) throw error.limit === 'depth' ? tooDeep() : tooManyValues();
    if (error instanceof InvalidMessage) throw badRequest(`the protobuf body cannot be read: ${error.message}`);
    throw error;
  }
}

export function decodeJson(body: Buffer): unknown {
  const text = body.toString('utf8');
  refuseExcess(text);
  try {
    return parseJson(text);
  } catch (error) {
    throw badRequest(`the request body is not valid JSON: ${(error as Error).message}`);
  }
}

/** Decodes YAML as kubectl does; most bodies are JSON, which is YAML too and faster to parse. */
export async function decodeYaml(body: Buffer): Promise<unknown> {
  const text = body.toString('utf8');
  if (/^\s*[[{]/.test(text)) {
    refuseExcess(text);
    try {
      return parseJson(text);
    } catch {
      // Flow-style YAML may look like JSON.
    }
  }
  const { readYaml } = await import('./yaml.ts');
  try {
    const value = await readYaml(text);
    if (isDeeperThan(value, depthLimit)) throw tooDeep();
    if (countValues(value) > valueLimit) throw tooManyValues();
    return value;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw badRequest(`the request body is not valid YAML: ${(error as Error).message}`);
  }
}

function tooDeep(): Error {
  return badRequest(`the request body is nested too deeply: the limit is ${depthLimit} levels`);
}

function tooManyValues(): Error {
  return new Fault(413, 'RequestEntityTooLarge', `the request body is too large: the limit is ${valueLimit} values`);
}

/** Refuses bodies that are nested too deeply or have too many values. */
function refuseExcess(text: string): void {
  const { depth, values } = sizeOfJson(text);
  if (depth > depthLimit) throw tooDeep();
  if (values > valueLimit) throw tooManyValues();
}

function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return limit === 0 || Object.values(value).some((part) => isDeeperThan(part, limit - 1));
}

/** Counts a value and all values inside it. */
export function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  if (Array.isArray(value)) for (const part of value) count += countValues(part);
  else for (const name in value) count += countValues(value[name as keyof typeof value]);
  return count;
}
