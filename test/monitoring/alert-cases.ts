// When each alert fires: the smallest trouble, and the minute in which the alert fires, as its `for` says, and not
// before. promtool runs these cases.

/** One alert: the samples of every minute, in promtool's notation, and the alert that they cause. */
export interface AlertCase {
  readonly series: Readonly<Record<string, string>>;
  /** In minutes. */
  readonly firesAfter: number;
  /** In addition to the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
}

const OURS = 'job="offshoot",instance="a:8080"';
const HOURS = '1x180';
const BUILD = { [`offshoot_build_info{${OURS}}`]: HOURS };

/** A counter that grows by so much per minute. */
const growing = (by: number): string => `0+${by}x180`;

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  OffshootDown: {
    series: { [`up{${OURS}}`]: HOURS },
    firesAfter: 5,
    summary: 'No replica of Offshoot reports metrics.',
  },
  OffshootNobodyLeads: {
    series: { ...BUILD, [`leader_election_master_status{${OURS},name="lock"}`]: '0x180' },
    firesAfter: 2,
    labels: { name: 'lock' },
    summary: 'No replica leads lock, so nothing is reconciled.',
  },
  OffshootRestarts: {
    series: { ...BUILD, [`process_start_time_seconds{${OURS}}`]: '100 160 220 280x180' },
    firesAfter: 3,
    labels: { job: 'offshoot', instance: 'a:8080' },
    summary: 'a:8080 was restarted 3 times within an hour.',
  },
  OffshootReconcileErrors: {
    series: { ...BUILD, [`controller_runtime_reconcile_errors_total{${OURS},controller="mesh"}`]: growing(120) },
    firesAfter: 16,
    labels: { controller: 'mesh' },
    summary: 'Reconciles of mesh keep failing.',
  },
  OffshootPlanThrew: {
    series: { ...BUILD, [`controller_runtime_reconcile_panics_total{${OURS},controller="mesh"}`]: '0 0 0 1x180' },
    firesAfter: 3,
    labels: { controller: 'mesh' },
    summary: 'A plan of mesh threw. This is a bug in Offshoot.',
  },
  OffshootQueueGrows: {
    series: { ...BUILD, [`workqueue_depth{${OURS},controller="mesh"}`]: '150x180' },
    firesAfter: 15,
    labels: { controller: 'mesh' },
    summary: 'mesh has 150 objects waiting.',
  },
  OffshootApiErrors: {
    series: {
      ...BUILD,
      [`rest_client_requests_total{${OURS},code="500",method="GET"}`]: growing(10),
      [`rest_client_requests_total{${OURS},code="200",method="GET"}`]: growing(90),
    },
    firesAfter: 11,
    summary: '10% of the requests to the API server fail.',
  },
  OffshootForbidden: {
    series: { ...BUILD, [`rest_client_requests_total{${OURS},code="403",method="GET"}`]: growing(1) },
    firesAfter: 16,
    labels: { method: 'GET' },
    summary: 'The API server forbids GET requests of Offshoot.',
  },
  OffshootWatchFails: {
    series: { [`offshoot_watch_errors_total{${OURS},group="apps",kind="Deployment"}`]: growing(60) },
    firesAfter: 16,
    labels: { group: 'apps', kind: 'Deployment' },
    summary: 'Deployment cannot be watched, so changes go unnoticed.',
  },
  OffshootWebhookFails: {
    series: { ...BUILD, [`controller_runtime_webhook_requests_total{${OURS},webhook="/v",code="400"}`]: growing(1) },
    firesAfter: 11,
    labels: { webhook: '/v' },
    summary: 'The webhook /v gets requests that it cannot answer.',
  },
  OffshootNotIsolated: {
    series: { [`offshoot_proofs{${OURS},result="refuted"}`]: '2x180' },
    firesAfter: 5,
    summary: 'Environments that move requests of others, or are not reached by their own: 2.',
  },
  OffshootEnvironmentDegraded: {
    series: { [`degraded_dynamic_environments{${OURS},namespace="shop",name="pr-7"}`]: HOURS },
    firesAfter: 30,
    labels: { namespace: 'shop', name: 'pr-7' },
    summary: 'Environment shop/pr-7 is degraded.',
  },
  OffshootEnvironmentsSlow: {
    series: {
      [`offshoot_environment_ready_seconds_bucket{${OURS},le="300"}`]: growing(0),
      [`offshoot_environment_ready_seconds_bucket{${OURS},le="600"}`]: growing(1),
      [`offshoot_environment_ready_seconds_bucket{${OURS},le="+Inf"}`]: growing(1),
    },
    firesAfter: 16,
    summary: 'One in ten new environments takes more than 9m 30s to be ready.',
  },
  OffshootProxiesBehind: {
    series: { [`offshoot_undistributed_virtual_services{${OURS}}`]: '3x180' },
    firesAfter: 10,
    summary: 'VirtualServices with routes of environments that have not reached every proxy: 3.',
  },
  OffshootOrphans: {
    series: {
      [`offshoot_orphaned_objects{${OURS},kind="Deployment",certain="true"}`]: '2x180',
      [`offshoot_orphaned_objects{${OURS},kind="VirtualService",certain="false"}`]: '2x180',
    },
    firesAfter: 60,
    labels: { kind: 'Deployment' },
    summary: 'Objects of kind Deployment that stay behind from environments that are gone: 2.',
  },
  OffshootClaimsLost: {
    series: { [`offshoot_claims{${OURS},phase="Lost"}`]: HOURS, [`offshoot_claims{${OURS},phase="Bound"}`]: '9x180' },
    firesAfter: 15,
    summary: 'Claims that lost their deployment target: 1.',
  },
  OffshootTargetsFailed: {
    series: { [`offshoot_targets{${OURS},phase="Failed"}`]: HOURS },
    firesAfter: 15,
    summary: 'Deployment targets that could not be freed: 1.',
  },
  OffshootMeshNotReady: {
    series: { [`offshoot_meshes{${OURS},state="Error"}`]: HOURS, [`offshoot_meshes{${OURS},state="Ready"}`]: HOURS },
    firesAfter: 15,
    labels: { state: 'Error' },
    summary: 'Istio is in the state Error.',
  },
  OffshootRulesRejected: {
    series: { [`offshoot_routing_rules{${OURS},state="Rejected"}`]: '2x180' },
    firesAfter: 15,
    labels: { state: 'Rejected' },
    summary: 'Routing rules that are Rejected: 2.',
  },
};
