import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { CertificatePair } from '../../kube/pki.ts';
import { until } from '../../../test/support/until.ts';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { AdmissionHandler } from './admission.ts';
import { renew } from './certificate-renewal.ts';
import type { CertificateData } from './certificate-renewal.ts';
import type { Certificates } from './certificates.ts';
import { createLogger } from '../logger.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { clientConfigOf, ValidatingWebhookConfiguration, WebhookRegistration } from './registration.ts';
import { serveWebhooks } from './server.ts';
import type { WebhookServer } from './server.ts';

const logger = createLogger({ level: 'silent' });

/** Certificates that a test changes by hand. */
class GivenCertificates implements Certificates {
  #data: CertificateData = renew(undefined, ['127.0.0.1'], Date.now());
  readonly #listeners: (() => void)[] = [];

  change(): void {
    this.#data = renew(undefined, ['127.0.0.1'], Date.now());
    for (const listener of this.#listeners) listener();
  }

  async start(): Promise<void> {}
  async stop(): Promise<void> {}
  serving(): CertificatePair {
    return this.#data;
  }
  bundle(): string {
    return this.#data.caPem;
  }
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

const closing: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Answer {
  readonly code: number;
  readonly text: string;
  readonly connection: string | undefined;
}

interface Served {
  readonly server: WebhookServer;
  readonly certificates: GivenCertificates;
  readonly metrics: ReturnType<typeof createMetrics>;
  readonly call: (
    body: unknown,
    options?: { path?: string; method?: string; type?: string; agent?: Agent },
  ) => Promise<Answer>;
}

async function serve(handle: AdmissionHandler, timeoutMs?: number): Promise<Served> {
  const certificates = new GivenCertificates();
  const metrics = createMetrics();
  const server = await serveWebhooks({
    port: 0,
    handlers: { '/check': handle },
    certificates,
    metrics,
    logger,
    ...(timeoutMs !== undefined && { timeoutMs }),
  });
  closing.push(() => server.close(0));
  return {
    server,
    certificates,
    metrics,
    async call(body, { path = '/check', method = 'POST', type = 'application/json', agent } = {}) {
      const ca = certificates.bundle();
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(
          `${server.url}${path}`,
          { method, ca, ...(agent && { agent }), headers: { 'content-type': type } },
          resolve,
        )
          .on('error', reject)
          .end(typeof body === 'string' ? body : JSON.stringify(body));
      });
      const chunks: Buffer[] = [];
      for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
      const { statusCode: code = 0, headers } = response;
      return { code, text: Buffer.concat(chunks).toString(), connection: headers.connection };
    },
  };
}

const review = {
  kind: 'AdmissionReview',
  apiVersion: 'admission.k8s.io/v1',
  request: { uid: 'u-1', operation: 'CREATE', userInfo: { username: 'jane' }, object: { metadata: { name: 'a' } } },
};

test('a review is answered with the decision and the uid of the request', async () => {
  const { call } = await serve(async ({ userInfo, object }) => ({
    allowed: false,
    status: { code: 403, message: `${userInfo.username} ${object?.metadata.name}` },
    warnings: ['look out'],
  }));
  const { code, text } = await call(review);
  expect([code, JSON.parse(text)]).toEqual([
    200,
    {
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { uid: 'u-1', allowed: false, status: { code: 403, message: 'jane a' }, warnings: ['look out'] },
    },
  ]);
});

test.each<[string, unknown, object, number, string]>([
  ['an empty body', '', {}, 400, 'the body is empty'],
  ['invalid JSON', '{', {}, 400, 'the body is not JSON'],
  ['another kind', { kind: 'Pod' }, {}, 400, 'must be an AdmissionReview, found kind "Pod"'],
  ['null', 'null', {}, 400, 'must be an AdmissionReview, found kind null'],
  [
    'an old version',
    { ...review, apiVersion: 'admission.k8s.io/v1beta1' },
    {},
    400,
    'apiVersion must be admission.k8s.io/v1',
  ],
  ['no request', { ...review, request: null }, {}, 400, 'the AdmissionReview has no request'],
  ['no uid', { ...review, request: { operation: 'CREATE' } }, {}, 400, 'request.uid is missing'],
  ['no operation', { ...review, request: { uid: 'x' } }, {}, 400, 'request.operation is missing'],
  [
    'another content type',
    review,
    { type: 'text/yaml' },
    400,
    'content-type must be application/json, found "text/yaml"',
  ],
  ['another method', review, { method: 'PUT' }, 405, 'a webhook is called by POST, found PUT'],
  ['another path', review, { path: '/constructor' }, 404, 'no webhook at /constructor; there are: /check'],
  ['a body that is too large', 'x'.repeat(7 * 1024 * 1024 + 1), {}, 413, 'more than 7340032'],
])('%s is rejected with a reason', async (_name, body, options, code, text) => {
  const { call } = await serve(async () => ({ allowed: true }));
  const answer = await call(body, options);
  expect(answer.code).toBe(code);
  expect(answer.text).toContain(text);
});

