// The objects that we add to Istio's own, in the order in which they are applied, and those to remove. They depend on
// the resource, the cluster and the version of Istio.
import type { Istio } from '../../api/istio.ts';
import { withAnnotations } from '../../kube/index.ts';
import type { AnyObject } from '../../kube/index.ts';
import { timestamp } from '../../kube/times.ts';
import { jsonEqual } from '../../watchable/index.ts';
import {
  DISCLAIMER,
  DISCLAIMER_TEXT,
  ISTIO_NAMESPACE,
  MODULE_LABEL,
  MODULE_NAME,
  MODULE_NAMESPACE,
  UPDATED_AT,
} from '../names.ts';
import { parseVersion } from '../version/semver.ts';
import { controlPlaneAutoscalers, operatorAutoscaler } from './autoscalers.ts';
import { partialReferer, proxyProtocol } from './envoy-filters.ts';
import { gatewayOf, healthOf } from './ingress.ts';
import { networkPolicies } from './network-policies.ts';

export interface ResourceFacts {
  /** The active resource, which owns objects that would otherwise be orphaned. */
  readonly istio: Istio;
  readonly istioVersion: string;
  /** The version of this program. */
  readonly operatorVersion: string;
  readonly proxyProtocol: boolean;
  /** Whether VerticalPodAutoscalers are served, and whether the control plane should have them. */
  readonly autoscalersServed?: boolean;
  readonly controlPlaneVPA?: boolean;
  /** The port of the API server behind its Service. */
  readonly apiServerPort?: number;
  /** A domain that gets a gateway with a health check. */
  readonly domain?: string;
}

export interface Resources {
  readonly apply: readonly AnyObject[];
  /** Objects that are no longer needed, to remove if they are ours. */
  readonly remove: readonly AnyObject[];
}

/** The objects to apply and to remove. While the resource is being deleted, only those outliving Istio are removed. */
export function meshResources(facts: ResourceFacts): Resources {
  const { istio, autoscalersServed = false, controlPlaneVPA = false } = facts;
  const deleting = istio.metadata.deletionTimestamp !== undefined;
  const policies = networkPolicies(facts.apiServerPort);
  const [operator, controlPlane] = [operatorAutoscaler(), controlPlaneAutoscalers()];
  const candidates: [boolean, readonly AnyObject[]][] = [
    [needsPartialReferer(facts.istioVersion), [partialReferer()]],
    [true, [peerAuthentication()]],
    [istio.spec?.networkPoliciesEnabled === true, policies],
    ...(autoscalersServed
      ? ([
          [true, [operator]],
          [controlPlaneVPA, controlPlane],
        ] as [boolean, readonly AnyObject[]][])
      : []),
    [facts.proxyProtocol, [proxyProtocol()]],
  ];
  const finished = (objects: readonly AnyObject[]): AnyObject[] => objects.map((object) => finish(object, facts));
  if (deleting) {
    return { apply: [], remove: finished([...policies, ...(autoscalersServed ? [operator, ...controlPlane] : [])]) };
  }
  return {
    apply: finished([
      ...candidates.flatMap(([there, objects]) => (there ? objects : [])),
      ...(facts.domain === undefined ? [] : [gatewayOf(facts.domain), healthOf(facts.domain)]),
    ]),
    remove: [...finished(candidates.flatMap(([there, objects]) => (there ? [] : objects))), ...dashboards()],
  };
}

/** Adds the time of the last change to an EnvoyFilter: that of the live object while nothing differs. */
export function withUpdatedAt(desired: AnyObject, live: AnyObject | undefined, now: number): AnyObject {
  if (desired.kind !== 'EnvoyFilter') return desired;
  const known = live?.metadata.annotations?.[UPDATED_AT];
  const same = live !== undefined && jsonEqual(live['spec'], desired['spec']);
  const updatedAt = same && known !== undefined ? known : timestamp(now);
  return withAnnotations(desired, { [UPDATED_AT]: updatedAt });
}

function peerAuthentication(): AnyObject {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'default', namespace: ISTIO_NAMESPACE },
    spec: { mtls: { mode: 'STRICT' } },
  };
}

// Proxies of later versions do not have this feature flag.
function needsPartialReferer(istioVersion: string): boolean {
  const version = parseVersion(istioVersion);
  return typeof version !== 'string' && version.major === 1 && version.minor < 21;
}

/** The dashboards that earlier releases of the Kyma operator made, which are no longer used. */
function dashboards(): AnyObject[] {
  return ['control-plane', 'mesh', 'performance', 'service', 'workload'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `istio-${name}-grafana-dashboard`, namespace: MODULE_NAMESPACE },
  }));
}

/** Adds labels, the disclaimer and, if the object would outlive Istio, an owner, which must be in its namespace. */
function finish(object: AnyObject, { istio, operatorVersion }: ResourceFacts): AnyObject {
  const { metadata, apiVersion } = object;
  const outlives = !/\.istio\.io\//.test(apiVersion) && metadata.namespace === istio.metadata.namespace;
  const owner = {
    apiVersion: istio.apiVersion,
    kind: istio.kind,
    name: istio.metadata.name,
    uid: istio.metadata.uid ?? '',
  };
  const labels = { ...metadata.labels, [MODULE_LABEL]: MODULE_NAME, 'app.kubernetes.io/version': operatorVersion };
  const made = withAnnotations({ ...object, metadata: { ...metadata, labels } }, { [DISCLAIMER]: DISCLAIMER_TEXT });
  return outlives ? { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } } : made;
}
