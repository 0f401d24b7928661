import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEmbedded } from '../server.ts';
import type { Embedded } from '../server.ts';
import { testClient, textIn } from '../testing/http.ts';
import type { Json, TestClient } from '../testing/http.ts';
import { startWebhookServer } from '../testing/webhook-server.ts';
import type { WebhookServer } from '../testing/webhook-server.ts';

let embedded: Embedded;
let client: TestClient;
let hook: WebhookServer;
/** The requests that the webhook received. */
let received: { path: string; request: Json }[] = [];
let responses: Record<string, (request: Json) => object> = {};

beforeAll(async () => {
  hook = await startWebhookServer((path, review) => {
    const request = review['request']!;
    received.push({ path, request });
    return responses[path]?.(request);
  });
  embedded = await startEmbedded({
    simulation: false,
    hooks: { resolveService: ({ name }) => (name === 'hook' ? hook.url : undefined) },
  });
  client = testClient(embedded);
});

afterAll(async () => {
  client.close();
  await embedded.stop();
  await hook.close();
});

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';

beforeEach(async () => {
  received = [];
  responses = {};
  for (const kind of ['mutating', 'validating']) await client.call('DELETE', `${group}/${kind}webhookconfigurations`);
});

async function install(kind: 'mutating' | 'validating', name: string, webhook: object = {}): Promise<void> {
  const { code, text } = await client.post(`${group}/${kind}webhookconfigurations`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url: `${hook.url}/${name}`, caBundle: hook.caBundle },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...webhook,
      },
    ],
  });
  expect([code, text]).toEqual([201, expect.anything()]);
}

function patchOf(...operations: object[]): object {
  return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };
}

let count = 0;
function newMap(labels: Record<string, string> = {}): { metadata: { name: string; labels: object } } {
  return { metadata: { name: `map-${count++}`, labels } };
}

describe('validating webhooks', () => {
  test('are called at the path of their URL, without extra slashes', async () => {
    await install('validating', 'strict', { clientConfig: { url: `${hook.url}//strict/`, caBundle: hook.caBundle } });
    responses['/strict'] = () => ({ allowed: false, status: { code: 403, message: 'not today' } });
    expect((await client.post(maps, newMap())).body['message']).toContain('not today');
  });

  test('get the object and the user, and can refuse the request', async () => {
    await install('validating', 'strict');
    responses['/strict'] = () => ({
      allowed: false,
      status: { code: 403, message: 'not today' },
      warnings: ['careful'],
    });
    const object = newMap();
    const reply = await client.post(maps, object, {
      headers: { 'Impersonate-User': 'kim', 'Impersonate-Group': 'system:masters' },
    });
    expect(reply.code).toBe(403);
    expect(reply.body['message']).toBe('admission webhook "strict.example.com" denied the request: not today');
    expect(reply.headers['warning']).toBe('299 - "careful"');
    expect(received[0]!.request).toMatchObject({
      operation: 'CREATE',
      namespace: 'default',
      name: object.metadata.name,
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      userInfo: { username: 'kim' },
      oldObject: null,
      dryRun: false,
    });
    expect((await client.get(`${maps}/${object.metadata.name}`)).code).toBe(404);
  });

  test('get the old object on updates and deletions', async () => {
    const object = newMap();
    await client.post(maps, object);
    await install('validating', 'all');
    responses['/all'] = () => ({ allowed: true });
    const path = `${maps}/${object.metadata.name}`;
    await client.call('PATCH', path, { data: { a: 'b' } }, { type: 'application/merge-patch+json' });
    await client.call('DELETE', path);
    expect(received.map(({ request }) => textIn(request['operation']))).toEqual(['UPDATE', 'DELETE']);
    expect(received[0]!.request).toMatchObject({ object: { data: { a: 'b' } }, oldObject: { kind: 'ConfigMap' } });
    expect(received[1]!.request).toMatchObject({ object: null, oldObject: { data: { a: 'b' } } });
  });

  test('are called only for objects that match their selectors', async () => {
    await install('validating', 'chosen', {
      objectSelector: { matchLabels: { check: 'yes' } },
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['default'] }],
      },
    });
    responses['/chosen'] = () => ({ allowed: true });
    await client.post(maps, newMap());
    await client.post('/api/v1/namespaces/kube-system/configmaps', newMap({ check: 'yes' }));
    expect(received).toEqual([]);
    await client.post(maps, newMap({ check: 'yes' }));
    expect(received).toHaveLength(1);
  });

  test('can return the causes of a refusal', async () => {
    await install('validating', 'strict');
    const details = { kind: 'ConfigMap', causes: [{ reason: 'FieldValueInvalid', message: 'bad', field: 'data.k' }] };
    responses['/strict'] = () => ({ allowed: false, status: { code: 422, reason: 'Invalid', details } });
    const { code, body } = await client.post(maps, newMap());
    expect(code).toBe(422);
    expect(body).toMatchObject({ reason: 'Invalid', code: 422, details });
  });

  test('are called only when all match conditions are true', async () => {
    const matchConditions = [
      { name: 'creation', expression: 'request.operation == "CREATE" && oldObject == null' },
      { name: 'bad', expression: 'object.data.k == "bad"' },
    ];
    await install('validating', 'strict', { matchConditions });
    responses['/strict'] = () => ({ allowed: false });
    expect((await client.post(maps, { ...newMap(), data: { k: 'bad' } })).code).toBe(400);
    expect((await client.post(maps, { ...newMap(), data: { k: 'good' } })).code).toBe(201);
    const unclear = await client.post(maps, newMap());
    expect([unclear.code, received.length]).toEqual([403, 1]);
    expect(unclear.body['message']).toContain(
      `expression 'object.data.k == "bad"' resulted in error: no such key: data`,
    );
  });

  test('refuse the request when they fail, unless failurePolicy is Ignore', async () => {
    await install('validating', 'down', { clientConfig: { url: 'https://127.0.0.1:1/', caBundle: hook.caBundle } });
    const reply = await client.post(maps, newMap());
    expect(reply.code).toBe(500);
    expect(reply.body['message']).toContain(
      'failed calling webhook "down.example.com": failed to call webhook: Post "https://127.0.0.1:1/',
    );
    await client.call('DELETE', `${group}/validatingwebhookconfigurations/down`);
    await install('validating', 'optional', {
      clientConfig: { url: 'https://127.0.0.1:1/', caBundle: hook.caBundle },
      failurePolicy: 'Ignore',
    });
    expect((await client.post(maps, newMap())).code).toBe(201);
  });

  test('time out after timeoutSeconds', async () => {
    await install('validating', 'silent', { timeoutSeconds: 1 });
    const reply = await client.post(maps, newMap());
    expect(reply.body['message']).toContain('context deadline exceeded');
  });

  test('are informed about a dry run, and must declare that they have no side effects then', async () => {
    await install('validating', 'clean', { sideEffects: 'NoneOnDryRun' });
    responses['/clean'] = () => ({ allowed: true });
    expect((await client.post(`${maps}?dryRun=All`, newMap())).code).toBe(201);
    expect(received[0]!.request['dryRun']).toBe(true);
    const refused = await client.post(`${group}/validatingwebhookconfigurations`, {
      metadata: { name: 'effects' },
      webhooks: [
        {
          name: 'e.example.com',
          clientConfig: { url: 'https://x' },
          sideEffects: 'Some',
          admissionReviewVersions: ['v1'],
        },
      ],
    });
    expect(refused.code).toBe(422);
  });
});

