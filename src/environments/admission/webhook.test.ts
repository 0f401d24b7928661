// Admission by a Service with two replicas, as in a cluster.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { dynamicEnv, DynamicEnv } from '../../api/dynamicenv.ts';
import {
  createLogger,
  createMetrics,
  ManagedCertificates,
  serveWebhooks,
  WebhookRegistration,
} from '../../controller/index.ts';
import { startEmbedded } from '../../embedded/index.ts';
import type { Embedded } from '../../embedded/index.ts';
import { defineKind, systemClock, Tables } from '../../kube/index.ts';
import type { Client } from '../../kube/index.ts';
import { environmentAdmission, WEBHOOK_PATH, webhookConfiguration } from './webhook.ts';
import { Environments } from '../tables.ts';
import { connectAdmin } from '../../../test/support/connect-admin.ts';

const Definition = defineKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', {
  namespaced: false,
});
const Secret = defineKind('v1', 'Secret', 'secrets');
const logger = createLogger({ level: 'silent' });
const calls: string[] = [];
const replicas: Replica[] = [];
let cluster: Embedded;
let client: Client;

interface Replica {
  readonly url: string;
  readonly certificate: string;
  stop(): Promise<void>;
}

async function replica(): Promise<Replica> {
  const stopping = new AbortController();
  const tables = new Tables([Environments]);
  const running = tables.run({ client, clock: systemClock, signal: stopping.signal });
  const hosts = ['offshoot-webhook.default.svc'];
  const certificates = new ManagedCertificates({
    client,
    clock: systemClock,
    logger,
    namespace: 'default',
    name: 'offshoot-webhook-tls',
    hosts,
  });
  await certificates.start();
  const handlers = { [WEBHOOK_PATH]: environmentAdmission(client, tables) };
  const server = await serveWebhooks({ port: 0, handlers, certificates, metrics: createMetrics(), logger });
  const registration = new WebhookRegistration({
    client,
    clock: systemClock,
    logger,
    certificates,
    configuration: (bundle) =>
      webhookConfiguration({ service: { namespace: 'default', name: 'offshoot-webhook' } }, bundle),
  });
  await registration.start();
  return {
    url: server.url,
    certificate: certificates.serving().certPem,
    async stop() {
      await registration.stop();
      await server.close();
      await certificates.stop();
      stopping.abort();
      await running;
    },
  };
}

beforeAll(async () => {
  cluster = await startEmbedded({
    hooks: {
      resolveService: ({ namespace, name, port }) => {
        const url = replicas[calls.length % replicas.length]?.url;
        if (url !== undefined) calls.push(`${namespace}/${name}:${port} ${url}`);
        return url;
      },
    },
  });
  client = connectAdmin(cluster);
  await client.create(Definition, dynamicEnv.crd);
  await until(() =>
    client.list(DynamicEnv).then(
      () => true,
      () => false,
    ),
  );
  replicas.push(...(await Promise.all([replica(), replica()])));
});

afterAll(async () => {
  await Promise.all(replicas.map((each) => each.stop()));
  client.close();
  await cluster.stop();
});

function env(name: string, spec: DynamicEnv['spec'] = { istioMatches: [], subsets: [] }): DynamicEnv {
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata: { namespace: 'default', name },
    spec,
  };
}

test('the replicas serve one certificate, stored in one Secret', async () => {
  const { items } = await client.list(Secret, { namespace: 'default' });
  const found = items.filter(({ metadata }) => metadata.name === 'offshoot-webhook-tls');
  expect(found).toHaveLength(1);
  const { 'tls.crt': stored } = found[0]!['data'] as Record<string, string>;
  expect(replicas.map(({ certificate }) => certificate)).toEqual([
    Buffer.from(stored!, 'base64').toString(),
    Buffer.from(stored!, 'base64').toString(),
  ]);
});

test('the API server calls each replica by the name of the Service, and gets the same response', async () => {
  const text =
    'admission webhook "vdynamicenv.kb.io" denied the request: spec: Invalid value: []: empty IstioMatch is invalid for DynamicEnv';
  await expect(client.create(DynamicEnv, env('a'))).rejects.toThrow(text);
  await expect(client.create(DynamicEnv, env('b'))).rejects.toThrow(text);
  expect(calls).toEqual(replicas.map(({ url }) => `default/offshoot-webhook:443 ${url}`));
});

test('the webhook warns about conflicts with another environment, and about a ttl that is already over', async () => {
  const cart = { name: 'cart', namespace: 'default', containers: [{ containerName: 'cart', image: 'cart:2' }] };
  const first = env('first', { istioMatches: [{ headers: { user: { prefix: 'al' } } }], subsets: [cart] });
  const tables = new Tables([Environments]);
  const list = tables.of(DynamicEnv).beginList();
  list.add([first]);
  list.complete('1');
  const second = env('second', {
    istioMatches: [{ headers: { user: { exact: 'bob' } } }, { headers: { user: { exact: 'alice' } } }],
    subsets: [cart],
  });
  const handler = environmentAdmission(client, tables, {}, () => Date.parse('2026-01-01T12:00:00Z'));
  const ask = (object: DynamicEnv, oldObject?: DynamicEnv): ReturnType<typeof handler> =>
    handler(
      {
        uid: '1',
        kind: { group: 'riskified.com', version: 'v1alpha1', kind: 'DynamicEnv' },
        operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
        userInfo: {},
        object,
        ...(oldObject && { oldObject }),
      },
      AbortSignal.timeout(10_000),
    );
  expect(await ask(second)).toEqual({
    allowed: true,
    warnings: [
      'spec.istioMatches[1]: environment default/first asks for all of these requests to default/cart, and for others, such as a request with user: alice: it was created first, so its routes come first',
    ],
  });
  // No warning if the spec does not change, or for another workload.
  expect(await ask({ ...second, metadata: { ...second.metadata, labels: { a: 'b' } } }, second)).toEqual({
    allowed: true,
  });
  const other = { ...second, spec: { ...second.spec, subsets: [{ ...cart, name: 'other' }] } };
  expect(await ask(other)).toEqual({ allowed: true });
  // The environment is older than its new ttl.
  const old = { ...other, metadata: { ...other.metadata, creationTimestamp: '2026-01-01T10:00:00Z' } };
  const dated = (duration: string): DynamicEnv => ({ ...old, spec: { ...old.spec, ttl: { duration } } });
  expect(await ask(dated('1h'), old)).toEqual({
    allowed: true,
    warnings: ['spec.ttl: the environment expired at 2026-01-01T11:00:00Z with this value and is deleted now'],
  });
  expect(await ask(dated('3h'), old)).toEqual({ allowed: true });
});

test('the API server does not call the webhook for status writes', async () => {
  const made = await client.create(
    DynamicEnv,
    env('c', { istioMatches: [{ sourceLabels: { app: 'a' } }], subsets: [] }),
  );
  const before = calls.length;
  const patch = { type: 'merge', body: { status: { subsetsStatus: {}, totalReady: 0, state: 'ready' } } } as const;
  const written = await client.patch(DynamicEnv, made.metadata, patch, { subresource: 'status' });
  expect(written.status?.state).toBe('ready');
  expect(calls).toHaveLength(before);
});
