// Every condition of an Istio resource: reasons and messages as users of the Kyma operator know them. reasons.ts has
// the advice for each.
import type { PlannedCondition } from '../../controller/index.ts';

interface Row {
  readonly type: string;
  readonly status: PlannedCondition['status'];
  readonly message: string;
}

const READY = 'Ready';
const SIDECARS = 'ProxySidecarRestartSucceeded';
const USER_RESOURCES = 'IngressTargetingUserResourceFound';

const notReady = (message: string): Row => ({ type: READY, status: 'False', message });

/** Conditions by reason. */
export const REASONS = {
  ReconcileSucceeded: { type: READY, status: 'True', message: 'Reconciliation succeeded' },
  ReconcileUnknown: {
    type: READY,
    status: 'Unknown',
    message:
      'Module readiness is unknown. Either a reconciliation is progressing, or failed previously. Check status of other conditions',
  },
  ReconcileRequeued: notReady('Proxy reset is still ongoing. Reconciliation requeued'),
  ReconcileFailed: notReady('Reconciliation failed'),
  ValidationFailed: notReady('Reconciliation did not happen as Istio Custom Resource failed to validate'),
  OlderCRExists: notReady('This Istio custom resource is not the oldest one and does not represent the module state'),
  IstioInstallNotNeeded: notReady('Istio installation is not needed'),
  // Misspelled, and matched by dashboards.
  IstioUninstallSucceeded: notReady('Istio uninstallation succeded'),
  IstioInstallUninstallFailed: notReady('Istio install or uninstall failed'),
  IstioCustomResourceMisconfigured: notReady('Istio custom resource has invalid configuration'),
  IstioCustomResourcesDangling: notReady('Istio deletion blocked because of existing Istio custom resources'),
  IstioVersionUpdateNotAllowed: notReady('Update to the new Istio version is not allowed'),
  CustomResourcesReconcileFailed: notReady('Custom resources reconciliation failed'),
  IngressGatewayRestartFailed: notReady('Istio Ingress Gateway restart failed'),
  ProxySidecarRestartSucceeded: { type: SIDECARS, status: 'True', message: 'Proxy sidecar restart succeeded' },
  ProxySidecarRestartFailed: { type: SIDECARS, status: 'False', message: 'Proxy sidecar restart failed' },
  ProxySidecarRestartPartiallySucceeded: {
    type: SIDECARS,
    status: 'False',
    message: 'Proxy sidecar restart partially succeeded',
  },
  ProxySidecarManualRestartRequired: {
    type: SIDECARS,
    status: 'False',
    message: 'Proxy sidecar manual restart is required for some workloads',
  },
  IngressTargetingUserResourceFound: {
    type: USER_RESOURCES,
    status: 'True',
    message: 'Resource targeting Istio Ingress Gateway found',
  },
  IngressTargetingUserResourceNotFound: {
    type: USER_RESOURCES,
    status: 'False',
    message: 'Resources targeting Istio Ingress Gateway not found',
  },
} as const satisfies Readonly<Record<string, Row>>;

export type Reason = keyof typeof REASONS;

/** The condition for a reason, by default with its own message. */
export function condition(reason: Reason, message: string = REASONS[reason].message): PlannedCondition {
  const { type, status } = REASONS[reason];
  return { type, status, reason, message };
}

/** The conditions of a failure: one of another type than `Ready` also makes the resource not ready. */
export function failureConditions(reason: Reason, message?: string): readonly PlannedCondition[] {
  const specific = condition(reason, message);
  return specific.type === READY ? [specific] : [condition('ReconcileFailed'), specific];
}

const MAX_NAMES = 5;

/** The condition that names workloads that need a manual restart. */
export function manualRestartRequired(workloads: readonly string[]): PlannedCondition {
  if (workloads.length === 0) return condition('ProxySidecarManualRestartRequired');
  const more = workloads.length - MAX_NAMES;
  const named = workloads.slice(0, MAX_NAMES).join(', ');
  return condition(
    'ProxySidecarManualRestartRequired',
    `The sidecars of the following workloads could not be restarted: ${named}` +
      (more > 0 ? ` and ${more} additional workload(s)` : ''),
  );
}
