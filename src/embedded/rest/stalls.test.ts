// A request of a user who may only edit one namespace must not block the server for others: it is quick, or refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeObject } from '../protobuf/encode.ts';
import { startEmbedded } from '../server.ts';
import type { Embedded } from '../server.ts';
import { testClient, textIn } from '../testing/http.ts';
import type { Reply, TestClient } from '../testing/http.ts';
import { expectNoStall } from '../testing/longest-turn.ts';
import { protobufType } from './wire/negotiate.ts';

const environment = Array.from({ length: 100 }, (_, index) => ({ name: `NAME_${index}`, value: 'value' }));
const NAMES = Array.from({ length: 10_000 }, (_, index) => `k${index}`);

let embedded: Embedded;
let client: TestClient;
let token: string;

const base = '/api/v1/namespaces/team';
const things = '/apis/example.com/v1/namespaces/team/things';

beforeAll(async () => {
  embedded = await startEmbedded({ simulation: false });
  client = testClient(embedded);
  await client.post('/api/v1/namespaces', { metadata: { name: 'team' } });
  await client.post(`${base}/serviceaccounts`, { metadata: { name: 'editor' } });
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/team';
  await client.post(`${rbac}/roles`, { metadata: { name: 'edit' }, rules });
  await client.post(`${rbac}/rolebindings`, {
    metadata: { name: 'edit' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'edit' },
    subjects: [{ kind: 'ServiceAccount', name: 'editor', namespace: 'team' }],
  });
  const issued = await client.post(`${base}/serviceaccounts/editor/token`, { spec: { expirationSeconds: 3600 } });
  token = textIn(issued.body['status']?.['token']);
  const list = (type: string, items: object, more = {}): object => ({
    type: 'array',
    'x-kubernetes-list-type': type,
    items,
    ...more,
  });
  await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                data: { type: 'object', additionalProperties: { type: 'string' } },
                word: { type: 'string', pattern: '^(([a-z]+)+)x$' },
                ruled: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.matches('^(([a-z]+)+)x$')" }] },
                set: list('set', { type: 'string' }),
                loops: {
                  type: 'array',
                  maxItems: 5_000,
                  items: { type: 'string', maxLength: 10 },
                  'x-kubernetes-validations': [{ rule: 'self.all(a, self.all(b, a + b != "x"))' }],
                },
                map: list(
                  'map',
                  { type: 'object', properties: { k: { type: 'string' } }, required: ['k'] },
                  { 'x-kubernetes-list-map-keys': ['k'] },
                ),
              },
            },
          },
        },
      ],
    },
  });
  await client.post(`${base}/configmaps`, { metadata: { name: 'here' }, data: { a: 'b' } });
  await client.post('/apis/apps/v1/namespaces/team/deployments', {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
    },
  });
});

afterAll(async () => {
  client.close();
  await embedded.stop();
});

interface Attack {
  readonly method?: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly code: number;
}

const head = { apiVersion: 'example.com/v1', kind: 'Thing' };
const wide = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

function protobuf(object: { readonly apiVersion: string; readonly kind: string; readonly data: object }): Buffer {
  const named = { ...object, metadata: { name: 'protobuf' } };
  return encodeObject(named)!;
}

const digits = '9'.repeat(1_000_000);
const jsonPatch = { method: 'PATCH', path: `${things}/list`, type: 'application/json-patch+json' };
const attempts = NAMES.slice(0, 9_900);

