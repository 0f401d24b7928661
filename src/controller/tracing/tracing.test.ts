import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { copier, copy, Copy, template, Template } from '../../../test/support/copier.ts';
import { FakeApi } from '../../../test/support/fake-api.ts';
import { settled } from '../../../test/support/until.ts';
import { createLogger } from '../logger.ts';
import { Manager } from '../manager.ts';
import { exportTraces, parseHeaders } from './otlp.ts';
import { createTracer } from './span.ts';
import type { EndedSpan } from './span.ts';

const closes: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closes.splice(0).toReversed()) await close();
});

/** A manager with tracing, and all its log lines. */
async function run(
  failing: boolean,
): Promise<{ spans: readonly EndedSpan[]; lines: readonly Record<string, unknown>[] }> {
  const api = new FakeApi();
  const spans: EndedSpan[] = [];
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const plan = (): never => {
    throw new Error('a defect');
  };
  const manager = new Manager({
    client: api,
    controllers: [failing ? { ...copier, plan } : copier],
    logger: createLogger({ level: 'debug', format: 'json', write }),
    tracer: createTracer((span) => spans.push(span)),
  });
  closes.push(() => manager.stop());
  await api.create(Template, template('text', 'hello'));
  await api.create(Copy, copy('a', { count: 1 }));
  await manager.start();
  await settled(manager);
  return { spans, lines };
}

describe('a reconcile', () => {
  test('is a span with its object and result, and child spans for the plan, the writes and the status', async () => {
    const { spans } = await run(false);
    const root = spans.find(
      ({ name, traceId }) =>
        name === `reconcile ${copier.name}` &&
        spans.some((each) => each.traceId === traceId && each.attributes['writes']),
    )!;
    expect(root.attributes).toEqual({
      controller: copier.name,
      'k8s.object.kind': 'Copy',
      'k8s.object.name': 'a',
      'k8s.namespace.name': 'team',
      result: 'success',
    });
    const parts = spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(parts.map(({ name }) => name)).toEqual(['plan', 'write', 'status']);
    expect(parts[1]!.attributes).toMatchObject({
      writes: 1,
      wrote: expect.stringMatching(/^created Note team\//) as string,
    });
    for (const { startedAt, endedAt, traceId } of parts) {
      expect(traceId).toBe(root.traceId);
      expect(startedAt).toBeGreaterThanOrEqual(root.startedAt);
      expect(endedAt).toBeLessThanOrEqual(root.endedAt);
    }
  });

  test('records its failure in the span, and its log lines name the object and the trace', async () => {
    const { spans, lines } = await run(true);
    const failed = spans.filter(({ error }) => error === 'a defect');
    expect(failed.map(({ name }) => name)).toEqual(expect.arrayContaining(['plan', `reconcile ${copier.name}`]));
    const about = lines.filter(({ controller }) => controller === copier.name);
    expect(about.length).toBeGreaterThan(0);
    for (const line of about) {
      expect(line).toMatchObject({ kind: 'Copy', namespace: 'team', name: 'a' });
      expect(spans.map(({ traceId }) => traceId)).toContain(line['traceId']);
    }
  });
});

describe('a collector', () => {
  /** A collector that answers with this status, and the requests that it received. */
  async function collector(status: {
    code: number;
  }): Promise<{ url: string; got: { path: string; token: unknown; body: unknown }[] }> {
    const got: { path: string; token: unknown; body: unknown }[] = [];
    const server = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        got.push({ path: request.url ?? '', token: request.headers['x-token'], body: await json(request) });
        response.writeHead(status.code).end('{}');
      };
      void answer();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    closes.push(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
  }

  test('receives spans in the OTLP format, with the headers', async () => {
    const { url, got } = await collector({ code: 200 });
    const logger = createLogger({ level: 'silent' });
    const exporter = exportTraces({
      endpoint: `${url}/`,
      headers: parseHeaders('x-token=a%20b'),
      version: '1.0.0',
      instance: 'pod',
      logger,
    });
    const span = exporter.tracer.start('reconcile x', { controller: 'x', count: 2, share: 0.5, ok: true });
    span.part('plan', () => 1);
    span.end(new Error('no'));
    await exporter.stop();
    expect(got).toHaveLength(1);
    expect(got[0]).toMatchObject({ path: '/v1/traces', token: 'a b' });
    const { resourceSpans } = got[0]!.body as {
      resourceSpans: { resource: object; scopeSpans: { spans: Record<string, unknown>[] }[] }[];
    };
    expect(resourceSpans[0]!.resource).toMatchObject({
      attributes: expect.arrayContaining([{ key: 'service.name', value: { stringValue: 'offshoot' } }]) as unknown,
    });
    const [part, root] = resourceSpans[0]!.scopeSpans[0]!.spans;
    expect(root).toMatchObject({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
      name: 'reconcile x',
      startTimeUnixNano: expect.stringMatching(/^\d{19}$/) as string,
      attributes: [
        { key: 'controller', value: { stringValue: 'x' } },
        { key: 'count', value: { intValue: '2' } },
        { key: 'share', value: { doubleValue: 0.5 } },
        { key: 'ok', value: { boolValue: true } },
      ],
      status: { code: 2, message: 'no' },
    });
    expect(part).toMatchObject({
      name: 'plan',
      traceId: root!['traceId'],
      parentSpanId: root!['spanId'],
      status: { code: 1 },
    });
  });

  test('is logged once when it rejects spans, and receives the buffered ones when it accepts them again', async () => {
    const status = { code: 503 };
    const { url, got } = await collector(status);
    const lines: string[] = [];
    const logger = createLogger({ format: 'json', write: (line) => void lines.push(line) });
    const exporter = exportTraces({ endpoint: url, version: '1.0.0', instance: 'pod', logger });
    exporter.tracer.start('a', {}).end();
    await exporter.flush();
    await exporter.flush();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('HTTP status 503');
    status.code = 200;
    await exporter.stop();
    expect(got).toHaveLength(3);
    expect(lines[1]).toContain('traces are sent again');
  });

  test.each(['token', '=a'])('headers %j are rejected', (text) => {
    expect(() => parseHeaders(text)).toThrow(`"${text}" is not a header: write NAME=VALUE,NAME=VALUE`);
  });
});
