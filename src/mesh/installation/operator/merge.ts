// Merges an Istio resource into an IstioOperator. Fields that the resource does not set are left unchanged. Components
// are in merge-components.ts.
import type { Authorizer, ComponentResources, IstioConfig, IstioSpec } from '../../../api/istio.ts';
import { parseDuration } from '../../../kube/index.ts';
import { EGRESS_GATEWAY, INGRESS_GATEWAY } from '../../names.ts';
import { excessOf } from './excess.ts';
import { mergeComponents } from './merge-components.ts';
import { overlay, valueAt } from './operator.ts';
import type { IstioOperator, K8s, Tree } from './operator.ts';

/** The settings that do not come from the resource. */
export interface MergeOptions {
  /** The feature `disableCni`: init containers redirect traffic instead of the CNI plugin. */
  readonly disableCni?: boolean;
  /** The feature `enableControlPlaneVPA`: replicas are then not scaled by memory. */
  readonly controlPlaneVPA?: boolean;
  readonly dualStack?: boolean;
  /** The image pull secret. */
  readonly imagePullSecret?: string;
}

/** The changes of this minor version of Istio that compatibility mode reverts. */
const COMPATIBILITY = { pilotEnv: { PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE: 'false' }, proxyMetadata: {} };

/** Whether compatibility mode affects sidecars in this minor version of Istio. */
export const COMPATIBILITY_CHANGES_SIDECARS = Object.keys(COMPATIBILITY.proxyMetadata).length > 0;

/** Thrown for a field that can't be merged; the message names it. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/** The operator with the settings of a resource. Throws a MergeError for an invalid value. */
export function mergeSpec(operator: IstioOperator, spec: IstioSpec, options: MergeOptions = {}): IstioOperator {
  const { config = {}, components = {} } = spec;
  const merged = overlay(overlay(operator, { spec: { meshConfig: meshConfig(operator, config) } }), {
    spec: { ...modes(spec, options) },
  });
  const withComponents = mergeComponents(merged, components, options);
  checkReplicas(withComponents);
  checkResources(withComponents);
  return withPullSecret(
    withPilotEnv(withTrafficPolicy(withComponents, config), pilotEnv(spec)),
    options.imagePullSecret,
  );
}

// One of the two may be a default: the schema can't check that, and the API server would refuse the autoscaler later.
function checkReplicas({ spec: { components } }: IstioOperator): void {
  const workloads = [
    ['pilot', components.pilot.k8s],
    ['ingressGateway', components.ingressGateways[0]?.k8s],
    ['egressGateway', components.egressGateways[0]?.k8s],
  ] as const;
  for (const [name, k8s] of workloads) {
    const { minReplicas = 1, maxReplicas = minReplicas } = k8s?.hpaSpec ?? {};
    if (minReplicas > maxReplicas) {
      throw new MergeError(
        `spec.components.${name}.k8s.hpaSpec: minReplicas is ${minReplicas}, and maxReplicas is ${maxReplicas}: set both`,
      );
    }
  }
}

// A request or its limit may be a default as well.
function checkResources({ spec: { components, values } }: IstioOperator): void {
  const resources = [
    ['pilot', components.pilot.k8s?.resources],
    ['ingressGateway', components.ingressGateways[0]?.k8s?.resources],
    ['egressGateway', components.egressGateways[0]?.k8s?.resources],
    ['cni', components.cni.k8s?.resources],
    ['proxy', valueAt(values, 'global.proxy.resources')],
  ] as const;
  for (const [name, each] of resources) {
    const excess = excessOf(each as ComponentResources | undefined);
    if (excess === undefined) continue;
    const { resource, request, limit } = excess;
    throw new MergeError(
      `spec.components.${name}.k8s.resources: requests.${resource} is ${request}, and limits.${resource} is ${limit}: set both`,
    );
  }
}

function meshConfig(operator: IstioOperator, config: IstioConfig): Tree {
  const { enableDNSProxying, authorizers = [], proxyStatsMatcher } = config;
  const regexps = proxyStatsMatcher?.inclusionRegexps ?? [];
  return {
    trustDomain: config.trustDomain,
    enablePrometheusMerge: config.telemetry?.metrics?.prometheusMerge ?? false,
    ...(authorizers.length > 0 && {
      extensionProviders: [...(operator.spec.meshConfig.extensionProviders ?? []), ...authorizers.map(provider)],
    }),
    defaultConfig: {
      gatewayTopology: undefinedIfEmpty({
        numTrustedProxies: config.numTrustedProxies,
        forwardClientCertDetails: config.forwardClientCertDetails,
      }),
      ...(enableDNSProxying !== undefined && {
        proxyMetadata: { ISTIO_META_DNS_CAPTURE: String(enableDNSProxying) },
      }),
      ...(regexps.length > 0 && { proxyStatsMatcher: { inclusionRegexps: regexps } }),
    },
  };
}

