// An admission and conversion webhook (conversions.ts) for the scenarios. The path of its URL selects the response.
// Both servers call it.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuthority } from '../../src/kube/pki.ts';
import { answerConversion } from './conversions.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Webhook {
  /** Variables for scenarios: its URL, its CA certificate and its own certificate (both in base64). */
  readonly names: Readonly<Record<'hook' | 'hookCa' | 'hookCert', string>>;
  close(): void;
}

const cause = { reason: 'FieldValueInvalid', message: 'must not be bad', field: 'data.k' };

const responses: Readonly<Record<string, (request: Json) => Json>> = {
  '/allow': () => ({ allowed: true }),
  '/warn': () => ({ allowed: true, warnings: ['first', 'second'] }),
  '/deny': () => ({ allowed: false }),
  '/reason': () => ({ allowed: false, status: { reason: 'Because' } }),
  '/code': () => ({ allowed: false, status: { code: 418, message: 'a teapot' } }),
  '/success': () => ({ allowed: false, status: { code: 200, message: 'fine' } }),
  '/details': () => ({
    allowed: false,
    status: {
      status: 'Failure',
      code: 422,
      reason: 'Invalid',
      message: 'bad data',
      details: { name: 'of-mine', kind: 'Mine', causes: [cause, { message: 'and more' }], retryAfterSeconds: 3 },
    },
  }),
  '/label': () => patch([{ op: 'add', path: '/metadata/labels', value: { hooked: 'yes' } }]),
  '/break': () => patch([{ op: 'replace', path: '/data', value: 5 }]),
  '/missing': () => patch([{ op: 'remove', path: '/data/missing' }]),
  '/size': () => patch([{ op: 'replace', path: '/spec/size', value: 42 }]),
  // Returns the version and the spec that it received.
  '/spec': ({ object, oldObject }) => ({
    allowed: false,
    status: { message: sortedJson([specOf(object), specOf(oldObject)]) },
  }),
  '/untyped': () => ({ allowed: true, patch: Buffer.from('[]').toString('base64') }),
  // Returns the request that it received, without the administrator, whose name depends on the server.
  '/echo': ({ uid: _uid, object, oldObject, userInfo, ...rest }) => {
    const { username } = userInfo as Json;
    const sent = {
      ...rest,
      object: nameOf(object),
      oldObject: nameOf(oldObject),
      ...(username === 'jane' && { userInfo }),
    };
    return { allowed: false, status: { message: sortedJson(sent) } };
  },
};

function patch(operations: readonly Json[]): Json {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

/** JSON with sorted keys. */
function sortedJson(value: unknown): string {
  const sorted = (_key: string, part: unknown): unknown =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part;
  return JSON.stringify(value, sorted);
}

function specOf(object: unknown): unknown {
  const { apiVersion, spec } = (object ?? {}) as { apiVersion?: unknown; spec?: unknown };
  return { apiVersion, spec };
}

function nameOf(object: unknown): unknown {
  return (object as { metadata?: { name?: unknown } } | null)?.metadata?.name ?? null;
}

export async function startWebhook(): Promise<Webhook> {
  const authority = createAuthority({ commonName: 'webhook', days: 1 });
  const serving = authority.issue({ commonName: 'webhook', ipAddresses: ['127.0.0.1'], days: 1, usage: 'server' });
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    void text(request).then((body) => {
      const { pathname } = new URL(request.url ?? '/', 'https://webhook');
      const converted = answerConversion(pathname, body);
      if (converted !== undefined) return response.setHeader('content-type', 'application/json').end(converted);
      const respond = responses[pathname];
      if (pathname === '/garbage') return response.end('garbage');
      if (respond === undefined) return response.writeHead(500).end('on fire');
      const review = JSON.parse(body) as { request: Json };
      response.setHeader('content-type', 'application/json');
      const { apiVersion, kind } = review as unknown as Json;
      const result = { uid: review.request['uid'], ...respond(review.request) };
      return response.end(JSON.stringify({ apiVersion, kind, response: result }));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    names: {
      hook: `https://127.0.0.1:${port}`,
      hookCa: Buffer.from(authority.certPem).toString('base64'),
      hookCert: Buffer.from(serving.certPem).toString('base64'),
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