test('a handler that fails denies the request, and says why', async () => {
  const { call } = await serve(async () => {
    throw new Error('no access to the cluster');
  });
  expect(JSON.parse((await call(review)).text)).toMatchObject({
    response: { allowed: false, status: { code: 500, reason: 'InternalError', message: 'no access to the cluster' } },
  });
});

test('a handler that takes longer than the timeout of the caller is aborted', async () => {
  let aborted = false;
  const { call } = await serve(
    (_request, signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => (aborted = true));
      }),
  );
  const answer = await call(review, { path: '/check?timeout=20ms' });
  expect(JSON.parse(answer.text)).toMatchObject({
    response: { allowed: false, status: { code: 504, message: 'no decision within 19 ms' } },
  });
  expect(aborted).toBe(true);
});

test('calls are counted', async () => {
  const { call, metrics } = await serve(async () => ({ allowed: true }));
  await call(review);
  await call('');
  const text = await metrics.text();
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/check",code="200"} 1');
  expect(text).toContain('controller_runtime_webhook_requests_total{webhook="/check",code="400"} 1');
  expect(text).toContain('controller_runtime_webhook_latency_seconds_count{webhook="/check"} 2');
  expect(text).toContain('controller_runtime_webhook_requests_in_flight{webhook="/check"} 0');
});

test('a changed certificate is used for the next connection, without a restart', async () => {
  const { call, certificates } = await serve(async () => ({ allowed: true }));
  expect((await call(review)).code).toBe(200);
  certificates.change();
  // The caller trusts only the new authority.
  expect((await call(review)).code).toBe(200);
});

test('drain keeps answering and keeps no connection alive, not even that of a request in flight', async () => {
  const gate = Promise.withResolvers<{ allowed: boolean }>();
  let calls = 0;
  const { call, server } = await serve(() => (++calls === 1 ? gate.promise : Promise.resolve({ allowed: true })));
  const agent = new Agent({ keepAlive: true });
  closing.push(() => agent.destroy());
  const underWay = call(review, { agent });
  await until(() => calls === 1);
  server.drain();
  expect(await call(review, { agent })).toMatchObject({ code: 200, connection: 'close' });
  gate.resolve({ allowed: true });
  expect(await underWay).toMatchObject({ code: 200, connection: 'close' });
});

test('close lets a request in flight finish and accepts no new one', async () => {
  const gate = Promise.withResolvers<{ allowed: boolean }>();
  let entered = false;
  const { call, server } = await serve(() => {
    entered = true;
    return gate.promise;
  });
  const agent = new Agent({ keepAlive: true });
  closing.push(() => agent.destroy());
  const answer = call(review, { agent });
  await until(() => entered);
  const closed = server.close();
  await expect(call(review)).rejects.toThrow('ECONNREFUSED');
  gate.resolve({ allowed: true });
  expect((await answer).code).toBe(200);
  await expect(closed).resolves.toBeUndefined();
});

test('the CA bundle of a configuration is kept current, and nothing is written if it is right', async () => {
  const api = new FakeApi();
  const clock = new FakeClock();
  const certificates = new GivenCertificates();
  const registration = new WebhookRegistration({
    client: api,
    clock,
    logger,
    certificates,
    configuration: (bundle) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'checks' },
      webhooks: [
        { name: 'check.test', clientConfig: clientConfigOf({ url: 'https://127.0.0.1:1' }, '/check', bundle) },
      ],
    }),
  });
  closing.push(() => registration.stop());
  await registration.start();
  const shown = (): unknown => {
    const [webhook] = api.all(ValidatingWebhookConfiguration).get('checks')!['webhooks'] as [{ clientConfig: unknown }];
    return webhook.clientConfig;
  };
  const wanted = (): unknown => ({
    url: 'https://127.0.0.1:1/check',
    caBundle: Buffer.from(certificates.bundle()).toString('base64'),
  });
  expect(shown()).toEqual(wanted());
  expect(api.writes).toHaveLength(1);

  await api.patch(
    ValidatingWebhookConfiguration,
    { name: 'checks' },
    { type: 'merge', body: { webhooks: [{ name: 'check.test', clientConfig: { url: 'https://evil' } }] } },
  );
  await until(() => api.writes.length === 3);
  expect(shown()).toEqual(wanted());

  certificates.change();
  await until(() => api.writes.length === 4);
  expect(shown()).toEqual(wanted());

  await api.delete(ValidatingWebhookConfiguration, { name: 'checks' });
  await until(() => api.all(ValidatingWebhookConfiguration).size === 1);
  expect(shown()).toEqual(wanted());

  const writes = api.writes.length;
  await registration.stop({ remove: true });
  expect(api.all(ValidatingWebhookConfiguration).size).toBe(0);
  expect(api.writes).toHaveLength(writes + 1);
});

test('clientConfigOf names a service with its port and path', () => {
  const address = { service: { namespace: 'offshoot', name: 'hooks' } };
  expect(clientConfigOf(address, '/check', undefined)).toEqual({
    service: { namespace: 'offshoot', name: 'hooks', port: 443, path: '/check' },
  });
});
