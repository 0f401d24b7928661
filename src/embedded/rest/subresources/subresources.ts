// Subresources other than status: scale, token, eviction, binding, log, finalize, approval, ephemeralcontainers.
import { timestamp } from '../../../kube/times.ts';
import { issueToken } from '../../auth/token-request.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { applyJsonPatch, applyMergePatch } from '../../patch/index.ts';
import { collectionOf } from '../../registry.ts';
import { objectAnswer } from '../wire/answer.ts';
import type { Answer } from '../wire/answer.ts';
import { bodyOf, objectBodyOf, viewOf, writeOptionsOf } from '../call.ts';
import { keyOf } from '../context.ts';
import type { Target, Written } from '../context.ts';
import { ensureConverted, servedObject } from '../../conversion/forms.ts';
import { evict } from './eviction.ts';
import { badRequest, conflict, methodNotAllowed, noSuchPath, notFound, notSupported } from '../fault.ts';
import { patch, patchFrom } from '../verbs/patch.ts';
import { items, part } from '../rules/types.ts';
import { appliedScale, changeScale, scaleOf, shownScale } from './scale.ts';
import type { NextScale } from './scale.ts';
import type { ResourceRequest, ServerContext } from '../server-context.ts';
import { change, replace } from '../verbs/update.ts';

/** Answers a request for a subresource other than status. */
export async function answerSubresource(server: ServerContext, call: ResourceRequest, target: Target): Promise<Answer> {
  const { resource, subresource } = target;
  const known = subresource === 'scale' ? resource.scale !== undefined : resource.subresources.includes(subresource);
  if (!known) throw resource.custom ? notFound(resource, target.name) : noSuchPath();
  if (subresource === 'scale' && !['get', 'update', 'patch'].includes(call.verb)) {
    throw resource.custom ? notSupported(resource, call.verb) : methodNotAllowed();
  }
  const stored = server.store.get(collectionOf(resource), keyOf(target));
  if (stored === undefined) throw notFound(resource, target.name);
  await ensureConverted(server, [stored], resource, true);
  const object = servedObject(stored, resource);
  switch (`${subresource} ${call.verb}`) {
    case 'scale get':
      return { code: 200, body: shownScale(target, object) };
    case 'scale update':
    case 'scale patch':
      return scaled(server, call, target);
    case 'token create': {
      const request = await objectBodyOf(call);
      return { code: 201, body: issueToken(server.store, server.access.tokens, object, request) };
    }
    case 'eviction create':
      return evict(server, target, object, await objectBodyOf(call), writeOptionsOf(call));
    case 'binding create':
      return bind(server, call, target);
    case 'log get':
      return log(server, call, object);
    case 'approval update':
    case 'finalize update':
    case 'ephemeralcontainers update': {
      const { stored: next } = await replace(server, target, await bodyOf(call), writeOptionsOf(call));
      return objectAnswer(server, 200, next, viewOf(call, target));
    }
    case 'approval patch':
    case 'ephemeralcontainers patch': {
      const incoming = await patchFrom(call, resource);
      const { stored: next } = await patch(server, target, incoming, writeOptionsOf(call));
      return objectAnswer(server, 200, next, viewOf(call, target));
    }
    case 'approval get':
    case 'ephemeralcontainers get':
      return objectAnswer(server, 200, stored, viewOf(call, target));
    default:
      throw methodNotAllowed();
  }
}

async function scaled(server: ServerContext, call: ResourceRequest, target: Target): Promise<Answer> {
  const { stored } = await writeScale(server, call, target);
  await ensureConverted(server, [stored], target.resource);
  return { code: 200, body: scaleOf(target, servedObject(stored, target.resource)) };
}

async function writeScale(server: ServerContext, call: ResourceRequest, target: Target): Promise<Written> {
  const options = writeOptionsOf(call);
  if (call.verb === 'update') {
    const body = await bodyOf(call);
    return changeScale(server, target, () => ({ scale: body }), options);
  }
  const incoming = await patchFrom(call, target.resource);
  if (incoming.type === 'apply') {
    return changeScale(server, target, (scale) => appliedScale(scale, incoming), options);
  }
  // A Scale has no lists, so a strategic merge patch is the same as a merge patch.
  const next = (scale: AnyObject): ReturnType<NextScale> => ({
    scale: incoming.type === 'json' ? applyJsonPatch(scale, incoming.body) : applyMergePatch(scale, incoming.body),
  });
  return changeScale(server, target, next, options);
}

/** Assigns a pod to a node, as a scheduler does. */
async function bind(server: ServerContext, call: ResourceRequest, target: Target): Promise<Answer> {
  const { name } = part(await objectBodyOf(call), 'target');
  if (typeof name !== 'string' || name === '') throw badRequest('Binding: target.name is required');
  const mutate = (old: AnyObject): { object: AnyObject } => {
    const spec = part(old, 'spec');
    if ((spec['nodeName'] ?? '') !== '') {
      const why = `pod ${target.name} is already assigned to node "${String(spec['nodeName'])}"`;
      throw conflict({ ...target.resource, plural: 'pods/binding' }, target.name, why);
    }
    const now = timestamp(Date.now());
    const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: now };
    const status = part(old, 'status');
    const others = items(status, 'conditions').filter((condition) => condition['type'] !== 'PodScheduled');
    return {
      object: {
        ...old,
        spec: { ...spec, nodeName: name },
        status: { ...status, conditions: [...others, scheduled] },
      },
    };
  };
  await change(server, target, mutate, writeOptionsOf(call));
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

function log(server: ServerContext, call: ResourceRequest, pod: AnyObject): Answer {
  const spec = part(pod, 'spec');
  const names = [...items(spec, 'containers'), ...items(spec, 'initContainers')].map((container) =>
    String(container['name']),
  );
  const asked = call.line.query.get('container') ?? '';
  if (asked === '' && items(spec, 'containers').length > 1) {
    throw badRequest(
      `a container name must be specified for pod ${pod.metadata.name}, choose one of: [${names.join(' ')}]`,
    );
  }
  if (asked !== '' && !names.includes(asked)) {
    throw badRequest(`container ${asked} is not valid for pod ${pod.metadata.name}`);
  }
  const text = server.hooks.podLog?.(pod, asked === '' ? (names[0] ?? '') : asked) ?? '';
  const tail = Number(call.line.query.get('tailLines') ?? NaN);
  const lines = text.split('\n');
  const last = text.endsWith('\n') ? -1 : lines.length;
  const shown =
    Number.isInteger(tail) && tail >= 0
      ? lines
          .slice(0, last)
          .slice(-tail || lines.length)
          .join('\n')
      : text;
  return { code: 200, body: Buffer.from(shown), contentType: 'text/plain' };
}
