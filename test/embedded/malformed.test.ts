// Sends thousands of malformed requests: each gets a proper Status, no object changes, and memory does not grow.
import https from 'node:https';
import type { OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbedded } from '../../src/embedded/index.ts';
import type { Embedded } from '../../src/embedded/index.ts';
import { seededRandom } from '../support/random.ts';

const REQUESTS = Number(process.env['OFFSHOOT_MALFORMED'] ?? 20_000);
const SEED = Number(process.env['OFFSHOOT_SEED'] ?? 1);
const CONCURRENCY = 32;

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Buffer | string;
}

const MAPS = '/api/v1/namespaces/default/configmaps';
const victim = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'victim', namespace: 'default' },
  data: { a: 'b' },
};
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'victim', namespace: 'default' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};

let cluster: Embedded;
let agent: https.Agent;
beforeAll(async () => {
  cluster = await startEmbedded({ port: 0, simulation: false });
  agent = new https.Agent({ keepAlive: true, maxSockets: CONCURRENCY, ca: cluster.caPem });
  for (const [path, object] of [
    [MAPS, victim],
    ['/apis/apps/v1/namespaces/default/deployments', deployment],
  ] as const) {
    const { code } = await send({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
    if (code !== 201) throw new Error(`${path}: could not be prepared, ${code}`);
  }
});
afterAll(async () => {
  agent.destroy();
  await cluster.stop();
});

interface Response {
  readonly code: number;
  readonly type: string;
  readonly text: string;
}

function send({ method, path, headers = {}, body }: Request): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(cluster.url);
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const all = { authorization: `Bearer ${cluster.admin.token}`, ...length, ...headers };
    const request = https.request({ hostname, port, method, path, headers: all, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          code: response.statusCode ?? 0,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(chunks).toString(),
        }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Generates requests that must not change anything. */
function requestGenerator(random: () => number): () => Request {
  const pick = <const T extends readonly unknown[]>(...values: T): T[number] =>
    values[Math.floor(random() * values.length)]!;
  const upTo = (limit: number): number => Math.floor(random() * limit);
  const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => upTo(256)));
  const word = (): string => noise(1 + upTo(12)).toString('base64url');
  const json = { 'content-type': 'application/json' };
  const text = JSON.stringify(pick(victim, deployment));
  const item = (): string => pick(`${MAPS}/victim`, '/apis/apps/v1/namespaces/default/deployments/victim');
  const patchTypes = ['json-patch+json', 'merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml'];

  const generators: (() => Request)[] = [
    // Truncated bodies, and bodies that are not JSON, YAML or protobuf.
    () => ({ method: pick('POST', 'PUT'), path: MAPS, headers: json, body: text.slice(0, 1 + upTo(text.length - 1)) }),
    () => ({ method: 'PUT', path: item(), headers: json, body: noise(upTo(200)) }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: { 'content-type': 'application/yaml' },
      body: `a: [${word()}\n\t- {`,
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
      body: Buffer.concat([Buffer.from(pick('k8s\0', 'k8s', '')), noise(upTo(100))]),
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: { 'content-type': pick('text/html', 'application/xml', 'x', '') },
      body: text,
    }),
    // Valid JSON that is not a valid object.
    () => ({
      method: 'POST',
      path: MAPS,
      headers: json,
      body: pick('null', '[]', '1', '"x"', 'true', '{}', '{"kind":7}'),
    }),
    () => ({
      method: 'PUT',
      path: item(),
      headers: json,
      body: JSON.stringify({ ...victim, metadata: pick(null, 7, [], 'x', { name: 7 }) }),
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: json,
      body: JSON.stringify({ ...victim, kind: word(), metadata: { name: 'new' } }),
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: json,
      body: JSON.stringify({
        ...victim,
        metadata: { name: pick('', 'UPPER', 'a_b', 'x'.repeat(300), '../x', 'a b', '-a') },
      }),
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: json,
      body: JSON.stringify({
        ...victim,
        metadata: { name: 'new', labels: { [pick('a b', 'x'.repeat(400), '/', 'a/b/c')]: 'v' } },
      }),
    }),
    // Deeply nested or very long values.
    () => ({ method: 'POST', path: MAPS, headers: json, body: pick('[', '{"a":').repeat(1_000 + upTo(20_000)) }),
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': 'application/merge-patch+json' },
      body: `{"data":${'{"a":'.repeat(11_000)}1${'}'.repeat(11_001)}`,
    }),
    () => ({
      method: 'POST',
      path: MAPS,
      headers: json,
      body: JSON.stringify({ ...victim, metadata: { name: 'x'.repeat(5_000) } }),
    }),
    // Invalid patches.
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': `application/${pick(...patchTypes)}` },
      body: noise(1 + upTo(40)),
    }),
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': pick('application/json', 'text/plain', 'application/patch') },
      body: '{}',
    }),
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': 'application/json-patch+json' },
      body: JSON.stringify([
        { op: 'add', path: '/data/new', value: 'x' },
        {
          op: pick('test', 'remove', 'replace', 'move', 'copy', word()),
          path: pick('data', '/metadata/labels/9/9', '/a/b/c', '/data/a/b'),
          from: '/nowhere',
          value: 'x',
        },
      ]),
    }),
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: 'apiVersion: v1\nkind: ConfigMap',
    }),
    () => ({
      method: 'PATCH',
      path: `${item()}?fieldManager=f`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: pick('a: [', '- 1', 'kind: 7', 'apiVersion: v9\nkind: None'),
    }),
    () => ({
      method: 'PATCH',
      path: item(),
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: pick('{"$patch":"nonsense"}', '[]', '{"metadata":{"$patch":7}}', '{"metadata":7}'),
    }),
    // Invalid paths, methods and queries.
    () => ({
      method: pick('GET', 'DELETE', 'PUT', 'POST', 'PATCH'),
      path: `/${pick('api', 'apis', word())}/${word()}/${pick(word(), '%2e%2e', '%00', '%zz', '')}/${word()}`,
    }),
    () => ({ method: 'GET', path: `/api/v1/namespaces/${'x'.repeat(upTo(4_000))}/pods/${word()}` }),
    () => ({ method: 'GET', path: `/api/v1//configmaps/${pick('..', '.', '%2F', '%C3%28', '?')}` }),
    () => ({ method: pick('TRACE', 'OPTIONS', 'PUT', 'PATCH', 'PROPFIND'), path: MAPS }),
    () => ({ method: 'POST', path: item(), headers: json, body: text }),
    () => ({
      method: 'GET',
      path: `${MAPS}?${pick('labelSelector=((', 'labelSelector=a%20in%20(', 'fieldSelector=a%3D%3D%3Db', 'limit=x', 'limit=-5', 'continue=bm9uc2Vuc2U', 'resourceVersion=x', 'resourceVersionMatch=Exact', 'resourceVersionMatch=Nonsense&resourceVersion=1')}`,
    }),
    () => ({
      method: 'GET',
      path: `${MAPS}?watch=1&${pick('resourceVersion=x', 'sendInitialEvents=true', 'resourceVersionMatch=Exact&resourceVersion=1', 'labelSelector=!!')}&timeoutSeconds=1`,
    }),
    () => ({
      method: 'DELETE',
      path: item(),
      headers: json,
      body: pick(
        '{',
        '7',
        '{"preconditions":{"uid":"other"}}',
        '{"propagationPolicy":"Nonsense"}',
        '{"gracePeriodSeconds":"x"}',
        '{"preconditions":{"resourceVersion":"1"}}',
      ),
    }),
    () => ({ method: 'POST', path: `${MAPS}?dryRun=Some`, headers: json, body: text }),
    () => ({
      method: 'POST',
      path: `${MAPS}?fieldValidation=Strict`,
      headers: json,
      body: JSON.stringify({ ...victim, metadata: { name: 'new' }, nonsense: 1 }),
    }),
    // Invalid credentials and headers.
    () => ({
      method: 'GET',
      path: MAPS,
      headers: { authorization: pick('', 'Bearer', `Bearer ${word()}`, 'Basic eDp5', `Bearer a.${word()}.c`) },
    }),
    () => ({ method: 'GET', path: MAPS, headers: { 'impersonate-group': word() } }),
    () => ({
      method: 'GET',
      path: MAPS,
      headers: { accept: pick('text/html', 'application/json;as=Nonsense;v=v1;g=meta.k8s.io', 'x/y;q=z', ';') },
    }),
  ];
  return () => pick(...generators)();
}

