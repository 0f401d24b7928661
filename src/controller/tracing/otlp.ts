// Sends spans to a collector: OTLP over HTTP with JSON, which needs no library. Tracing must never disturb the process:
// spans that can't be sent are dropped, with one log line.
import type { Logger } from '../logger.ts';
import { createTracer } from './span.ts';
import type { Attributes, EndedSpan, Tracer } from './span.ts';

export interface OtlpOptions {
  /** As OTEL_EXPORTER_OTLP_ENDPOINT: /v1/traces is added. */
  readonly endpoint: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly version: string;
  /** Which of several replicas this is. */
  readonly instance: string;
  readonly logger: Logger;
  readonly flushMs?: number;
}

export interface Exporter {
  readonly tracer: Tracer;
  /** Sends the buffered spans. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const FLUSH_MS = 5_000;
const MAX_BATCH_SIZE = 512;
/** The buffer while the collector does not answer; older spans are dropped. */
const MAX_WAITING = 4_096;
const TIMEOUT_MS = 10_000;

export function exportTraces(options: OtlpOptions): Exporter {
  const { headers = {}, logger } = options;
  const url = `${options.endpoint.replace(/\/+$/, '')}/v1/traces`;
  const waiting: EndedSpan[] = [];
  let dropped = 0;
  let isFailing = false;
  let sending = Promise.resolve();

  const send = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH_SIZE);
      const problem = await post(url, headers, requestOf(batch, options));
      if (problem !== undefined) {
        if (!isFailing) logger.warn({ url, problem }, 'traces cannot be sent, dropping those that exceed the buffer');
        isFailing = true;
        return;
      }
      if (isFailing) logger.info({ url, dropped }, 'traces are sent again');
      [isFailing, dropped] = [false, 0];
      waiting.splice(0, batch.length);
    }
  };
  const flush = (): Promise<void> => (sending = sending.then(send));
  const timer = setInterval(() => void flush(), options.flushMs ?? FLUSH_MS);
  timer.unref();
  return {
    tracer: createTracer((span) => {
      waiting.push(span);
      if (waiting.length <= MAX_WAITING) return;
      waiting.shift();
      dropped++;
    }),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** Returns what went wrong; undefined if the collector accepted the spans. */
async function post(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.ok ? undefined : `HTTP status ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause instanceof Error ? cause.message : message;
  }
}

/** `ExportTraceServiceRequest` in the JSON form of OTLP: ids in hex, times in nanoseconds as text. */
function requestOf(spans: readonly EndedSpan[], { version, instance }: OtlpOptions): object {
  const resource = { 'service.name': 'offshoot', 'service.version': version, 'service.instance.id': instance };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'offshoot', version }, spans: spans.map(spanOf) }],
      },
    ],
  };
}

const INTERNAL = 1;
const STATUS = { ok: 1, error: 2 } as const;

function spanOf({ traceId, spanId, parentSpanId, name, startedAt, endedAt, attributes, error }: EndedSpan): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf(attributes),
    status: error === undefined ? { code: STATUS.ok } : { code: STATUS.error, message: error },
  };
}

function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Parses `key=value,key=value`, as in OTEL_EXPORTER_OTLP_HEADERS. Throws for anything else. */
export function parseHeaders(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').filter((each) => each.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Error(`"${pair}" is not a header: write NAME=VALUE,NAME=VALUE`);
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
