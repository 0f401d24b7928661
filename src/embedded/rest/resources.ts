// Dispatches resource requests to verbs. Subresources other than status are in subresources.ts.
import { review } from '../auth/reviews.ts';
import { collectionOf } from '../registry.ts';
import { listAnswer, objectAnswer, statusAnswer } from './wire/answer.ts';
import type { Answer } from './wire/answer.ts';
import { bodyOf, viewOf, withDuplicates, writeOf, writeOptionsOf } from './call.ts';
import { keyOf } from './context.ts';
import type { Target, Written } from './context.ts';
import { conform } from './write/conform.ts';
import { create } from './verbs/create.ts';
import { deleteOptionsOf, remove, removeAll } from './verbs/delete.ts';
import { methodNotAllowed, noSuchPath, notFound, success } from './fault.ts';
import { list, tooNew } from './verbs/list.ts';
import { incomingObject } from './write/object.ts';
import { createsByPatch, patch, patchFrom } from './verbs/patch.ts';
import type { View } from './wire/represent.ts';
import { encodeInTurns } from './wire/represent-protobuf.ts';
import { versionNumber } from './request.ts';
import type { ResourcePath } from './request.ts';
import { rulesOf } from './rules/index.ts';
import type { ResourceRequest, ServerContext } from './server-context.ts';
import { answerSubresource } from './subresources/subresources.ts';
import { replace } from './verbs/update.ts';
import { watch } from './watch/watch.ts';

/** Answers a request for a resource; undefined when it started a watch stream. */
export async function answerResource(
  server: ServerContext,
  call: ResourceRequest,
  path: ResourcePath,
): Promise<Answer | undefined> {
  const resource = server.registry.find(path.group, path.version, path.plural);
  if (resource === undefined || (!resource.namespaced && hasForeignNamespace(path))) throw noSuchPath();
  if (resource.deprecation !== undefined) call.warn(resource.deprecation);
  const namespace = resource.namespaced ? path.namespace : '';
  const target: Target = { resource, namespace, name: path.name, subresource: path.subresource };
  if (path.subresource !== '' && path.subresource !== 'status') return answerSubresource(server, call, target);
  if (path.subresource === 'status' && !resource.status) throw noSuchPath();
  if (!resource.verbs.includes(call.verb)) throw methodNotAllowed();
  if (path.subresource === 'status' && !['get', 'update', 'patch'].includes(call.verb)) throw methodNotAllowed();
  if (resource.namespaced && namespace === '' && !['list', 'watch'].includes(call.verb)) throw methodNotAllowed();
  if (['create', 'update', 'patch'].includes(call.verb) && (call.verb === 'create') === (path.name !== '')) {
    throw methodNotAllowed();
  }
  return answerVerb(server, call, target);
}

/** Whether the path of a cluster-scoped resource contains a namespace. */
function hasForeignNamespace(path: ResourcePath): boolean {
  return path.namespace !== '' && path.plural !== 'namespaces';
}

async function answerVerb(server: ServerContext, call: ResourceRequest, target: Target): Promise<Answer | undefined> {
  const { query } = call.line;
  const view = viewOf(call, target);
  switch (call.verb) {
    case 'get': {
      const stored = server.store.get(collectionOf(target.resource), keyOf(target));
      const asked = versionNumber(query) ?? 0;
      if (asked > server.store.version) throw tooNew(asked, server.store.version);
      if (stored === undefined) throw notFound(target.resource, target.name);
      return objectAnswer(server, 200, stored, view, true);
    }
    case 'list': {
      const { items, metadata } = await list(server, target, query);
      if (view.format.protobuf && view.format.as === '') await encodeInTurns(items, target.resource);
      return listAnswer(server, 200, items, metadata, view);
    }
    case 'watch':
      watch(server, target, query, view, call.response);
      return undefined;
    case 'create': {
      const { body, options } = await writeOf(call, target);
      if (isReview(target)) return answerReview(server, call, target, body);
      return written(server, await create(server, target, body, options), view);
    }
    case 'update': {
      const { body, options } = await writeOf(call, target);
      return written(server, await replace(server, target, body, options), view);
    }
    case 'patch': {
      const incoming = await patchFrom(call, target.resource);
      const options = withDuplicates(writeOptionsOf(call), incoming.type === 'apply' ? undefined : incoming.text);
      if (createsByPatch(server, target, incoming)) server.access.authorize(call.user, 'create', call.line);
      return written(server, await patch(server, target, incoming, options), view);
    }
    case 'delete':
      return deleted(server, call, target, view);
    case 'deletecollection': {
      const body = await bodyOf(call, true);
      const { items, metadata } = await list(server, target, query);
      const deletion = deleteOptionsOf(body, query);
      await removeAll(server, target, items, deletion, writeOptionsOf(call, deletion));
      return listAnswer(server, 200, items, metadata, view);
    }
    default:
      throw methodNotAllowed();
  }
}

const orphanWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set ' +
  'propagationPolicy=Orphan to suppress this warning';

async function deleted(server: ServerContext, call: ResourceRequest, target: Target, view: View): Promise<Answer> {
  const body = await bodyOf(call, true);
  const request = deleteOptionsOf(body, call.line.query);
  const options = writeOptionsOf(call, request);
  const silent = request.propagationPolicy === undefined && request.orphanDependents === undefined;
  if (silent && rulesOf(target.resource).orphansByDefault === true) call.warn(orphanWarning);
  const { stored, gone } = await remove(server, target, request, options);
  if (!gone) {
    const code = request.orphanDependents === false ? 202 : 200;
    return objectAnswer(server, code, stored, view);
  }
  if (rulesOf(target.resource).returnsDeleted === true) return objectAnswer(server, 200, stored, view);
  return statusAnswer(success(target.resource, target.name, stored.object.metadata.uid));
}

function isReview({ resource }: Target): boolean {
  return resource.verbs.length === 1 && resource.verbs[0] === 'create';
}

function answerReview(server: ServerContext, call: ResourceRequest, target: Target, body: unknown): Answer {
  const object = conform(target, incomingObject(target, body), writeOptionsOf(call));
  const answered = review(server.access, call.user, object);
  if (answered === undefined) throw methodNotAllowed();
  return { code: 201, body: answered };
}

function written(server: ServerContext, result: Written, view: View): Promise<Answer> {
  return objectAnswer(server, result.created ? 201 : 200, result.stored, view);
}
