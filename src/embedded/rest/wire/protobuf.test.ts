// Requests and responses in protobuf, as Go clients use them. test/embedded/go-objects.test.ts compares the encoding
// itself with Go's.
import { describe, expect, test } from 'vitest';
import type { IncomingMessage } from 'node:http';
import { decodeObject } from '../../protobuf/decode.ts';
import { encodeObject } from '../../protobuf/encode.ts';
import { Reader } from '../../protobuf/wire.ts';
import { startEmbedded } from '../../server.ts';
import { testClient, textIn } from '../../testing/http.ts';
import { serveForTests } from '../../testing/serve.ts';
import type { Reply } from '../../testing/http.ts';

const type = 'application/vnd.kubernetes.protobuf';
/** The Accept header of client-go. */
const accepted = { headers: { Accept: `${type}, */*` } };
const maps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

const { client } = await serveForTests();

function decoded(bytes: Buffer): Record<string, unknown> {
  return decodeObject(bytes, { depth: 100, values: 50_000 });
}

function send(method: string, path: string, body?: { apiVersion: string; kind: string }): Promise<Reply> {
  return client.call(method, path, body === undefined ? undefined : encodeObject(body), { ...accepted, type });
}

function answered(reply: Reply): Record<string, unknown> {
  expect(reply.headers['content-type']).toBe(type);
  return decoded(reply.bytes);
}

const deployment = (name: string): { apiVersion: string; kind: string } & Record<string, unknown> => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
});

describe('a client that uses protobuf', () => {
  test('creates, reads, replaces and deletes objects', async () => {
    const created = await send('POST', deployments, deployment('web'));
    expect(created.code).toBe(201);
    const object = answered(created);
    expect(object).toMatchObject({
      kind: 'Deployment',
      spec: { replicas: 1, template: { spec: { dnsPolicy: 'ClusterFirst' } } },
    });
    const { body } = await client.get(`${deployments}/web`);
    expect(answered(await send('GET', `${deployments}/web`))).toEqual(body);
    const spec = { ...(object['spec'] as object), replicas: 0 };
    const replaced = await send('PUT', `${deployments}/web`, { ...object, spec } as never);
    expect(answered(replaced)).toMatchObject({ spec: { replicas: 0 }, metadata: { generation: 2 } });
    const options = { apiVersion: 'apps/v1', kind: 'DeleteOptions', preconditions: { uid: 'another' } };
    const refused = await send('DELETE', `${deployments}/web`, options);
    expect(refused.code).toBe(409);
    expect(answered(refused)).toMatchObject({ kind: 'Status', apiVersion: 'v1', reason: 'Conflict', code: 409 });
    const gone = await send('DELETE', `${deployments}/web`);
    expect(answered(gone)).toMatchObject({ kind: 'Status', status: 'Success', details: { name: 'web' } });
  });

  test('owns the same fields as one that sends JSON', async () => {
    await send('POST', deployments, deployment('one'));
    await client.post(deployments, deployment('two'));
    const [one, two] = await Promise.all(['one', 'two'].map((name) => client.get(`${deployments}/${name}`)));
    const fieldsOf = (reply: Reply | undefined): unknown => {
      const [entry] = reply!.body['metadata']!['managedFields'] as unknown as { fieldsV1: unknown }[];
      return entry!.fieldsV1;
    };
    expect(fieldsOf(one)).toEqual(fieldsOf(two));
  });

  test('gets lists and metadata in protobuf, and tables in JSON', async () => {
    for (const name of ['a', 'b'])
      await send('POST', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } } as never);
    const { body } = await client.get(maps);
    expect(answered(await send('GET', maps))).toEqual(body);
    const as = `as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
    const partial = await client.get(maps, { headers: { Accept: `${type};${as},application/json;${as}` } });
    expect(answered(partial)).toMatchObject({ kind: 'PartialObjectMetadataList', items: [{}, {}] });
    const table = await client.get(maps, {
      headers: { Accept: `${type};as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1` },
    });
    expect(table.headers['content-type']).toBe('application/json');
    expect(table.body['kind']).toBe('Table');
  });

  test('gets watch events as frames', async () => {
    const { body } = await client.get(maps);
    const version = textIn(body['metadata']!['resourceVersion']);
    const path = `${maps}?watch=true&allowWatchBookmarks=true&resourceVersion=${version}&timeoutSeconds=1`;
    const { response } = await client.watch(path, { headers: { Accept: `${type};stream=watch` } });
    expect(response.headers['content-type']).toBe(`${type};stream=watch`);
    await send('POST', maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'watched' } } as never);
    await send('DELETE', `${maps}/watched`);
    const events = await framesOf(response);
    expect(events.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'ADDED watched',
      'DELETED watched',
      'BOOKMARK undefined',
    ]);
  });

  test('gets a Status when it watches from an expired resource version', async () => {
    const small = await startEmbedded({ simulation: false, history: { events: 1 } });
    const other = testClient(small);
    try {
      for (const name of ['a', 'b', 'c', 'd']) await other.post(maps, { metadata: { name } });
      const { response } = await other.watch(`${maps}?watch=true&resourceVersion=1`, accepted);
      expect((await framesOf(response))[0]).toMatchObject({ kind: 'ERROR', object: { kind: 'Status', code: 410 } });
    } finally {
      other.close();
      await small.stop();
    }
  });

  test('uses subresources and access reviews', async () => {
    await send('POST', deployments, deployment('scaled'));
    const scale = answered(await send('GET', `${deployments}/scaled/scale`));
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
    const more = { ...scale, spec: { replicas: 3 } } as never;
    expect(answered(await send('PUT', `${deployments}/scaled/scale`, more))).toMatchObject({ spec: { replicas: 3 } });
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
    };
    const reviewed = await send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review);
    expect(answered(reviewed)).toMatchObject({ status: { allowed: true } });
    await client.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const token = await send('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', request);
    expect(answered(token)).toMatchObject({ status: { token: expect.stringMatching(/^ey/) as string } });
    const pod = { metadata: { name: 'evicted' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    await client.post('/api/v1/namespaces/default/pods', pod);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
    const evicted = await send('POST', '/api/v1/namespaces/default/pods/evicted/eviction', eviction);
    expect(answered(evicted)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  test('gets custom resources in JSON, or 406 if it accepts only protobuf; their metadata in protobuf', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const definition = {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Cluster',
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const things = '/apis/example.com/v1/things';
    await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await client.post(things, { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } });
    const json = await client.get(things, accepted);
    expect(json.headers['content-type']).toBe('application/json');
    expect((await client.get(things, { headers: { Accept: type } })).code).toBe(406);
    const as = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    const partial = await client.get(`${things}/a`, { headers: { Accept: `${type};${as}` } });
    expect(answered(partial)).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } });
    const refused = await client.post(things, Buffer.from('k8s\0'), { type });
    expect(refused.code).toBe(415);
    expect(refused.text).toContain('accepted media types include: application/json, application/yaml');
  });
});

interface Frame {
  readonly kind: string;
  readonly name: string | undefined;
  readonly object: Record<string, unknown>;
}

/** The frames of a watch that ends. */
async function framesOf(response: IncomingMessage): Promise<Frame[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    const reader = new Reader(bytes, at + 4, end);
    reader.tag();
    const kind = reader.text();
    reader.tag();
    const raw = reader.message();
    raw.tag();
    const object = decoded(raw.bytes());
    frames.push({ kind, object, name: (object['metadata'] as { name?: string }).name });
    at = end;
  }
  return frames;
}
