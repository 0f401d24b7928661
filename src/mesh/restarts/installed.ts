// The goal of restarts, from what is installed: the sidecar that the injector adds to new pods, and the settings that
// proxies read at startup. During an installation nothing is outdated, as a restart would be too early.
import { parse } from 'yaml';
import type { ComponentResources, Istio, IstioSpec } from '../../api/istio.ts';
import type { Facts } from '../../controller/index.ts';
import { keyOf } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { jsonEqual } from '../../watchable/index.ts';
import { COMPONENT_LABEL } from '../installation/components.ts';
import { COMPANIONS, statusPort } from '../installation/operator/companions.ts';
import type { ConfigMap } from '../installation/operator/companions.ts';
import { proxyResources } from '../installation/operator/merge-components.ts';
import { imageFrom, valueAt } from '../installation/operator/operator.ts';
import { readLastApplied } from '../custom-resource/last-applied.ts';
import type { LastApplied } from '../custom-resource/last-applied.ts';
import { ISTIO_NAMESPACE, UPDATED_AT } from '../names.ts';
import { PARTIAL_REFERER } from '../resources/envoy-filters.ts';
import { rolloutOf } from '../workloads/rollout.ts';
import { istiodTags } from '../version/running.ts';
import { regexpsOf } from './desired-state.ts';
import type { GatewayState, SidecarState } from './desired-state.ts';
import { ConfigMaps, DaemonSets, Deployments, EnvoyFilters, MutatingWebhooks, Pods } from './tables.ts';

/** The goal of restarts. */
export type RestartGoal =
  /** Nothing is restarted yet; `waiting` says why. */
  | { readonly is: 'pending'; readonly waiting: string }
  | { readonly is: 'mesh'; readonly sidecars: SidecarState; readonly gateways: GatewayState }
  /** Istio is uninstalled: sidecars must be removed. */
  | { readonly is: 'no mesh'; readonly uid: string };

const INJECTOR = { namespace: ISTIO_NAMESPACE, name: 'istio-sidecar-injector' };
const ISTIOD = { namespace: ISTIO_NAMESPACE, name: 'istiod' };
const CNI = { namespace: ISTIO_NAMESPACE, name: 'istio-cni-node' };

const pending = (waiting: string): RestartGoal => ({ is: 'pending', waiting });

/** The goal of restarts for the active resource. */
export function restartGoal(facts: Facts, istio: Istio): RestartGoal {
  if (istio.metadata.deletionTimestamp !== undefined) return removalGoal(facts, istio);
  const before = readLastApplied(istio);
  if (typeof before === 'string') return pending(before);
  const given = injected(facts.get(ConfigMaps, INJECTOR));
  if (typeof given === 'string') return pending(given);
  const mesh = facts.get(ConfigMaps, COMPANIONS.mesh);
  const spec = istio.spec ?? {};
  const waiting = notInstalled(mesh, spec) ?? controlPlaneWaits(facts, given) ?? notRecorded(before, given);
  if (waiting !== undefined) return pending(waiting);
  const filters = filtersOf(facts);
  const { image, resources, cniEnabled } = given;
  const shared = { filters, spec, before: before.spec };
  return {
    is: 'mesh',
    sidecars: { image, resources, cniEnabled, statusPort: statusPort(mesh), ...shared },
    gateways: shared,
  };
}

/** Once this version is recorded, all of Istio runs with it, and a first installation also with its settings. */
function notRecorded({ tag: recorded }: LastApplied, { tag }: Injected): string | undefined {
  return recorded === tag ? undefined : `Istio ${tag} to be installed`;
}

/** While the injector exists, sidecars would be injected again. */
function removalGoal(facts: Facts, { metadata }: Istio): RestartGoal {
  const injectors = facts.list(MutatingWebhooks, { labels: COMPONENT_LABEL });
  if (injectors.length > 0) return pending(`MutatingWebhookConfiguration ${injectors[0]!.metadata.name} to be removed`);
  if (facts.get(Deployments, ISTIOD) !== undefined) return pending('Deployment istio-system/istiod to be removed');
  if (facts.get(ConfigMaps, INJECTOR) !== undefined) return pending(`ConfigMap ${keyOf(INJECTOR)} to be removed`);
  return { is: 'no mesh', uid: metadata.uid ?? '' };
}

interface Injected {
  readonly image: string;
  readonly resources: Required<ComponentResources>;
  readonly cniEnabled: boolean;
  /** The version of Istio. */
  readonly tag: string;
}

