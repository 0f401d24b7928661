// Traces of reconciles: what was done for an object, how long each part took, and what failed. Nothing is measured
// unless tracing is enabled.
import { randomBytes } from 'node:crypto';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span that has ended. Times are in milliseconds since 1970. */
export interface EndedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** The error, if it failed. */
  readonly error?: string;
}

/** A timed operation. */
export interface Span {
  /** For log lines; undefined without tracing. */
  readonly traceId: string | undefined;
  set(attributes: Attributes): void;
  /** Measures a part of it in a child span. An error is recorded and rethrown. */
  part<R>(name: string, run: (span: Span) => R): R;
  /** Ends it, once; with an error if it failed. */
  end(error?: unknown): void;
}

export interface Tracer {
  start(name: string, attributes: Attributes): Span;
}

/** Used when tracing is disabled. */
export const noSpan: Span = { traceId: undefined, set: () => {}, part: (_name, run) => run(noSpan), end: () => {} };

/** Creates a tracer that passes each ended span to `onEnd`. */
export function createTracer(onEnd: (span: EndedSpan) => void, now: () => number = preciseNow): Tracer {
  const start = (traceId: string, parentSpanId: string | undefined, name: string, attributes: Attributes): Span => {
    const spanId = randomBytes(8).toString('hex');
    const startedAt = now();
    let all = attributes;
    let hasEnded = false;
    const span: Span = {
      traceId,
      set: (more) => void (all = { ...all, ...more }),
      part: (partName, run) => measured(start(traceId, spanId, partName, {}), run),
      end(error) {
        if (hasEnded) return;
        hasEnded = true;
        const failure = error === undefined ? {} : { error: messageOf(error) };
        const parent = parentSpanId === undefined ? {} : { parentSpanId };
        onEnd({ traceId, spanId, ...parent, name, startedAt, endedAt: now(), attributes: all, ...failure });
      },
    };
    return span;
  };
  return { start: (name, attributes) => start(randomBytes(16).toString('hex'), undefined, name, attributes) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

function measured<R>(span: Span, run: (span: Span) => R): R {
  try {
    const result = run(span);
    if (!(result instanceof Promise)) {
      span.end();
      return result;
    }
    void result.then(
      () => span.end(),
      (error: unknown) => span.end(error),
    );
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}
