// The desired state of sidecars and gateways, which predicates compare with, and its hash, which is recorded on
// restarted workloads. A workload that differs for other reasons is restarted once, not forever.
import { createHash } from 'node:crypto';
import type { ComponentResources, IstioSpec } from '../../api/istio.ts';
import type { KubeObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { COMPATIBILITY_CHANGES_SIDECARS } from '../installation/operator/merge.ts';
import { proxyResources } from '../installation/operator/merge-components.ts';
import { imageOf } from '../installation/operator/operator.ts';
import type { IstioOperator } from '../installation/operator/operator.ts';
import { UPDATED_AT } from '../names.ts';
import { always, anyOf, where } from './predicate.ts';
import type { RestartPredicate } from './predicate.ts';
import { otherResources } from './sidecar-resources.ts';
import {
  hasOwnImage,
  isCandidate,
  olderThanFilter,
  otherCniMode,
  otherImage,
  otherPrometheusMerge,
} from './sidecars.ts';

export interface SidecarState {
  readonly image: string;
  readonly resources: Required<ComponentResources>;
  readonly cniEnabled: boolean;
  readonly statusPort: number;
  /** EnvoyFilters that sidecars read only at startup. */
  readonly filters: readonly KubeObject[];
  readonly spec: IstioSpec;
  /** The settings when all sidecars were last up to date. */
  readonly before: IstioSpec;
}

/** The desired state of sidecars by the installed operator; a string says what is missing. */
export function sidecarState(
  operator: IstioOperator,
  rest: Omit<SidecarState, 'image' | 'resources' | 'cniEnabled'>,
): SidecarState | string {
  const resources = proxyResources(operator);
  if (typeof resources === 'string') return resources;
  const image = imageOf(operator, 'global.proxy.image', 'proxyv2');
  return { ...rest, image, resources, cniEnabled: operator.spec.components.cni.enabled };
}

/** Why a pod must be restarted to get the desired sidecar. */
export function sidecarPredicate(state: SidecarState): RestartPredicate {
  return where(isCandidate, outdatedSidecar(state));
}

/** Why the sidecar of a pod is outdated, whether or not the pod can be restarted. */
export function outdatedSidecar(state: SidecarState): RestartPredicate {
  const { image, resources, cniEnabled, statusPort, filters, spec, before } = state;
  const merge = spec.config?.telemetry?.metrics?.prometheusMerge ?? false;
  const chosenByUs = where((pod) => !hasOwnImage(pod), anyOf([otherImage(image), otherResources(resources)]));
  return anyOf([
    chosenByUs,
    otherCniMode(cniEnabled),
    ...filters.map(olderThanFilter),
    otherPrometheusMerge(merge, statusPort),
    always(changedSidecarSetting(before, spec)),
  ]);
}

/** The setting of all sidecars that has changed. Absent and false are different. */
export function changedSidecarSetting(before: IstioSpec, spec: IstioSpec): string | undefined {
  const [was, is] = [before.config ?? {}, spec.config ?? {}];
  if (was.enableDNSProxying !== is.enableDNSProxying) return 'spec.config.enableDNSProxying has changed';
  if (!sameRegexps(before, spec)) return 'spec.config.proxyStatsMatcher has changed';
  const compatibility = (before.compatibilityMode ?? false) !== (spec.compatibilityMode ?? false);
  return COMPATIBILITY_CHANGES_SIDECARS && compatibility ? 'spec.compatibilityMode has changed' : undefined;
}

/** Why gateways must be restarted: a setting that they read only at startup has changed. */
export function changedGatewaySetting(before: IstioSpec, spec: IstioSpec): string | undefined {
  const [was, is] = [before.config ?? {}, spec.config ?? {}];
  for (const field of ['numTrustedProxies', 'forwardClientCertDetails', 'trustDomain'] as const) {
    if (was[field] !== is[field]) {
      return `spec.config.${field} has changed from ${was[field] ?? 'not set'} to ${is[field] ?? 'not set'}`;
    }
  }
  if (!sameRegexps(before, spec)) return 'spec.config.proxyStatsMatcher has changed';
  return changedPolicies(before, spec);
}

/** Why the control plane must be restarted as well: new NetworkPolicies do not apply to its existing connections. */
export function changedPolicies(before: IstioSpec, spec: IstioSpec): string | undefined {
  const changed = (before.networkPoliciesEnabled ?? false) !== (spec.networkPoliciesEnabled ?? false);
  return changed ? 'spec.networkPoliciesEnabled has changed' : undefined;
}

export interface GatewayState {
  readonly filters: readonly KubeObject[];
  readonly spec: IstioSpec;
  readonly before: IstioSpec;
}

/** Why a pod of a gateway must be restarted, whether it is ready or not. */
export function gatewayPredicate({ filters, spec, before }: GatewayState): RestartPredicate {
  return anyOf([always(changedGatewaySetting(before, spec)), ...filters.map(olderThanFilter)]);
}

/** A hash of the desired state of sidecars. */
export function sidecarHash({ image, resources, cniEnabled, statusPort, filters, spec }: SidecarState): string {
  const { enableDNSProxying, telemetry } = spec.config ?? {};
  return hashOf([
    image,
    resources.requests.cpu,
    resources.requests.memory,
    resources.limits.cpu,
    resources.limits.memory,
    cniEnabled,
    statusPort,
    filters.map(changeOf),
    telemetry?.metrics?.prometheusMerge ?? false,
    enableDNSProxying ?? null,
    regexpsOf(spec),
    COMPATIBILITY_CHANGES_SIDECARS && (spec.compatibilityMode ?? false),
  ]);
}

/** A hash of the desired state of gateways. */
export function gatewayHash({ filters, spec }: GatewayState): string {
  const { numTrustedProxies, forwardClientCertDetails, trustDomain } = spec.config ?? {};
  return hashOf([
    numTrustedProxies ?? null,
    forwardClientCertDetails ?? null,
    trustDomain ?? null,
    regexpsOf(spec),
    spec.networkPoliciesEnabled ?? false,
    filters.map(changeOf),
  ]);
}

/** A hash for an uninstall, by the resource that was deleted. */
export function removalHash({ uid = '' }: { readonly uid?: string }): string {
  return hashOf(['uninstalled', uid]);
}

function hashOf(state: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('hex').slice(0, 16);
}

function changeOf({ metadata }: KubeObject): string {
  return `${metadata.name} ${metadata.annotations?.[UPDATED_AT] ?? ''}`;
}

/** The regular expressions of additional statistics, sorted. */
export function regexpsOf({ config }: IstioSpec): readonly string[] {
  return (config?.proxyStatsMatcher?.inclusionRegexps ?? []).toSorted();
}

function sameRegexps(a: IstioSpec, b: IstioSpec): boolean {
  return jsonEqual(regexpsOf(a), regexpsOf(b));
}
