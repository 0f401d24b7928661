// The objects that we add to the mesh beside Istio's own, in the order in which they are applied, and those that have to
// go. Which of them there are depends on the resource, the cluster and the version of Istio.
import type { Istio } from '../../api/istio.ts';
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
  /** The ruling resource: owns what would otherwise stay behind. */
  readonly istio: Istio;
  readonly istioVersion: string;
  /** The version of this program. */
  readonly operatorVersion: string;
  readonly proxyProtocol: boolean;
  /** Whether VerticalPodAutoscalers are served, and whether the control plane should have some. */
  readonly autoscalersServed?: boolean;
  readonly controlPlaneVPA?: boolean;
  /** The port of the API server behind its Service. */
  readonly apiServerPort?: number;
  /** A domain for which there should be a gateway with a check of its health. */
  readonly domain?: string;
}

export interface Resources {
  readonly apply: readonly AnyObject[];
  /** To be removed where they are ours: not wanted any more. */
  readonly remove: readonly AnyObject[];
}

/** What there should be and what should not. While the resource is being deleted, only what outlives Istio is removed. */
export function meshResources(facts: ResourceFacts): Resources {
  const { istio, autoscalersServed = false, controlPlaneVPA = false } = facts;
  const deleting = istio.metadata.deletionTimestamp !== undefined;
  const policies = networkPolicies(facts.apiServerPort);
  const [operator, controlPlane] = [operatorAutoscaler(), controlPlaneAutoscalers()];
  const wanted: [boolean, readonly AnyObject[]][] = [
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
      ...wanted.flatMap(([there, objects]) => (there ? objects : [])),
      ...(facts.domain === undefined ? [] : [gatewayOf(facts.domain), healthOf(facts.domain)]),
    ]),
    remove: [...finished(wanted.flatMap(([there, objects]) => (there ? [] : objects))), ...dashboards()],
  };
}

/** An object with the time of its last change, if it carries one: that of the live object while nothing differs. */
export function withUpdatedAt(desired: AnyObject, live: AnyObject | undefined, now: number): AnyObject {
  if (desired.kind !== 'EnvoyFilter') return desired;
  const known = live?.metadata.annotations?.[UPDATED_AT];
  const same = live !== undefined && jsonEqual(live['spec'], desired['spec']);
  const updatedAt = same && known !== undefined ? known : timestamp(now);
  const annotations = { ...desired.metadata.annotations, [UPDATED_AT]: updatedAt };
  return { ...desired, metadata: { ...desired.metadata, annotations } };
}

function peerAuthentication(): AnyObject {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'default', namespace: ISTIO_NAMESPACE },
    spec: { mtls: { mode: 'STRICT' } },
  };
}

// Proxies of later versions do not know the switch.
function needsPartialReferer(istioVersion: string): boolean {
  const version = parseVersion(istioVersion);
  return typeof version !== 'string' && version.major === 1 && version.minor < 21;
}

/** Earlier releases of the original made dashboards, which nothing shows any more. */
function dashboards(): AnyObject[] {
  return ['control-plane', 'mesh', 'performance', 'service', 'workload'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `istio-${name}-grafana-dashboard`, namespace: MODULE_NAMESPACE },
  }));
}

/** Labels and the disclaimer; an owner where the object would outlive Istio. An owner must be in the same namespace. */
function finish(object: AnyObject, { istio, operatorVersion }: ResourceFacts): AnyObject {
  const { metadata, apiVersion } = object;
  const outlives = !/\.istio\.io\//.test(apiVersion) && metadata.namespace === istio.metadata.namespace;
  const owner = {
    apiVersion: istio.apiVersion,
    kind: istio.kind,
    name: istio.metadata.name,
    uid: istio.metadata.uid ?? '',
  };
  return {
    ...object,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [MODULE_LABEL]: MODULE_NAME, 'app.kubernetes.io/version': operatorVersion },
      annotations: { ...metadata.annotations, [DISCLAIMER]: DISCLAIMER_TEXT },
      ...(outlives && { ownerReferences: [owner] }),
    },
  };
}