describe('mutating webhooks', () => {
  test('change the stored object, one after the other', async () => {
    await install('mutating', 'first');
    await install('mutating', 'second');
    responses['/first'] = () => patchOf({ op: 'add', path: '/data', value: { first: 'x' } });
    responses['/second'] = ({ object }) =>
      patchOf({ op: 'add', path: '/data/second', value: textIn(object!['data']!['first']) });
    const { code, body } = await client.post(maps, newMap());
    expect([code, body['data']]).toEqual([201, { first: 'x', second: 'x' }]);
  });

  test('are called again when a later webhook changed the object, if reinvocationPolicy is IfNeeded', async () => {
    await install('mutating', 'again', { reinvocationPolicy: 'IfNeeded' });
    await install('mutating', 'later');
    responses['/again'] = ({ object }) =>
      object!['data'] === undefined ? { allowed: true } : patchOf({ op: 'add', path: '/data/seen', value: 'yes' });
    responses['/later'] = () => patchOf({ op: 'add', path: '/data', value: { late: 'x' } });
    const { body } = await client.post(maps, newMap());
    expect(body['data']).toEqual({ late: 'x', seen: 'yes' });
    expect(received.map(({ path }) => path)).toEqual(['/again', '/later', '/again']);
  });

  test('can be reached through a service', async () => {
    await install('mutating', 'served', {
      clientConfig: { service: { namespace: 'default', name: 'hook', path: '/inside' }, caBundle: hook.caBundle },
    });
    responses['/inside'] = () => patchOf({ op: 'add', path: '/data', value: { a: 'b' } });
    expect((await client.post(maps, newMap())).body['data']).toEqual({ a: 'b' });
  });

  test('cannot be configured with an invalid URL or selector', async () => {
    const path = `${group}/mutatingwebhookconfigurations`;
    const webhook = { name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] };
    const configure = async (more: object): Promise<unknown> =>
      (await client.post(path, { metadata: { name: 'bad' }, webhooks: [{ ...webhook, ...more }] })).body['message'];
    expect(await configure({ clientConfig: { url: 'http://x' } })).toContain("'https' is the only allowed URL scheme");
    expect(await configure({ clientConfig: { url: 'x' } })).toContain('must be a valid URL');
    const namespaceSelector = { matchExpressions: [{ key: 'a', operator: 'Like' }] };
    expect(await configure({ clientConfig: { url: 'https://x' }, namespaceSelector })).toContain(
      'not a valid selector operator',
    );
  });

  test('fail the request when their response is invalid', async () => {
    await install('mutating', 'odd');
    responses['/odd'] = () => ({ uid: 'other', allowed: true });
    expect((await client.post(maps, newMap())).body['message']).toContain('expected response.uid=');
  });
});
