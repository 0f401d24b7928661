// What a call brings besides its path: its body, the form of answer it wants, and the options of a write.
import { decodeBody, readBody } from './body.ts';
import type { Target, WriteOptions } from './context.ts';
import { badRequest } from './fault.ts';
import { negotiate } from './negotiate.ts';
import type { View } from './represent.ts';
import type { ResourceRequest } from './server-context.ts';

/** The decoded body; undefined when there is none and none is needed. */
export async function bodyOf(call: ResourceRequest, optional = false): Promise<unknown> {
  const body = await readBody(call.request);
  if (body.length === 0) {
    if (optional) return undefined;
    throw badRequest('the request body is empty: an object is expected');
  }
  return decodeBody(body, call.request.headers['content-type']);
}

/** The form in which a call wants objects. */
export function viewOf(call: ResourceRequest, target: Target): View {
  const include = call.line.query.get('includeObject') ?? 'Metadata';
  if (include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw badRequest(`includeObject must be None, Metadata or Object, found "${include}"`);
  }
  const format = negotiate(call.request.headers.accept, ['Table', 'PartialObjectMetadata']);
  return { resource: target.resource, format, includeObject: include };
}

/** The options of a write, from the query (and, for deletions, from the body). */
export function writeOptionsOf(call: ResourceRequest, body?: unknown): WriteOptions {
  const { query } = call.line;
  const inBody = (body as { dryRun?: unknown } | undefined)?.dryRun;
  const dryRun = Array.isArray(inBody) ? inBody : query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    throw badRequest(`dryRun: Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`);
  }
  const fieldValidation = query.get('fieldValidation') ?? 'Warn';
  if (fieldValidation !== 'Strict' && fieldValidation !== 'Warn' && fieldValidation !== 'Ignore') {
    throw badRequest(
      `fieldValidation: Unsupported value: "${fieldValidation}": supported values: "Ignore", "Strict", "Warn"`,
    );
  }
  const agent = (call.request.headers['user-agent'] ?? 'unknown').split('/')[0]!;
  return {
    user: call.user,
    dryRun: dryRun.length > 0,
    fieldManager: query.get('fieldManager') ?? agent.slice(0, 128),
    fieldValidation,
    warn: call.warn,
  };
}
