// The metrics of a process, in a registry of its own.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueMetrics } from '../queue.ts';
import { METRICS } from './catalogue.ts';
import type { MetricDefinition } from './catalogue.ts';

const RESULTS = ['success', 'error', 'requeue', 'requeue_after'];

/** The metrics of one controller. */
export interface ControllerMetrics {
  readonly queue: QueueMetrics;
  workers(count: number): void;
  started(): void;
  finished(result: string, seconds: number): void;
  /** A plan threw. */
  panicked(): void;
  /** A write was acknowledged. */
  wrote(kind: KindName, did: string): void;
}

/** A gauge whose series are computed at each scrape. */
export type ComputedGauge = Pick<MetricDefinition, 'name' | 'help' | 'labels'>;

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

interface KindName {
  readonly group: string;
  readonly kind: string;
}

export interface Metrics {
  readonly registry: Registry;
  controller(name: string): ControllerMetrics;
  /** Adds a gauge: `series` is called at each scrape, and replaces all earlier series. */
  computed(gauge: ComputedGauge, series: () => Iterable<Series>): void;
  /** Adds a counter; returns the function that increments it. */
  counter(counter: ComputedGauge & { readonly initial?: readonly Labels[] }): (labels: Labels) => void;
  /** Adds a histogram; returns the function that observes a value. */
  histogram(histogram: ComputedGauge & { readonly buckets: readonly number[] }): (each: Series) => void;
  /** Records a call of a webhook; the returned function must be called with the HTTP status code of the answer. */
  webhook(path: string): (code: number) => void;
  request(request: { method: string; code: number; host: string; durationMs: number }): void;
  leading(name: string, leads: boolean): void;
  watchFailed(kind: KindName): void;
  /** The Prometheus text format. */
  text(): Promise<string>;
}

/** Creates the metrics of a process. */
export function createMetrics({ version }: { readonly version?: string } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const base = ({ name, help, labels }: ComputedGauge) => ({ name, help, labelNames: [...labels], registers });
  const counter = (metric: ComputedGauge): Counter => new Counter(base(metric));
  const gauge = (metric: ComputedGauge): Gauge => new Gauge(base(metric));
  const histogram = (metric: ComputedGauge & { readonly buckets?: readonly number[] }): Histogram =>
    new Histogram({ ...base(metric), buckets: [...(metric.buckets ?? [])] });

  const reconciles = counter(METRICS.reconciles);
  const errors = counter(METRICS.errors);
  const panics = counter(METRICS.panics);
  const seconds = histogram(METRICS.seconds);
  const maximum = gauge(METRICS.maximum);
  const active = gauge(METRICS.active);
  const depth = gauge(METRICS.depth);
  const adds = counter(METRICS.adds);
  const retries = counter(METRICS.retries);
  const waited = histogram(METRICS.waited);
  const worked = histogram(METRICS.worked);
  const requests = counter(METRICS.requests);
  const requestSeconds = histogram(METRICS.requestSeconds);
  const webhooks = counter(METRICS.webhooks);
  const webhookSeconds = histogram(METRICS.webhookSeconds);
  const webhooksInFlight = gauge(METRICS.webhooksInFlight);
  const leader = gauge(METRICS.leader);
  const watchErrors = counter(METRICS.watchErrors);
  const writes = counter(METRICS.writes);
  /** Called before each scrape. */
  const beforeScrape: (() => void)[] = [];
  /** Counts in a plain number until the next scrape: a reconcile updates metrics more often than it does anything else. */
  const tally = (metric: Counter, labels: Labels): (() => void) => {
    let count = 0;
    beforeScrape.push(() => {
      metric.inc({ ...labels }, count);
      count = 0;
    });
    return () => void count++;
  };
  /** Sets a gauge to a number that is read at each scrape. */
  const level = (metric: Gauge, labels: Labels): { value: number } => {
    const current = { value: 0 };
    beforeScrape.push(() => metric.set({ ...labels }, current.value));
    return current;
  };
  if (version !== undefined) gauge(METRICS.build).set({ version }, 1);
  addProcess(registry);

  return {
    registry,
    controller(name) {
      const results = new Map(RESULTS.map((result) => [result, tally(reconciles, { controller: name, result })]));
      errors.inc({ controller: name }, 0);
      panics.inc({ controller: name }, 0);
      const labels = { name, controller: name };
      retries.inc(labels, 0);
      const running = level(active, { controller: name });
      const queueDepth = level(depth, labels);
      const reconcileSeconds = seconds.labels({ controller: name });
      const waitSeconds = waited.labels(labels);
      const workSeconds = worked.labels(labels);
      return {
        queue: {
          added: tally(adds, labels),
          retried: () => retries.inc(labels),
          depth: (size) => void (queueDepth.value = size),
          started: (waitedMs) => waitSeconds.observe(waitedMs / 1000),
          finished: (workedMs) => workSeconds.observe(workedMs / 1000),
        },
        workers: (count) => maximum.set({ controller: name }, count),
        started: () => void running.value++,
        finished: (result, took) => {
          running.value--;
          results.get(result)?.();
          if (result === 'error') errors.inc({ controller: name });
          reconcileSeconds.observe(took);
        },
        panicked: () => panics.inc({ controller: name }),
        wrote: ({ group, kind }, did) => writes.inc({ controller: name, group, kind, did }),
      };
    },
    computed(metric, series) {
      const made = new Gauge({
        ...base(metric),
        collect() {
          made.reset();
          for (const each of series()) made.set({ ...each.labels }, each.value);
        },
      });
    },
    counter(metric) {
      const made = counter(metric);
      for (const labels of metric.initial ?? []) made.inc({ ...labels }, 0);
      return (labels) => made.inc({ ...labels });
    },
    histogram(metric) {
      const made = histogram(metric);
      return ({ labels, value }) => made.observe({ ...labels }, value);
    },
    webhook(path) {
      const end = webhookSeconds.startTimer({ webhook: path });
      webhooksInFlight.inc({ webhook: path });
      return (code) => {
        end();
        webhooksInFlight.dec({ webhook: path });
        webhooks.inc({ webhook: path, code: String(code) });
      };
    },
    request({ method, code, host, durationMs }) {
      requests.inc({ code: code === 0 ? '<error>' : String(code), method, host });
      requestSeconds.observe({ verb: method, host }, durationMs / 1000);
    },
    leading: (name, leads) => leader.set({ name }, leads ? 1 : 0),
    watchFailed: ({ group, kind }) => watchErrors.inc({ group, kind }),
    text() {
      for (const update of beforeScrape) update();
      return registry.metrics();
    },
  };
}

/** Adds the metrics of the process itself. */
function addProcess(registry: Registry): void {
  const add = (Metric: typeof Counter | typeof Gauge, { name, help }: MetricDefinition, value: () => number): void => {
    const made: Counter | Gauge = new Metric({
      name,
      help,
      registers: [registry],
      collect() {
        made.reset();
        made.inc(value());
      },
    });
  };
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  add(Gauge, METRICS.started, () => startedAt);
  add(
    Counter,
    METRICS.cpu,
    () => process.resourceUsage().userCPUTime / 1e6 + process.resourceUsage().systemCPUTime / 1e6,
  );
  add(Gauge, METRICS.memory, () => process.memoryUsage.rss());
  add(Gauge, METRICS.heap, () => process.memoryUsage().heapUsed);
}
