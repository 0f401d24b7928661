// What can go wrong with an Istio resource: the state, the description and the conditions that people see for each.
import type { PlannedCondition } from '../controller/index.ts';
import { failureConditions } from './conditions.ts';
import type { Reason } from './conditions.ts';

interface Row {
  readonly description: string;
  readonly state: 'Error' | 'Warning';
  readonly reason: Reason;
  /** The description alone, without the cause. */
  readonly bare?: true;
  /** When to try again without a change: with back-off (by default), not at all, or after this many seconds. */
  readonly retry?: 'never' | number;
  /** The mesh works all the same. */
  readonly isHarmless?: true;
}

const MINUTE = 60;
const HOUR = 3600;

/** By what was being done. */
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

/** What is told of a resource that something is wrong with. */
export interface Failure {
  readonly state: 'Error' | 'Warning';
  readonly description: string;
  readonly conditions: readonly PlannedCondition[];
  readonly retry: 'backoff' | 'never' | number;
  readonly isHarmless?: true;
  /** The description and, where its words are fixed, what else there is to know: the field, and what to do. */
  readonly message: string;
}

interface FailureOptions {
  /** What else there is to know, beside a description whose words others look for. */
  readonly detail?: string;
  /** After the description and a space: which one it was. */
  readonly subject?: string;
  /** In place of the words of the condition. */
  readonly conditions?: readonly PlannedCondition[];
}

/** What to tell when something failed, and why. */
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

/** The one to tell of when several components failed: an error before a warning, and else the first that does harm. */
export function worstOf(failures: readonly Failure[]): Failure | undefined {
  return failures.find(({ state }) => state === 'Error') ?? failures.find((each) => !each.isHarmless) ?? failures[0];
}