/** The sidecar that the injector adds to new pods; a string says why it is not known. */
function injected(configMap: ConfigMap | undefined): Injected | string {
  const name = `ConfigMap ${keyOf(INJECTOR)}`;
  if (configMap === undefined) return `${name} to be installed`;
  let values: unknown;
  try {
    values = JSON.parse(configMap.data?.['values'] ?? '');
  } catch (error) {
    return `${name}: key values is not JSON: ${(error as Error).message}`;
  }
  const resources = proxyResources({ spec: { values } });
  const [hub, tag] = [valueAt(values, 'global.hub'), valueAt(values, 'global.tag')];
  if (typeof resources === 'string' || typeof hub !== 'string' || typeof tag !== 'string') {
    return `${name}: key values must have global.hub, global.tag and global.proxy.resources`;
  }
  return {
    image: imageFrom({ hub, tag, values }, 'global.proxy.image', 'proxyv2'),
    resources,
    // The field depends on the version of Istio.
    cniEnabled: (valueAt(values, 'pilot.cni.enabled') ?? valueAt(values, 'istio_cni.enabled')) === true,
    tag,
  };
}

/** A setting of the resource that proxies would not get yet at startup. */
function notInstalled(mesh: ConfigMap | undefined, { config = {} }: IstioSpec): string | undefined {
  const name = `ConfigMap ${keyOf(COMPANIONS.mesh)}`;
  if (mesh === undefined) return `${name} to be installed`;
  let installed: unknown;
  try {
    installed = parse(mesh.data?.['mesh'] ?? '');
  } catch (error) {
    return `${name}: key mesh is not YAML: ${(error as Error).message}`;
  }
  const at = (path: string): unknown => valueAt(installed, path);
  const proxies = 'defaultConfig.gatewayTopology';
  const { enableDNSProxying } = config;
  const dns = at('defaultConfig.proxyMetadata.ISTIO_META_DNS_CAPTURE');
  const regexps = at('defaultConfig.proxyStatsMatcher.inclusionRegexps') as readonly string[] | undefined;
  // Renderers omit defaults.
  const settings: readonly (readonly [field: string, isInstalled: boolean])[] = [
    ['numTrustedProxies', (at(`${proxies}.numTrustedProxies`) ?? 0) === (config.numTrustedProxies ?? 0)],
    ['forwardClientCertDetails', at(`${proxies}.forwardClientCertDetails`) === config.forwardClientCertDetails],
    ['trustDomain', (at('trustDomain') ?? 'cluster.local') === (config.trustDomain ?? 'cluster.local')],
    ['enableDNSProxying', dns === (enableDNSProxying === undefined ? undefined : String(enableDNSProxying))],
    ['proxyStatsMatcher', jsonEqual((regexps ?? []).toSorted(), regexpsOf({ config }))],
    [
      'telemetry.metrics.prometheusMerge',
      (at('enablePrometheusMerge') ?? false) === (config.telemetry?.metrics?.prometheusMerge ?? false),
    ],
  ];
  const missing = settings.find(([, isInstalled]) => !isInstalled);
  return missing && `spec.config.${missing[0]} to be installed`;
}

/** Why the control plane is not ready to inject. */
function controlPlaneWaits(facts: Facts, { tag, image, cniEnabled }: Injected): string | undefined {
  const istiod = facts.get(Deployments, ISTIOD);
  if (istiod === undefined) return 'Deployment istio-system/istiod to be installed';
  const rollout = rolloutOf(istiod);
  if (rollout.state !== 'done') return `Deployment istio-system/istiod: ${rollout.why}`;
  const others = istiodTags(facts.list(Pods, { namespace: ISTIO_NAMESPACE })).filter((each) => each !== tag);
  // A complete image reference may have another version.
  if (image.endsWith(`:${tag}`) && others.length > 0) return `istiod ${others[0]} to be replaced by ${tag}`;
  if (!cniEnabled) return undefined;
  const cni = facts.get(DaemonSets, CNI);
  if (cni === undefined) return 'DaemonSet istio-system/istio-cni-node to be installed';
  const nodes = rolloutOf(cni);
  return nodes.state === 'done' ? undefined : `DaemonSet istio-system/istio-cni-node: ${nodes.why}`;
}

/** The EnvoyFilters that proxies read only at startup. */
function filtersOf(facts: Facts): readonly KubeObject[] {
  const filter = facts.get(EnvoyFilters, { namespace: ISTIO_NAMESPACE, name: PARTIAL_REFERER });
  if (filter === undefined) return [];
  const { apiVersion, kind, metadata } = filter;
  const { [UPDATED_AT]: updatedAt = '' } = metadata.annotations ?? {};
  // Only the time of the last change is kept: other changes must not cause restarts.
  return [{ apiVersion, kind, metadata: { name: PARTIAL_REFERER, annotations: { [UPDATED_AT]: updatedAt } } }];
}
