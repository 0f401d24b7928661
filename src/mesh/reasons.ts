// What the reasons of conditions of an Istio resource mean, and what to do.
import type { ReasonEntry } from '../controller/index.ts';
import type { Reason } from './conditions.ts';

/** By reason; the condition of each is in REASONS. `Stalled` has the reason of what failed. */
export const ADVICE: Readonly<Record<Reason, ReasonEntry>> = {
  ReconcileSucceeded: { meaning: 'Istio is installed as the resource says.', advice: '' },
  ReconcileUnknown: {
    meaning: 'The resource is being reconciled, or was not looked at since it changed.',
    advice: 'Wait. The condition `Reconciling` says what goes on.',
  },
  ReconcileRequeued: {
    meaning: 'Sidecars are being restarted in batches.',
    advice: 'Wait. `offshoot mesh status` shows how far it is.',
  },
  ReconcileFailed: {
    meaning:
      'Something failed, or the resource is in another namespace than `kyma-system`. The condition `Stalled` has the cause.',
    advice: 'Run `offshoot mesh status`. The controllers try again.',
  },
  ValidationFailed: {
    meaning: 'A field of the resource is wrong.',
    advice: 'Correct the field that `status.description` names.',
  },
  OlderCRExists: {
    meaning: 'An older Istio resource rules. This one has no effect.',
    advice: 'Delete one of them. The next oldest takes over when the ruling one is gone.',
  },
  IstioInstallNotNeeded: { meaning: 'There is nothing to install.', advice: '' },
  IstioUninstallSucceeded: { meaning: 'Istio is uninstalled.', advice: '' },
  IstioInstallUninstallFailed: {
    meaning: 'Istio could not be installed or uninstalled, or a workload of it does not become ready.',
    advice:
      'Look at the pods in `istio-system`, at the `istioctl` that the controllers run (`--istioctl`), and at their logs.',
  },
  IstioCustomResourceMisconfigured: {
    meaning: 'The settings of the resource cannot be merged into an installation.',
    advice: 'Correct the field that `status.description` names.',
  },
  IstioCustomResourcesDangling: {
    meaning: 'The deletion waits, because resources that people made of kinds of Istio would go with it.',
    advice: 'Delete what `status.blockedBy` lists. The uninstall then goes on by itself.',
  },
  IstioVersionUpdateNotAllowed: {
    meaning: 'The release of Offshoot installs a version of Istio that is older, or more than one minor version newer.',
    advice:
      'Install the releases of Offshoot between, one after the other. `offshoot mesh upgrade --to VERSION --dry-run` says which step is allowed.',
  },
  CustomResourcesReconcileFailed: {
    meaning: 'Objects beside Istio could not be written: PeerAuthentication, EnvoyFilter, NetworkPolicies.',
    advice: 'The message has the words of the API server. The write is tried again.',
  },
  IngressGatewayRestartFailed: {
    meaning: 'The ingress gateway could not be restarted.',
    advice: 'Look at the Deployment `istio-ingressgateway` in `istio-system`.',
  },
  ProxySidecarRestartSucceeded: { meaning: 'Every sidecar is up to date.', advice: '' },
  ProxySidecarRestartFailed: {
    meaning: 'A workload could not be restarted, or does not become healthy after its restart.',
    advice:
      'Look at the workload that `offshoot mesh status` names. To let the others go on, exclude it by its annotation.',
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
    advice: 'Check the EnvoyFilter that `status.description` names. Istio works all the same.',
  },
  IngressTargetingUserResourceNotFound: {
    meaning: 'No EnvoyFilter of yours targets the ingress gateway.',
    advice: '',
  },
};

/** Whether something goes on. */
export const RECONCILING = {
  Settled: { meaning: 'Nothing is under way.', advice: '' },
  Progressing: { meaning: 'The message says what is under way.', advice: 'Wait.' },
  Stalled: { meaning: 'Something failed.', advice: 'Look at the condition `Stalled`.' },
} as const satisfies Readonly<Record<string, ReasonEntry>>;