/** All stored objects, as text. */
async function storedObjects(): Promise<string> {
  const lists = await Promise.all(
    ['/api/v1/configmaps', '/apis/apps/v1/deployments', '/api/v1/namespaces', '/api/v1/secrets'].map((path) =>
      send({ method: 'GET', path }),
    ),
  );
  return lists
    .map(({ text }) => (JSON.parse(text) as { items: unknown[] }).items)
    .map((items) => JSON.stringify(items))
    .join('\n');
}

test(`${REQUESTS} malformed requests are refused and change nothing`, async () => {
  const next = requestGenerator(seededRandom(SEED));
  const before = await storedObjects();
  const memory: number[] = [];
  const problems: string[] = [];
  let sent = 0;
  const worker = async (): Promise<void> => {
    while (sent < REQUESTS) {
      if (sent++ % (REQUESTS / 4) === 0) memory.push(process.memoryUsage.rss() / 2 ** 20);
      const request = next();
      const problem = problemOf(await send(request));
      if (problem !== undefined)
        problems.push(
          `${problem}: ${request.method} ${request.path.slice(0, 120)} ${String(request.body).slice(0, 120)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  expect([...new Set(problems)].slice(0, 20)).toEqual([]);
  expect(await storedObjects()).toBe(before);
  expect(process.memoryUsage.rss() / 2 ** 20 - memory[1]!).toBeLessThan(150);
}, 240_000);

/** The problem of a response; undefined when it is valid. */
function problemOf({ code, type, text }: Response): string | undefined {
  if (code < 300) return undefined;
  if (code >= 500 && code !== 501) return `${code}`;
  if (!type.startsWith('application/json')) return `${code} as ${type || 'nothing'}`;
  let status: { kind?: unknown; code?: unknown; message?: unknown; status?: unknown };
  try {
    status = JSON.parse(text) as typeof status;
  } catch {
    return `${code} with a body that is no JSON`;
  }
  const proper =
    status.kind === 'Status' &&
    status.code === code &&
    status.status === 'Failure' &&
    typeof status.message === 'string' &&
    status.message !== '';
  return proper ? undefined : `${code} without a proper Status`;
}
