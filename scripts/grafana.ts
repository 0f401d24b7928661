// The dashboard for Grafana, deploy/chart/grafana-dashboard.json, from a table of panels and their Prometheus queries.
// `npm run chart` writes it.

interface Query {
  readonly expr: string;
  /** The name of a line; labels in braces are filled in. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** The description of the panel. */
  readonly about: string;
  /** `stat`: one number per query; `lines`: over time; `stack`: stacked lines; `bars`: the last values. */
  readonly as: 'stat' | 'lines' | 'stack' | 'bars';
  readonly unit?: 's' | 'bytes' | 'reqps' | 'percentunit' | 'short';
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

// Other controllers report metrics with the same names.
const OURS = 'job=~"$job"';
const quantiles = (metric: string, by: string, legend: string): readonly Query[] =>
  [0.5, 0.99].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, sum by (${['le', by].filter(Boolean).join(', ')}) (rate(${metric}_bucket{${OURS}}[$__rate_interval])))`,
    legend: `p${quantile * 100} ${legend}`.trim(),
  }));
const ratesBy = (metric: string, by: string, filter = ''): Query => ({
  expr: `sum by (${by}) (rate(${metric}{${[OURS, filter].filter(Boolean).join(', ')}}[$__rate_interval]))`,
  legend: by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' '),
});
const mostBy = (metric: string, by: string, filter = ''): Query => ({
  ...ratesBy(metric, by),
  expr: `max by (${by}) (${metric}{${[OURS, filter].filter(Boolean).join(', ')}})`,
});

export const ROWS: readonly Row[] = [
  {
    title: 'At a glance',
    panels: [
      {
        title: 'Replicas',
        about: 'By version. Two versions for a long time mean that a rollout is stuck.',
        as: 'stat',
        queries: [{ expr: `count by (version) (offshoot_build_info{${OURS}})`, legend: '{{version}}' }],
      },
      {
        title: 'Leaders',
        about: 'The leading replica of each part. Without one, nothing is reconciled.',
        as: 'bars',
        queries: [{ expr: `leader_election_master_status{${OURS}} > 0`, legend: '{{name}} {{instance}}' }],
      },
      {
        title: 'Environments',
        about: 'All environments, and those that are degraded.',
        as: 'stat',
        queries: [
          { expr: `sum(max by (state) (offshoot_environments{${OURS}}))`, legend: 'all' },
          { expr: `max(offshoot_environments{${OURS}, state="degraded"})`, legend: 'degraded' },
        ],
      },
      {
        title: 'Not isolated',
        about: 'Environments that affect requests of others. "offshoot prove -A" names them.',
        as: 'stat',
        queries: [{ expr: `max(offshoot_proofs{${OURS}, result="refuted"})`, legend: 'refuted' }],
      },
    ],
  },
  {
    title: 'Environments',
    panels: [
      {
        title: 'By state',
        about: 'The column STATE of "offshoot env list".',
        as: 'stack',
        queries: [mostBy('offshoot_environments', 'state')],
      },
      {
        title: 'Time to ready',
        about: 'From the creation of an environment until requests reach it.',
        as: 'lines',
        unit: 's',
        queries: quantiles('offshoot_environment_ready_seconds', '', ''),
      },
      {
        title: 'Proofs',
        about: 'Results of the proofs that an environment does not affect others.',
        as: 'stack',
        queries: [mostBy('offshoot_proofs', 'result')],
      },
      {
        title: 'Why environments are not ready',
        about: 'By the reason of the condition Ready.',
        as: 'bars',
        queries: [mostBy('offshoot_environment_conditions', 'reason', 'type="Ready", status!="True"')],
      },
      {
        title: 'Degraded',
        about: 'Degraded environments. "offshoot env describe" shows why.',
        as: 'bars',
        queries: [mostBy('degraded_dynamic_environments', 'namespace, name')],
      },
      {
        title: 'Orphaned objects and stale proxies',
        about: 'Objects of deleted environments; VirtualServices that have not reached every proxy.',
        as: 'lines',
        queries: [
          { ...mostBy('offshoot_orphaned_objects', 'kind'), legend: 'orphaned {{kind}}' },
          { expr: `max(offshoot_undistributed_virtual_services{${OURS}})`, legend: 'not on every proxy' },
        ],
      },
    ],
  },
  {
    title: 'Work',
    panels: [
      {
        title: 'Reconciles',
        about: 'By result. If there are many errors, the logs name the objects.',
        as: 'stack',
        unit: 'reqps',
        queries: [ratesBy('controller_runtime_reconcile_total', 'controller, result')],
      },
      {
        title: 'Duration of a reconcile',
        about: 'Including writes.',
        as: 'lines',
        unit: 's',
        queries: quantiles('controller_runtime_reconcile_time_seconds', 'controller', '{{controller}}'),
      },
      {
        title: 'Errors and panics',
        about: 'A plan that throws is a bug in Offshoot.',
        as: 'lines',
        unit: 'reqps',
        queries: [
          ratesBy('controller_runtime_reconcile_errors_total', 'controller'),
          { ...ratesBy('controller_runtime_reconcile_panics_total', 'controller'), legend: 'panic: {{controller}}' },
        ],
      },
      {
        title: 'Queue depth',
        about: 'Objects that are ready to be reconciled and wait for a worker.',
        as: 'lines',
        queries: [{ expr: `sum by (controller) (workqueue_depth{${OURS}})`, legend: '{{controller}}' }],
      },
      {
        title: 'Retries',
        about: 'Objects that are retried after a failure.',
        as: 'lines',
        unit: 'reqps',
        queries: [ratesBy('workqueue_retries_total', 'controller')],
      },
      {
        title: 'Writes',
        about: 'There are none while nothing changes: Offshoot writes only what differs.',
        as: 'stack',
        unit: 'reqps',
        queries: [ratesBy('offshoot_writes_total', 'kind, did')],
      },
    ],
  },
  {
    title: 'API server and admission',
    panels: [
      {
        title: 'Requests',
        about: 'By HTTP status; <error> means no answer.',
        as: 'stack',
        unit: 'reqps',
        queries: [ratesBy('rest_client_requests_total', 'code, method')],
      },
      {
        title: 'Duration of a request',
        about: 'By method; for watches, the time until they are open.',
        as: 'lines',
        unit: 's',
        queries: quantiles('rest_client_request_duration_seconds', 'verb', '{{verb}}'),
      },
      {
        title: 'Failed watches',
        about: 'While a watch fails, changes of its kind are not noticed.',
        as: 'lines',
        unit: 'reqps',
        queries: [ratesBy('offshoot_watch_errors_total', 'kind')],
      },
      {
        title: 'Objects in memory',
        about: 'Cached objects, by kind.',
        as: 'stack',
        queries: [mostBy('offshoot_table_objects', 'kind')],
      },
      {
        title: 'Admission requests',
        about: 'By HTTP status; a denied request has status 200, too.',
        as: 'stack',
        unit: 'reqps',
        queries: [ratesBy('controller_runtime_webhook_requests_total', 'webhook, code')],
      },
      {
        title: 'Duration of an admission request',
        about: 'The API server times out after 10 s.',
        as: 'lines',
        unit: 's',
        queries: quantiles('controller_runtime_webhook_latency_seconds', 'webhook', '{{webhook}}'),
      },
    ],
  },
  {
    title: 'Targets, mesh and routing',
    panels: [
      { title: 'Claims', about: 'By phase.', as: 'stack', queries: [mostBy('offshoot_claims', 'phase')] },
      { title: 'Deployment targets', about: 'By phase.', as: 'stack', queries: [mostBy('offshoot_targets', 'phase')] },
      { title: 'Istio resources', about: 'By state.', as: 'stack', queries: [mostBy('offshoot_meshes', 'state')] },
      {
        title: 'Restarts for the mesh',
        about: 'Workloads that were restarted, and pods that were deleted, to get a new sidecar.',
        as: 'lines',
        unit: 'short',
        queries: [
          {
            expr: `sum by (kind) (increase(offshoot_mesh_restarts_total{${OURS}}[$__rate_interval]))`,
            legend: '{{kind}}',
          },
        ],
      },
      { title: 'Routing rules', about: 'By state.', as: 'stack', queries: [mostBy('offshoot_routing_rules', 'state')] },
      {
        title: 'Meshes of AWS App Mesh',
        about: 'By state.',
        as: 'stack',
        queries: [mostBy('offshoot_routing_meshes', 'state')],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Memory',
        about: 'Resident memory of the process, and the JavaScript heap.',
        as: 'lines',
        unit: 'bytes',
        queries: [
          { expr: `process_resident_memory_bytes{${OURS}}`, legend: '{{instance}}' },
          { expr: `nodejs_heap_size_used_bytes{${OURS}}`, legend: '{{instance}} objects' },
        ],
      },
      {
        title: 'CPU',
        about: '1 is one core.',
        as: 'lines',
        queries: [{ expr: `rate(process_cpu_seconds_total{${OURS}}[$__rate_interval])`, legend: '{{instance}}' }],
      },
      {
        title: 'Uptime',
        about: 'A drop to 0 is a restart.',
        as: 'lines',
        unit: 's',
        queries: [{ expr: `time() - process_start_time_seconds{${OURS}}`, legend: '{{instance}}' }],
      },
    ],
  },
];

const WIDTH = 24;
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The dashboard in the import format of Grafana. */
export function grafanaDashboard(): object {
  let id = 0;
  let y = 0;
  const panels = ROWS.flatMap((row) => {
    const heading = {
      id: ++id,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: WIDTH, h: 1 },
    };
    const isOverview = row.panels.some(({ as }) => as === 'stat');
    const [w, h] = isOverview ? [6, 5] : [8, 8];
    const placed = row.panels.map((panel, at) => ({
      id: ++id,
      gridPos: { x: (at * w) % WIDTH, y: y + 1 + Math.floor((at * w) / WIDTH) * h, w, h },
      ...panelJson(panel),
    }));
    y += 1 + Math.ceil((row.panels.length * w) / WIDTH) * h;
    return [heading, ...placed];
  });
  return {
    uid: 'offshoot',
    title: 'Offshoot',
    description: 'Environments, and the controllers that manage them.',
    tags: ['offshoot', 'kubernetes'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: variables() },
    annotations: { list: [] },
    panels,
  };
}

function panelJson({ title, about, as, unit = 'short', queries }: Panel): object {
  const targets = queries.map(({ expr, legend }, at) => ({
    refId: String.fromCodePoint('A'.codePointAt(0)! + at),
    datasource: DATASOURCE,
    expr,
    legendFormat: legend,
    ...(as === 'bars' || as === 'stat' ? { instant: true, range: false } : { instant: false, range: true }),
  }));
  const custom = as === 'stack' ? { stacking: { mode: 'normal', group: 'A' }, fillOpacity: 30 } : { fillOpacity: 5 };
  return {
    title,
    description: about,
    type: { stat: 'stat', lines: 'timeseries', stack: 'timeseries', bars: 'bargauge' }[as],
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, min: 0, ...(as === 'lines' || as === 'stack' ? { custom } : {}) }, overrides: [] },
    options: optionsOf(as),
    targets,
  };
}

function optionsOf(as: Panel['as']): object {
  const reduceOptions = { calcs: ['lastNotNull'], fields: '', values: false };
  if (as === 'stat') return { reduceOptions, textMode: 'value_and_name', colorMode: 'value' };
  if (as === 'bars') return { reduceOptions, orientation: 'horizontal', displayMode: 'basic' };
  return { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
}

function variables(): object[] {
  const everything = { text: 'All', value: '$__all' };
  return [
    { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
    {
      name: 'job',
      label: 'Job',
      type: 'query',
      datasource: DATASOURCE,
      query: { query: 'label_values(offshoot_build_info, job)', refId: 'job' },
      refresh: 2,
      includeAll: true,
      multi: true,
      current: everything,
    },
  ];
}
