// Metrics under the names that dashboards for controller-runtime and client-go know, plus our own.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueMetrics } from './queue.ts';

const RECONCILE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const QUEUE_SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];
const RESULTS = ['success', 'error', 'requeue', 'requeue_after'];

/** What one controller reports as it works. */
export interface ControllerMetrics {
  readonly queue: QueueMetrics;
  workers(count: number): void;
  started(): void;
  finished(result: string, seconds: number): void;
  /** A plan threw. */
  panicked(): void;
}

/** A gauge whose series are computed when somebody asks for them. */
export interface ComputedGauge {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Metrics {
  readonly registry: Registry;
  controller(name: string): ControllerMetrics;
  /** Adds a gauge: `series` is called at each scrape, and what it no longer names is gone. */
  computed(gauge: ComputedGauge, series: () => Iterable<Series>): void;
  /** A webhook is called; returns what is to be called with the HTTP status code of the answer. */
  webhook(path: string): (code: number) => void;
  request(request: { method: string; code: number; host: string; durationMs: number }): void;
  leading(name: string, leads: boolean): void;
  /** How far a table is: whether it is synced, and how many objects it holds. */
  table(kind: { readonly group: string; readonly kind: string }, size: number, synced: boolean): void;
  /** The Prometheus text form. */
  text(): Promise<string>;
}

/** Makes the metrics of a process, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[]): Gauge =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]): Histogram =>
    new Histogram({ name, help, labelNames, buckets, registers });

  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciles by result', ['controller', 'result']);
  const errors = counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', ['controller']);
  const panics = counter('controller_runtime_reconcile_panics_total', 'Plans that threw', ['controller']);
  const seconds = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of a reconcile',
    ['controller'],
    RECONCILE_SECONDS,
  );
  const maximum = gauge('controller_runtime_max_concurrent_reconciles', 'Reconciles that may run at once', [
    'controller',
  ]);
  const active = gauge('controller_runtime_active_workers', 'Reconciles that run now', ['controller']);
  const queueLabels = ['name', 'controller'];
  const depth = gauge('workqueue_depth', 'Keys that could run now', queueLabels);
  const adds = counter('workqueue_adds_total', 'Keys added', queueLabels);
  const retries = counter('workqueue_retries_total', 'Keys added after a failure', queueLabels);
  const waited = histogram('workqueue_queue_duration_seconds', 'How long a key waited', queueLabels, QUEUE_SECONDS);
  const worked = histogram('workqueue_work_duration_seconds', 'How long a key ran', queueLabels, QUEUE_SECONDS);
  const requests = counter('rest_client_requests_total', 'Requests to the API server', ['code', 'method', 'host']);
  const requestSeconds = histogram(
    'rest_client_request_duration_seconds',
    'Length of a request to the API server',
    ['verb', 'host'],
    RECONCILE_SECONDS,
  );
  const webhooks = counter('controller_runtime_webhook_requests_total', 'Admission requests', ['webhook', 'code']);
  const webhookSeconds = histogram(
    'controller_runtime_webhook_latency_seconds',
    'Length of an admission request',
    ['webhook'],
    RECONCILE_SECONDS,
  );
  const webhooksInFlight = gauge('controller_runtime_webhook_requests_in_flight', 'Admission requests under way', [
    'webhook',
  ]);
  const leader = gauge('leader_election_master_status', '1 while this process leads', ['name']);
  const objects = gauge('offshoot_table_objects', 'Objects that a table holds', ['group', 'kind']);
  const synced = gauge('offshoot_table_synced', '1 when a table has been listed', ['group', 'kind']);

  return {
    registry,
    controller(name) {
      for (const result of RESULTS) reconciles.inc({ controller: name, result }, 0);
      errors.inc({ controller: name }, 0);
      panics.inc({ controller: name }, 0);
      const labels = { name, controller: name };
      adds.inc(labels, 0);
      retries.inc(labels, 0);
      depth.set(labels, 0);
      const running = active.labels({ controller: name });
      const queueDepth = depth.labels(labels);
      const queueAdds = adds.labels(labels);
      const reconcileSeconds = seconds.labels({ controller: name });
      const waitSeconds = waited.labels(labels);
      const workSeconds = worked.labels(labels);
      return {
        queue: {
          added: () => queueAdds.inc(),
          retried: () => retries.inc(labels),
          depth: (size) => queueDepth.set(size),
          started: (waitedMs) => waitSeconds.observe(waitedMs / 1000),
          finished: (workedMs) => workSeconds.observe(workedMs / 1000),
        },
        workers: (count) => maximum.set({ controller: name }, count),
        started: () => running.inc(),
        finished: (result, took) => {
          running.dec();
          reconciles.inc({ controller: name, result });
          if (result === 'error') errors.inc({ controller: name });
          reconcileSeconds.observe(took);
        },
        panicked: () => panics.inc({ controller: name }),
      };
    },
    computed({ name, help, labels }, series) {
      const made = new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers,
        collect() {
          made.reset();
          for (const each of series()) made.set({ ...each.labels }, each.value);
        },
      });
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
    table: ({ group, kind }, size, isSynced) => {
      objects.set({ group, kind }, size);
      synced.set({ group, kind }, isSynced ? 1 : 0);
    },
    text: () => registry.metrics(),
  };
}