const attacks: Readonly<Record<string, Attack>> = {
  'a string of many digits': {
    path: `${base}/configmaps`,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'digits' }, data: { digits } }),
    code: 201,
  },
  'a number of many digits': {
    path: things,
    type: 'application/json',
    body: `{"metadata":{"name":"number"},"unknown":${digits}}`,
    code: 201,
  },
  'a quantity of many digits': {
    path: `${base}/pods`,
    type: 'application/json',
    body: JSON.stringify({
      metadata: { name: 'digits' },
      spec: { containers: [{ name: 'a', image: 'a', resources: { limits: { cpu: `${digits}.${digits}` } } }] },
    }),
    code: 201,
  },
  'a text that makes a pattern backtrack': {
    path: things,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'word' }, word: 'a'.repeat(100) }),
    code: 422,
  },
  'a text that makes the pattern of a rule backtrack': {
    path: things,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'ruled' }, ruled: 'a'.repeat(100) }),
    code: 422,
  },
  'a long list to change': {
    path: things,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'list' }, set: Array.from({ length: 19_000 }, (_, at) => `s${at}`) }),
    code: 201,
  },
  'a JSON patch that makes an object too large': {
    ...jsonPatch,
    body: JSON.stringify(attempts.map((name) => ({ op: 'add', path: '/set/-', value: name }))),
    code: 413,
  },
  'a JSON patch that inserts at the start of a long list': {
    ...jsonPatch,
    body: JSON.stringify(attempts.map((name) => ({ op: 'add', path: '/set/0', value: name }))),
    code: 413,
  },
  'a JSON patch that moves items of a long list': {
    ...jsonPatch,
    body: JSON.stringify(attempts.map(() => ({ op: 'move', from: '/set/0', path: '/set/15000' }))),
    code: 413,
  },
  'a JSON patch of many copies': {
    ...jsonPatch,
    body: JSON.stringify(attempts.map(() => ({ op: 'copy', from: '/metadata', path: '/data' }))),
    code: 422,
  },
  'a strategic merge patch in a new order': {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/team/deployments/web',
    type: 'application/strategic-merge-patch+json',
    body: JSON.stringify({
      spec: {
        template: {
          spec: {
            '$setElementOrder/containers': NAMES.slice(0, 6_000).map((name) => ({ name })),
            containers: NAMES.slice(0, 6_000).map((name) => ({ name, image: 'web' })),
          },
        },
      },
    }),
    code: 413,
  },
  'a field selector of blanks': {
    method: 'GET',
    path: `${base}/pods?fieldSelector=${'+'.repeat(3_000)}a${'+'.repeat(8_000)}`,
    code: 400,
  },
  'a field selector with blanks in its value': {
    method: 'GET',
    path: `${base}/pods?fieldSelector=metadata.name=${'+'.repeat(5_000)}x${'+'.repeat(5_000)}x`,
    code: 200,
  },
  'YAML with many keys': {
    path: things,
    type: 'application/yaml',
    body: `metadata: {name: keys}\ndata:\n${NAMES.map((name) => `  ${name}: v\n`).join('')}`,
    code: 201,
  },
  'YAML with many anchors': {
    path: things,
    type: 'application/yaml',
    body: `metadata: {name: anchors}\ndata:\n${NAMES.slice(0, 2_000)
      .map((name) => `  ${name}: &${name} v\n  l${name}: *${name}\n`)
      .join('')}`,
    code: 201,
  },
  'JSON with more keys than an object may have': {
    path: things,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'wide' }, data: wide(200_000) }),
    code: 413,
  },
  'YAML with more keys than an object may have': {
    path: things,
    type: 'application/yaml',
    body: `metadata: {name: wide}\ndata: {b: [${'1,'.repeat(60_000)}1]}`,
    code: 413,
  },
  'protobuf with many keys': {
    path: `${base}/configmaps`,
    type: protobufType,
    body: protobuf({ apiVersion: 'v1', kind: 'ConfigMap', data: wide(10_000) }),
    code: 201,
  },
  'protobuf with more keys than an object may have': {
    path: `${base}/configmaps`,
    type: protobufType,
    body: protobuf({ apiVersion: 'v1', kind: 'ConfigMap', data: wide(60_000) }),
    code: 413,
  },
  'protobuf with more JSON inside than an object may have': {
    path: '/apis/apps/v1/namespaces/team/controllerrevisions',
    type: protobufType,
    body: protobuf({ apiVersion: 'apps/v1', kind: 'ControllerRevision', data: wide(60_000) }),
    code: 413,
  },
  'a JSON patch with many operations': {
    method: 'PATCH',
    path: `${base}/configmaps/here`,
    type: 'application/json-patch+json',
    body: JSON.stringify(NAMES.map((name) => ({ op: 'add', path: `/data/${name}`, value: 'v' }))),
    code: 200,
  },
  'a strategic merge patch of many containers': {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/team/deployments/web',
    type: 'application/strategic-merge-patch+json',
    body: JSON.stringify({
      spec: { template: { spec: { containers: NAMES.slice(0, 4_000).map((name) => ({ name, image: 'web' })) } } },
    }),
    code: 200,
  },
  'an applied set of many items': {
    method: 'PATCH',
    path: `${things}/set?fieldManager=me`,
    type: 'application/apply-patch+yaml',
    body: JSON.stringify({ ...head, metadata: { name: 'set' }, set: NAMES }),
    code: 201,
  },
  'a list that a rule checks in nested loops': {
    path: things,
    type: 'application/json',
    body: JSON.stringify({ metadata: { name: 'loops' }, loops: NAMES.slice(0, 4_000) }),
    code: 422,
  },
  'an applied list of many items with keys': {
    method: 'PATCH',
    path: `${things}/map?fieldManager=me`,
    type: 'application/apply-patch+yaml',
    body: JSON.stringify({ ...head, metadata: { name: 'map' }, map: NAMES.slice(0, 6_000).map((k) => ({ k })) }),
    code: 201,
  },
  'an update of a list of many items with keys': {
    method: 'PATCH',
    path: `${things}/map`,
    type: 'application/merge-patch+json',
    body: JSON.stringify({
      map: NAMES.slice(0, 6_000)
        .map((k) => ({ k }))
        .reverse(),
    }),
    code: 200,
  },
};

