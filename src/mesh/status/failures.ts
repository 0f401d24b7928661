// The failures of an Istio resource, with the state, the description and the conditions for each.
import type { PlannedCondition } from '../../controller/index.ts';
import { failureConditions } from './conditions.ts';
import type { Reason } from './conditions.ts';

interface Row {
  readonly description: string;
  readonly state: 'Error' | 'Warning';
  readonly reason: Reason;
  /** The description does not include the cause. */
  readonly bare?: true;
  /** When to retry without a change: with backoff (by default), never, or after this many seconds. */
  readonly retry?: 'never' | number;
  /** The mesh works nevertheless. */
  readonly isHarmless?: true;
}

const MINUTE = 60;
const HOUR = 3600;

/** Failures by the operation that failed. */
export const FAILURES = {
  namespace: {
    description: 'Stopped Istio CR reconciliation',
    state: 'Error',
    reason: 'ReconcileFailed',
    retry: 'never',
  },
  duplicate: {
    description: 'Stopped Istio CR reconciliation',
    state: 'Error',
    reason: 'OlderCRExists',
    retry: 'never',
  },
  authorizers: {
    description: 'Authorizer name needs to be unique',
    state: 'Warning',
    reason: 'ValidationFailed',
    retry: 'never',
  },
  statsMatcher: {
    description: 'ProxyStatsMatcher inclusionRegexps contains an invalid regular expression',
    state: 'Error',
    reason: 'ValidationFailed',
    retry: 'never',
  },
  experimental: {
    description: 'Experimental features are not supported in this image flavour',
    state: 'Error',
    reason: 'ValidationFailed',
    retry: 'never',
  },
  field: {
    description: 'Istio custom resource has an invalid field',
    state: 'Error',
    reason: 'ValidationFailed',
    retry: 'never',
  },
  versionCheck: {
    description: 'Istio version check failed',
    state: 'Error',
    reason: 'IstioInstallUninstallFailed',
  },
  versionUpdate: {
    description: 'Istio version update is not allowed',
    state: 'Warning',
    reason: 'IstioVersionUpdateNotAllowed',
    retry: MINUTE,
  },
  flavour: {
    description: 'Could not evaluate cluster flavour',
    state: 'Error',
    reason: 'IstioInstallUninstallFailed',
  },
  size: { description: 'Could not evaluate cluster size', state: 'Error', reason: 'IstioInstallUninstallFailed' },
  merge: {
    description: 'Could not merge Istio operator configuration',
    state: 'Error',
    reason: 'IstioCustomResourceMisconfigured',
  },
  features: {
    description: 'Could not read the features of Istio',
    state: 'Warning',
    reason: 'IstioCustomResourceMisconfigured',
  },
  install: { description: 'Could not install Istio', state: 'Error', reason: 'IstioInstallUninstallFailed' },
  verify: { description: 'Istio installation failed', state: 'Error', reason: 'IstioInstallUninstallFailed' },
  blocked: {
    description:
      'There are Istio resources that block deletion. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning',
    state: 'Warning',
    reason: 'IstioCustomResourcesDangling',
    bare: true,
    retry: MINUTE,
  },
  uninstall: { description: 'Could not uninstall istio', state: 'Error', reason: 'IstioInstallUninstallFailed' },
  sidecarRemoval: {
    description: 'Could not remove istio sidecars',
    state: 'Error',
    reason: 'IstioInstallUninstallFailed',
  },
  resource: {
    description: 'Could not reconcile Istio resource',
    state: 'Error',
    reason: 'CustomResourcesReconcileFailed',
  },
  sidecars: {
    description: 'Error occurred during reconciliation of Istio Sidecars',
    state: 'Error',
    reason: 'ProxySidecarRestartFailed',
  },
  manualRestart: {
    description:
      'Not all pods with Istio injection could be restarted. Please take a look at kyma-system/istio-controller-manager logs to see more information about the warning',
    state: 'Warning',
    reason: 'ProxySidecarManualRestartRequired',
    retry: HOUR,
    isHarmless: true,
  },
  gateway: {
    description: 'Failed to restart Ingress Gateway',
    state: 'Error',
    reason: 'IngressGatewayRestartFailed',
  },
  userFilter: {
    description: 'misconfigured EnvoyFilter can potentially break Istio Ingress Gateway',
    state: 'Warning',
    reason: 'IngressTargetingUserResourceFound',
    retry: HOUR,
    isHarmless: true,
  },
} as const satisfies Readonly<Record<string, Row>>;

/** A failure as it appears in the status of a resource. */
export interface Failure {
  readonly state: 'Error' | 'Warning';
  readonly description: string;
  readonly conditions: readonly PlannedCondition[];
  readonly retry: 'backoff' | 'never' | number;
  readonly isHarmless?: true;
  /** The description and, if its text is fixed, further detail: the field, and what to do. */
  readonly message: string;
}

interface FailureOptions {
  /** Further detail, for a description whose text is fixed. */
  readonly detail?: string;
  /** The object that failed, appended to the description. */
  readonly subject?: string;
  /** Replace the conditions of the reason. */
  readonly conditions?: readonly PlannedCondition[];
}

/** The failure of an operation, with its cause. */
export function failure(what: keyof typeof FAILURES, cause: string, options: FailureOptions = {}): Failure {
  const { description, state, reason, bare, retry, isHarmless }: Row = FAILURES[what];
  const prefix = options.subject === undefined ? description : `${description} ${options.subject}`;
  const text = bare === true ? prefix : `${prefix}: ${cause}`;
  return {
    state,
    description: text,
    message: options.detail === undefined ? text : `${text} (${options.detail})`,
    conditions: options.conditions ?? failureConditions(reason),
    retry: retry ?? 'backoff',
    ...(isHarmless && { isHarmless }),
  };
}

/** The failure to report of several: an error before a warning, else the first that is not harmless. */
export function worstOf(failures: readonly Failure[]): Failure | undefined {
  return failures.find(({ state }) => state === 'Error') ?? failures.find((each) => !each.isHarmless) ?? failures[0];
}
