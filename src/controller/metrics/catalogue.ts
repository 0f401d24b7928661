// The metrics of every process. Metrics of controllers are in their definitions:
// `gauges`, `counters` and `timings`. The reference page is generated from both.

export interface MetricDefinition {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  /** Of a histogram: upper bounds, in the unit of the name. */
  readonly buckets?: readonly number[];
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const QUEUE_SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10];

const counter = (name: string, help: string, labels: readonly string[] = []): MetricDefinition => ({
  name,
  help,
  type: 'counter',
  labels,
});
const gauge = (name: string, help: string, labels: readonly string[] = []): MetricDefinition => ({
  name,
  help,
  type: 'gauge',
  labels,
});
const histogram = (
  name: string,
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): MetricDefinition => ({ name, help, type: 'histogram', labels, buckets });

const ofController = ['controller'];
const ofQueue = ['name', 'controller'];

/** With the names that dashboards for controller-runtime and client-go know, and our own. */
export const METRICS = {
  reconciles: counter('controller_runtime_reconcile_total', 'Reconciles by result', ['controller', 'result']),
  errors: counter('controller_runtime_reconcile_errors_total', 'Reconciles that failed', ofController),
  panics: counter('controller_runtime_reconcile_panics_total', 'Plans that threw an error', ofController),
  seconds: histogram('controller_runtime_reconcile_time_seconds', 'Duration of a reconcile', ofController, SECONDS),
  maximum: gauge(
    'controller_runtime_max_concurrent_reconciles',
    'Maximum number of concurrent reconciles',
    ofController,
  ),
  active: gauge('controller_runtime_active_workers', 'Reconciles in progress', ofController),
  webhooks: counter('controller_runtime_webhook_requests_total', 'Admission requests by HTTP status', [
    'webhook',
    'code',
  ]),
  webhookSeconds: histogram(
    'controller_runtime_webhook_latency_seconds',
    'Duration of an admission request',
    ['webhook'],
    SECONDS,
  ),
  webhooksInFlight: gauge('controller_runtime_webhook_requests_in_flight', 'Admission requests in progress', [
    'webhook',
  ]),
  depth: gauge('workqueue_depth', 'Keys waiting in the queue', ofQueue),
  adds: counter('workqueue_adds_total', 'Keys added', ofQueue),
  retries: counter('workqueue_retries_total', 'Keys added after a failure', ofQueue),
  waited: histogram('workqueue_queue_duration_seconds', 'How long a key waited', ofQueue, QUEUE_SECONDS),
  worked: histogram('workqueue_work_duration_seconds', 'How long a key ran', ofQueue, QUEUE_SECONDS),
  requests: counter(
    'rest_client_requests_total',
    'Requests to the API server by HTTP status, or <error> if there was no answer',
    ['code', 'method', 'host'],
  ),
  requestSeconds: histogram(
    'rest_client_request_duration_seconds',
    'Duration of a request to the API server',
    ['verb', 'host'],
    SECONDS,
  ),
  leader: gauge('leader_election_master_status', '1 while this process leads', ['name']),
  objects: gauge('offshoot_table_objects', 'Objects that a table holds', ['group', 'kind']),
  synced: gauge('offshoot_table_synced', '1 if a table is synced', ['group', 'kind']),
  watchErrors: counter('offshoot_watch_errors_total', 'Lists and watches that failed and are retried', [
    'group',
    'kind',
  ]),
  writes: counter(
    'offshoot_writes_total',
    'Writes that the API server acknowledged, and what they did: created, changed, removed, nothing',
    ['controller', 'group', 'kind', 'did'],
  ),
  build: gauge('offshoot_build_info', '1, with the version of the program', ['version']),
  started: gauge('process_start_time_seconds', 'When the process started, in seconds since 1970'),
  cpu: counter('process_cpu_seconds_total', 'CPU time that the process used'),
  memory: gauge('process_resident_memory_bytes', 'Memory that the process has'),
  heap: gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript objects take'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;