describe('the server is not blocked by', () => {
  test.each(Object.entries(attacks))('%s', async (_name, { method = 'POST', path, type, body, code }) => {
    let reply: Reply | undefined;
    const options = { token, ...(type !== undefined && { type }) };
    await expectNoStall(async () => (reply = await client.call(method, path, body, options)));
    expect([reply!.code, reply!.text.slice(0, 300)]).toEqual([code, expect.any(String)]);
  });
});

test('applying the same fields as many field managers does not block the server', async () => {
  const body = { ...head, metadata: { name: 'owned' }, data: wide(9_000) };
  const codes: number[] = [];
  for (let manager = 1; manager <= 8; manager++) {
    const apply = async (): Promise<void> => {
      const path = `${things}/owned?fieldManager=manager-${manager}`;
      const { code } = await client.call('PATCH', path, body, { type: 'application/apply-patch+yaml', token });
      codes.push(code);
    };
    await expectNoStall(apply);
  }
  expect(codes.at(-1)).toBe(413);
});

describe('the server is not blocked by lists', () => {
  const selectors = {
    'thousands of absent labels': attempts.slice(0, 2_000).map((name) => `!${name}`),
    'thousands of excluded values': [`app notin (${attempts.slice(0, 2_500).join(',')})`],
    'thousands of numeric comparisons': attempts.slice(0, 1_500).map((name) => `app>${name.slice(1)}`),
  };

  beforeAll(async () => {
    const changes = NAMES.map((name) => {
      const next = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace: 'team', labels: { app: '77777' } },
      };
      return embedded.store.write({ collection: 'secrets', key: `team/${name}`, expect: 0, next });
    });
    await Promise.all(changes);
  });

  test.each(Object.entries(selectors))('that select by %s', async (_title, requirements) => {
    const query = `labelSelector=${requirements.join(',').replaceAll(' ', '+')},none`;
    let reply: Reply | undefined;
    const ask = async (): Promise<unknown> => (reply = await client.get(`${base}/secrets?${query}`, { token }));
    await expectNoStall(ask);
    expect(reply!.code).toBe(200);
  });

  test('that select by hundreds of excluded names', async () => {
    const fieldSelector = attempts.slice(0, 600).map((name) => `metadata.name!=x${name}`);
    const query = `fieldSelector=${fieldSelector.join(',')},metadata.name=none`;
    let reply: Reply | undefined;
    const ask = async (): Promise<unknown> => (reply = await client.get(`${base}/secrets?${query}`, { token }));
    await expectNoStall(ask);
    expect(reply!.code).toBe(200);
  });
});

test('a long list in protobuf does not block the server', async () => {
  const pod = { apiVersion: 'v1', kind: 'Pod', spec: { containers: [{ name: 'a', image: 'a', env: environment }] } };
  const changes = NAMES.map((name) => {
    const next = { ...pod, metadata: { name, namespace: 'team' } };
    return embedded.store.write({ collection: 'pods', key: `team/${name}`, expect: 0, next });
  });
  await Promise.all(changes);
  let reply: Reply | undefined;
  const options = { token, headers: { Accept: protobufType } };
  await expectNoStall(async () => (reply = await client.get(`${base}/pods`, options)));
  expect(reply!.code).toBe(200);
});

test('warnings are truncated to a size that clients accept in headers', async () => {
  const body = { metadata: { name: 'unknown' }, ...wide(5_000) };
  const reply = await client.post(`${base}/configmaps`, body, { token });
  expect(reply.code).toBe(201);
  const warning = String(reply.headers['warning']);
  expect(warning).toContain('unknown field \\"k0\\"');
  expect(warning.length).toBeLessThan(10_000);
});