function provider({ name, service, port, pathPrefix, timeout, headers = {} }: Authorizer, index: number): Tree {
  const { inCheck, toUpstream, toDownstream } = headers;
  return {
    name,
    envoyExtAuthzHttp: defined({
      service,
      port,
      pathPrefix,
      timeout: timeout === undefined ? undefined : seconds(timeout, `spec.config.authorizers[${index}].timeout`),
      includeRequestHeadersInCheck: inCheck?.include,
      includeAdditionalHeadersInCheck: inCheck?.add,
      headersToUpstreamOnAllow: toUpstream?.onAllow,
      headersToDownstreamOnAllow: toDownstream?.onAllow,
      headersToDownstreamOnDeny: toDownstream?.onDeny,
    }),
  };
}

/** A duration in the form of Istio's configuration: `1m30s` → `90s`. */
function seconds(text: string, path: string): string {
  const ms = parseDuration(text);
  if (ms === undefined)
    throw new MergeError(`${path} must be a length of time such as 1s, found ${JSON.stringify(text)}`);
  return `${ms / 1000}s`;
}

/** The settings of ambient, dual-stack and compatibility mode. */
function modes({ experimental = {}, compatibilityMode = false }: IstioSpec, { dualStack = false }: MergeOptions): Tree {
  const ambient = experimental.enableAmbient === true;
  const dual = dualStack || experimental.enableDualStack === true;
  const policy = { ipFamilyPolicy: 'RequireDualStack' };
  return {
    ...(ambient && { components: { ztunnel: { enabled: true } } }),
    meshConfig: {
      defaultConfig: {
        proxyMetadata: {
          ...(ambient && { ISTIO_META_ENABLE_HBONE: 'true' }),
          ...(dual && { ISTIO_DUAL_STACK: 'true' }),
          ...(compatibilityMode && COMPATIBILITY.proxyMetadata),
        },
      },
    },
    values: {
      pilot: {
        env: { ...(ambient && { PILOT_ENABLE_AMBIENT: 'true' }), ...(dual && { ISTIO_DUAL_STACK: 'true' }) },
        ...(dual && policy),
      },
      ...(ambient && { cni: { ambient: { enabled: true } } }),
      ...(dual && { gateways: { [INGRESS_GATEWAY]: policy, [EGRESS_GATEWAY]: policy } }),
    },
  };
}

function pilotEnv({ experimental = {}, compatibilityMode = false }: IstioSpec): Readonly<Record<string, string>> {
  const { enableAlphaGatewayAPI, enableMultiNetworkDiscoverGatewayAPI } = experimental.pilot ?? {};
  return {
    ...(compatibilityMode && COMPATIBILITY.pilotEnv),
    ...(enableAlphaGatewayAPI === true && { PILOT_ENABLE_ALPHA_GATEWAY_API: 'true' }),
    ...(enableMultiNetworkDiscoverGatewayAPI === true && { PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: 'true' }),
  };
}

function withPilotEnv(operator: IstioOperator, added: Readonly<Record<string, string>>): IstioOperator {
  const variables = Object.entries(added).map(([name, value]) => ({ name, value }));
  if (variables.length === 0) return operator;
  const env = [...(operator.spec.components.pilot.k8s?.env ?? []), ...variables];
  return overlay(operator, { spec: { components: { pilot: { k8s: { env } } } } });
}

function withTrafficPolicy(operator: IstioOperator, { gatewayExternalTrafficPolicy }: IstioConfig): IstioOperator {
  if (gatewayExternalTrafficPolicy === undefined) return operator;
  const [gateway, ...others] = operator.spec.components.ingressGateways;
  if (gateway === undefined) return operator;
  const patch = { path: 'spec.externalTrafficPolicy', value: gatewayExternalTrafficPolicy };
  const added = { apiVersion: 'v1', kind: 'Service', name: INGRESS_GATEWAY, patches: [patch] };
  const k8s: K8s = { ...gateway.k8s, overlays: [...(gateway.k8s?.overlays ?? []), added] };
  return overlay(operator, { spec: { components: { ingressGateways: [{ ...gateway, k8s }, ...others] } } });
}

function withPullSecret(operator: IstioOperator, secret: string | undefined): IstioOperator {
  const path = 'values.global.imagePullSecrets';
  const secrets = (valueAt(operator.spec, path) ?? []) as readonly string[];
  if (secret === undefined || secrets.includes(secret)) return operator;
  return overlay(operator, { spec: { values: { global: { imagePullSecrets: [...secrets, secret] } } } });
}

function undefinedIfEmpty(fields: Tree): Tree | undefined {
  const kept = defined(fields);
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function defined(fields: Tree): Tree {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
