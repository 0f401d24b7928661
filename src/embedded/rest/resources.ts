// Requests for resources → verbs. Subresources that have a life of their own are in subresources.ts.
import { collectionOf } from '../registry.ts';
import { statusAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import { decodeBody, readBody } from './body.ts';
import { keyOf } from './context.ts';
import type { Target, WriteOptions, Written } from './context.ts';
import { create } from './create.ts';
import { deleteOptionsOf, remove, removeAll } from './delete.ts';
import { badRequest, methodNotAllowed, noSuchPath, notFound, success } from './fault.ts';
import { list } from './list.ts';
import { negotiate } from './negotiate.ts';
import { patch, patchFrom } from './patch.ts';
import { listBody, objectBody } from './represent.ts';
import type { View } from './represent.ts';
import type { ResourcePath } from './request.ts';
import { rulesOf } from './rules/index.ts';
import type { ResourceRequest, ServerContext } from './server-context.ts';
import { answerSubresource } from './subresources.ts';
import { replace } from './update.ts';
import { watch } from './watch.ts';

/** Answers a request for a resource; undefined when the answer is a stream that has begun. */
export async function answerResource(
  server: ServerContext,
  call: ResourceRequest,
  path: ResourcePath,
): Promise<Answer | undefined> {
  const resource = server.registry.find(path.group, path.version, path.plural);
  if (resource === undefined || (resource.namespaced ? false : hasForeignNamespace(path))) throw noSuchPath();
  const namespace = resource.namespaced ? path.namespace : '';
  const target: Target = { resource, namespace, name: path.name, subresource: path.subresource };
  if (path.subresource !== '' && path.subresource !== 'status') return answerSubresource(server, call, target);
  if (path.subresource === 'status' && !resource.status) throw noSuchPath();
  if (!resource.verbs.includes(call.verb)) throw methodNotAllowed();
  if (path.subresource === 'status' && !['get', 'update', 'patch'].includes(call.verb)) throw methodNotAllowed();
  if (resource.namespaced && namespace === '' && !['list', 'watch'].includes(call.verb)) throw methodNotAllowed();
  return answerVerb(server, call, target);
}

/** Cluster-scoped resources are not served below a namespace. */
function hasForeignNamespace(path: ResourcePath): boolean {
  return path.namespace !== '' && path.plural !== 'namespaces';
}

async function answerVerb(server: ServerContext, call: ResourceRequest, target: Target): Promise<Answer | undefined> {
  const { query } = call.line;
  const view = viewOf(call, target);
  switch (call.verb) {
    case 'get': {
      const stored = server.store.get(collectionOf(target.resource), keyOf(target));
      if (stored === undefined) throw notFound(target.resource, target.name);
      return { code: 200, body: objectBody(stored, view) };
    }
    case 'list': {
      const { items, metadata } = list(server, target, query);
      return { code: 200, body: listBody(items, metadata, view) };
    }
    case 'watch':
      watch(server, target, query, view, call.response);
      return undefined;
    case 'create':
      return written(await create(server, target, await bodyOf(call), writeOptionsOf(call)), view);
    case 'update':
      return written(await replace(server, target, await bodyOf(call), writeOptionsOf(call)), view);
    case 'patch': {
      const body = await readBody(call.request);
      const wish = await patchFrom(body, call.request.headers['content-type'], query);
      return written(await patch(server, target, wish, writeOptionsOf(call)), view);
    }
    case 'delete':
      return deleted(server, call, target, view);
    case 'deletecollection': {
      const body = await bodyOf(call, true);
      const { items, metadata } = list(server, target, query);
      await removeAll(server, target, items, deleteOptionsOf(body, query), writeOptionsOf(call));
      return { code: 200, body: listBody(items, metadata, view) };
    }
    default:
      throw methodNotAllowed();
  }
}

async function deleted(server: ServerContext, call: ResourceRequest, target: Target, view: View): Promise<Answer> {
  const body = await bodyOf(call, true);
  const request = deleteOptionsOf(body, call.line.query);
  const options = writeOptionsOf(call, body);
  const { stored, gone } = await remove(server, target, request, options);
  if (!gone) {
    const code = request.orphanDependents === false ? 202 : 200;
    return { code, body: objectBody(stored, view) };
  }
  if (rulesOf(target.resource).returnsDeleted === true) return { code: 200, body: objectBody(stored, view) };
  return statusAnswer(success(target.resource, target.name, stored.object.metadata.uid));
}

function written(result: Written, view: View): Answer {
  return { code: result.created ? 201 : 200, body: objectBody(result.stored, view) };
}

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
