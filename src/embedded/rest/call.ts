// The parts of a request besides its path: the body, the requested response format, and the options of a write.
import { decodeBody, mediaType, readBody, yamlType } from './wire/body.ts';
import type { Target, WriteOptions } from './context.ts';
import { duplicateFields } from './wire/duplicate-fields.ts';
import { invalid, notSupported, tooLong } from '../schema/field-error.ts';
import { badRequest, invalidOptions, unsupportedMediaType } from './fault.ts';
import { jsonType, negotiate, protobufType } from './wire/negotiate.ts';
import type { View } from './wire/represent.ts';
import type { ResourceRequest } from './server-context.ts';

/** The decoded body; undefined when it is empty and optional. */
export async function bodyOf(call: ResourceRequest, optional = false): Promise<unknown> {
  const body = await readBody(call.request);
  if (body.length === 0) {
    if (optional) return undefined;
    throw badRequest('the request body is empty: an object is expected');
  }
  return decodeBody(body, call.request.headers['content-type']);
}

/** The decoded body of a subresource with its own kind, such as a TokenRequest. */
export async function objectBodyOf(call: ResourceRequest): Promise<Readonly<Record<string, unknown>>> {
  const body = await bodyOf(call);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw badRequest('the request body must be an object');
}

/** The body of a create or an update, with the options of the write. */
export async function writeOf(
  call: ResourceRequest,
  { resource }: Target,
): Promise<{ readonly body: unknown; readonly options: WriteOptions }> {
  const bytes = await readBody(call.request);
  if (bytes.length === 0) throw badRequest('the request body is empty: an object is expected');
  const type = call.request.headers['content-type'];
  // Custom resources do not support protobuf.
  if (resource.custom && mediaType(type) === protobufType) throw unsupportedMediaType([jsonType, yamlType]);
  const body = await decodeBody(bytes, type);
  const isJson = ['', 'application/json'].includes(mediaType(type));
  return { body, options: withDuplicates(writeOptionsOf(call), isJson ? bytes : undefined) };
}

/** Adds the duplicate fields of a JSON body, unless field validation is off. */
export function withDuplicates(options: WriteOptions, json: Buffer | undefined): WriteOptions {
  if (json === undefined || options.fieldValidation === 'Ignore') return options;
  return { ...options, duplicates: duplicateFields(json.toString()) };
}

/** The format in which the client wants objects. */
export function viewOf(call: ResourceRequest, target: Target): View {
  const include = call.line.query.get('includeObject') ?? 'Metadata';
  if (include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    const why = `includeObject: Invalid value: "${include}": must be 'Metadata', 'Object', 'None', or empty`;
    throw badRequest(`Unable to convert to Table as requested: ${why}`);
  }
  const protobuf = target.resource.custom ? 'metadata' : 'objects';
  const format = negotiate(call.request.headers.accept, ['Table', 'PartialObjectMetadata'], protobuf);
  return { resource: target.resource, format, includeObject: include };
}

const optionKinds: Readonly<Record<string, Parameters<typeof invalidOptions>[0]>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};
const managerLimit = 128;

/** Validates the name of a field manager. */
function checkedManager(name: string, kind: Parameters<typeof invalidOptions>[0]): string {
  if (Buffer.byteLength(name) > managerLimit) throw invalidOptions(kind, tooLong('fieldManager', managerLimit));
  const at = name.search(/\p{C}/u);
  if (at < 0) return name;
  const code = name.codePointAt(at)!.toString(16).toUpperCase().padStart(4, '0');
  throw invalidOptions(kind, invalid('fieldManager', name, `invalid character U+${code} (at position ${at})`));
}

/** The options of a write, from the query and, for deletions, from the body. */
export function writeOptionsOf(call: ResourceRequest, body?: { readonly dryRun?: unknown }): WriteOptions {
  const { query } = call.line;
  const kind = optionKinds[call.verb] ?? 'CreateOptions';
  const dryRun: unknown[] = Array.isArray(body?.dryRun)
    ? body.dryRun
    : query.getAll('dryRun').filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    throw invalidOptions(kind, notSupported('dryRun', dryRun, ['All']));
  }
  const fieldValidation = query.get('fieldValidation') || 'Warn';
  if (fieldValidation !== 'Strict' && fieldValidation !== 'Warn' && fieldValidation !== 'Ignore') {
    throw invalidOptions(kind, notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']));
  }
  // Deletions ignore fieldManager.
  const manager = kind === 'DeleteOptions' ? '' : checkedManager(query.get('fieldManager') ?? '', kind);
  const agent = (call.request.headers['user-agent'] ?? 'unknown').split('/')[0]!;
  return {
    user: call.user,
    dryRun: dryRun.length > 0,
    fieldManager: manager || agent.slice(0, managerLimit),
    fieldValidation,
    given: {
      ...body,
      ...(dryRun.length > 0 && { dryRun }),
      ...(manager !== '' && { fieldManager: manager }),
      ...(query.has('fieldValidation') && { fieldValidation }),
    },
    warn: call.warn,
  };
}
