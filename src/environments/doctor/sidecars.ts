// Pods without a sidecar: their requests are not routed.
import { PLAYGROUND } from '../../api/playground.ts';
import type { Facts } from '../../controller/index.ts';
import { defineTable } from '../../kube/index.ts';
import type { AnyKind, KubeObject } from '../../kube/index.ts';
import { defineKind } from '../../kube/objects.ts';
import { VirtualService } from '../../traffic/istio/objects.ts';
import { workloadOfPod } from '../../traffic/services.ts';
import { baseProblem } from '../identity/ownership.ts';
import type { PodTemplate } from '../objects.ts';
import { Deployment } from '../objects.ts';
import type { Finding } from './finding.ts';

interface SidecarPod extends KubeObject {
  readonly spec?: NonNullable<PodTemplate['spec']> & { readonly hostNetwork?: boolean };
  readonly status?: { readonly phase?: string };
}
const Namespace = defineTable(defineKind('v1', 'Namespace', 'namespaces', { namespaced: false }), {
  metadataOnly: true,
  optional: true,
});
const Pods = defineTable(defineKind<SidecarPod>('v1', 'Pod', 'pods'), { optional: true, transform: slim });

export const sidecarTables: readonly AnyKind[] = [Namespace, Pods];

const PROXY = 'istio-proxy';
const INJECT = 'sidecar.istio.io/inject';

/** Keeps only the fields of a pod that are used here. */
function slim({ apiVersion, kind, metadata, spec, status }: SidecarPod): SidecarPod {
  const { managedFields: _nobodys, annotations: _none, ...kept } = metadata;
  const names = (all: NonNullable<SidecarPod['spec']>['containers'] = []) => all.map((each) => ({ name: each.name }));
  const { hostNetwork = false, containers, initContainers } = spec ?? {};
  return {
    apiVersion,
    kind,
    metadata: kept,
    spec: { hostNetwork, containers: names(containers), initContainers: names(initContainers) },
    status: { phase: status?.phase ?? 'Running' },
  };
}

const NOT_ROUTED =
  'its pods have no sidecar: their requests are not routed by header and reach clones by load balancing';
const ADVICE =
  'label its namespace istio-injection=enabled (or with istio.io/rev) and restart it; ignore this if it calls no workload of an environment';

/** Workloads without a sidecar; if no pod has one, a note that there is no mesh, unless it is the sample shop. */
export function sidecarFindings(
  view: Facts,
  isSelected: (namespace?: string) => boolean,
  isEmbedded: boolean,
): Finding[] {
  const pods = view.list(Pods);
  const namespaces = new Map(view.list(Namespace).map((each) => [each.metadata.name, each]));
  const isMeshed = pods.some(hasProxy) || [...namespaces.values()].some((each) => injects(each) !== undefined);
  // Every cluster has this namespace, and few sets of manifests do.
  const isCluster = namespaces.has('kube-system');
  const isPlayground = [...namespaces.values()].some(
    ({ metadata }) => metadata.annotations?.[PLAYGROUND] !== undefined,
  );
  if (isCluster && pods.length > 0 && !isMeshed)
    return isPlayground ? [] : [isEmbedded ? embedded(view.served(VirtualService)) : NO_MESH];
  const bare = pods.filter(
    (pod) =>
      isMeshed && isSelected(pod.metadata.namespace) && isCalling(pod) && !hasProxy(pod) && !isAmbient(namespaces, pod),
  );
  const workloads = [
    ...bare.map((pod) => workloadOfPod(pod).key),
    ...(isCluster ? [] : uninjected(view, isSelected, namespaces, isMeshed)),
  ];
  return [...new Set(workloads)].map((key) => {
    const [namespace, kind = '', name] = key.split('/');
    return {
      severity: 'warning',
      reason: 'NoSidecar',
      kind,
      object: `${namespace}/${name}`,
      message: NOT_ROUTED,
      advice: ADVICE,
    };
  });
}

const NO_MESH: Finding = {
  severity: 'note',
  reason: 'NoMesh',
  kind: 'Namespace',
  object: '*',
  message: 'no pod has a sidecar, and no namespace enables injection: without a mesh, requests are not routed',
  advice: 'install Istio, and label the namespaces of callers istio-injection=enabled',
};

/** Installing Istio would not help: its pods would be simulated too. */
const embedded = (hasKinds: boolean): Finding => ({
  ...NO_MESH,
  message: `this is the embedded cluster${hasKinds ? ', with the kinds of Istio' : ''}: its pods are simulated, and no requests are sent or routed`,
  advice:
    '"offshoot explain" and "offshoot prove" say where requests would go; the sample shop of "offshoot up" answers some, and so does a cluster with Istio',
});

function hasProxy({ spec }: SidecarPod): boolean {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(({ name }) => name === PROXY);
}

/** Whether a pod may send requests that a sidecar could route. */
function isCalling({ metadata, spec, status }: SidecarPod): boolean {
  const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return !isOver && spec?.hostNetwork !== true && metadata.deletionTimestamp === undefined;
}

/** Whether the pods of a namespace get sidecars, by its labels; undefined if they don't say. */
function injects({ metadata: { labels = {} } }: KubeObject): boolean | undefined {
  if (labels['istio-injection'] !== undefined) return labels['istio-injection'] === 'enabled';
  return labels['istio.io/rev'] === undefined ? undefined : true;
}

function isAmbient(namespaces: ReadonlyMap<string, KubeObject>, { metadata }: KubeObject): boolean {
  return namespaces.get(metadata.namespace ?? '')?.metadata.labels?.['istio.io/dataplane-mode'] === 'ambient';
}

/** In manifests: the workloads whose pods will get no sidecar, by their templates and namespaces. */
function uninjected(
  view: Facts,
  isSelected: (namespace?: string) => boolean,
  namespaces: ReadonlyMap<string, KubeObject>,
  isMeshed: boolean,
): string[] {
  const bare = view.list(Deployment).filter((each) => {
    const { metadata, spec } = each;
    if (!isSelected(metadata.namespace) || baseProblem(each) !== undefined || isAmbient(namespaces, each)) return false;
    const { labels, annotations } = (spec as Deployment['spec'] | undefined)?.template?.metadata ?? {};
    const own = labels?.[INJECT] ?? annotations?.[INJECT];
    if (own !== undefined) return own === 'false';
    const namespace = namespaces.get(metadata.namespace ?? '');
    return isMeshed && namespace !== undefined && injects(namespace) !== true;
  });
  return bare.map(({ kind, metadata }) => `${metadata.namespace}/${kind}/${metadata.name}`);
}
