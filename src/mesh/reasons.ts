// The meaning of the condition reasons of an Istio resource, and advice.
import type { ReasonEntry } from '../controller/index.ts';
import type { Reason } from './status/conditions.ts';

/** Advice by reason; the condition of each is in REASONS. `Stalled` has the reason of the failure. */
export const ADVICE: Readonly<Record<Reason, ReasonEntry>> = {
  ReconcileSucceeded: { meaning: 'Istio is installed as specified.', advice: '' },
  ReconcileUnknown: {
    meaning: 'The resource is being reconciled, or has not been reconciled since its last change.',
    advice: 'Wait. The condition `Reconciling` shows what is happening.',
  },
  ReconcileRequeued: {
    meaning: 'Sidecars are being restarted in batches.',
    advice: 'Wait. `offshoot mesh status` shows the progress.',
  },
  ReconcileFailed: {
    meaning:
      'Something failed, or the resource is not in the namespace `kyma-system`. The condition `Stalled` shows the cause.',
    advice: 'Run `offshoot mesh status`. The controllers retry.',
  },
  ValidationFailed: {
    meaning: 'A field of the resource is invalid.',
    advice: 'Correct the field that `status.description` names.',
  },
  OlderCRExists: {
    meaning: 'An older Istio resource is in effect. This one has no effect.',
    advice: 'Delete one of them. When the active one is deleted, the next oldest takes over.',
  },
  IstioInstallNotNeeded: { meaning: 'There is nothing to install.', advice: '' },
  IstioUninstallSucceeded: { meaning: 'Istio is uninstalled.', advice: '' },
  IstioInstallUninstallFailed: {
    meaning: 'Istio could not be installed or uninstalled, or one of its workloads does not become ready.',
    advice:
      'Look at the pods in `istio-system`, at the `istioctl` that the controllers run (`--istioctl`), and at their logs.',
  },
  IstioCustomResourceMisconfigured: {
    meaning: 'The settings of the resource cannot be merged into an installation.',
    advice: 'Correct the field that `status.description` names.',
  },
  IstioCustomResourcesDangling: {
    meaning: 'The deletion waits, because user-created Istio resources would be deleted with it.',
    advice: 'Delete the resources that `status.blockedBy` lists. The uninstallation then continues by itself.',
  },
  IstioVersionUpdateNotAllowed: {
    meaning: 'The release of Offshoot installs a version of Istio that is older, or more than one minor version newer.',
    advice:
      'Install the releases of Offshoot in between, one after the other. `offshoot mesh upgrade --to VERSION --dry-run` says which step is allowed.',
  },
  CustomResourcesReconcileFailed: {
    meaning: 'Additional objects could not be written: PeerAuthentication, EnvoyFilter, NetworkPolicies.',
    advice: 'The message shows the error of the API server. The write is retried.',
  },
  IngressGatewayRestartFailed: {
    meaning: 'The ingress gateway could not be restarted.',
    advice: 'Look at the Deployment `istio-ingressgateway` in `istio-system`.',
  },
  ProxySidecarRestartSucceeded: { meaning: 'Every sidecar is up to date.', advice: '' },
  ProxySidecarRestartFailed: {
    meaning: 'A workload could not be restarted, or does not become healthy after its restart.',
    advice:
      'Look at the workload that `offshoot mesh status` names. To let the other restarts continue, exclude it by its annotation.',
  },
  ProxySidecarRestartPartiallySucceeded: {
    meaning: 'Some sidecars are still to be restarted.',
    advice:
      'Wait. `offshoot mesh status` names what they wait for: health, a disruption budget or a maintenance window.',
  },
  ProxySidecarManualRestartRequired: {
    meaning:
      'Workloads have outdated sidecars that the controllers do not restart, such as Jobs and pods without an owner.',
    advice: 'Restart the workloads that the message names yourself.',
  },
  IngressTargetingUserResourceFound: {
    meaning: 'An EnvoyFilter of yours targets the ingress gateway and may break it.',
    advice: 'Check the EnvoyFilter that `status.description` names. Istio still works.',
  },
  IngressTargetingUserResourceNotFound: {
    meaning: 'No EnvoyFilter of yours targets the ingress gateway.',
    advice: '',
  },
};

/** The reasons of the condition `Reconciling`. */
export const RECONCILING = {
  Settled: { meaning: 'No change is in progress.', advice: '' },
  Progressing: { meaning: 'A change is in progress. The message says which.', advice: 'Wait.' },
  Stalled: { meaning: 'Something failed.', advice: 'Look at the condition `Stalled`.' },
} as const satisfies Readonly<Record<string, ReasonEntry>>;
