// Why a sidecar is not what it should be.
import { UPDATED_AT } from '../names.ts';
import type { KubeObject } from '../../kube/index.ts';
import { isInjected, sidecarOf } from '../workloads.ts';
import type { Pod } from '../workloads.ts';
import type { RestartPredicate } from './predicate.ts';

/** Left by the injection. */
const INJECTED = 'sidecar.istio.io/status';
/** Who chooses the image of a sidecar has taken it out of our hands. */
const OWN_IMAGE = 'sidecar.istio.io/proxyImage';

/** Pods that are restarted for their sidecars: they were injected, run, and every condition holds. */
export function isCandidate(pod: Pod): boolean {
  const { phase, conditions = [] } = pod.status ?? {};
  return hasInjection(pod) && phase === 'Running' && conditions.every(({ status }) => status === 'True');
}

/** Pods that were injected and are in motion or broken: what is wrong with their sidecars is told, and nothing done. */
export function isUnhealthy(pod: Pod): boolean {
  const { phase } = pod.status ?? {};
  return hasInjection(pod) && phase !== 'Succeeded' && phase !== 'Failed' && !isCandidate(pod);
}

function hasInjection({ metadata }: Pod): boolean {
  return metadata.annotations?.[INJECTED] !== undefined && metadata.deletionTimestamp === undefined;
}

export function hasOwnImage({ metadata }: Pod): boolean {
  return metadata.annotations?.[OWN_IMAGE] !== undefined;
}

/** The image is another: compared as it is written. */
export function otherImage(expected: string): RestartPredicate {
  return (pod) => {
    const { image } = sidecarOf(pod) ?? {};
    return image === undefined || image === expected ? undefined : `its sidecar is ${image}, and should be ${expected}`;
  };
}

/** Traffic is redirected by an init container where the CNI plugin should, or the other way round. */
export function otherCniMode(cniEnabled: boolean): RestartPredicate {
  const [wrong, why] = cniEnabled
    ? ['istio-init', 'an init container redirects its traffic, and the CNI plugin should']
    : ['istio-validation', 'the CNI plugin redirects its traffic, and an init container should'];
  return ({ spec }) => ((spec?.initContainers ?? []).some(({ name }) => name === wrong) ? why : undefined);
}

/** The filter was changed after the pod was made, or in the same second. */
export function olderThanFilter(filter: KubeObject): RestartPredicate {
  const updatedAt = filter.metadata.annotations?.[UPDATED_AT];
  const changed = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  return ({ metadata }) =>
    Date.parse(metadata.creationTimestamp ?? '') <= changed
      ? `EnvoyFilter ${filter.metadata.name} was changed at ${updatedAt}, after the pod was made`
      : undefined;
}

/** Metrics of the application are served by the proxy although they should not be, or not although they should. */
export function otherPrometheusMerge(enabled: boolean, statusPort: number): RestartPredicate {
  return ({ metadata: { annotations = {} } }) => {
    const path = annotations['prometheus.io/path'] === '/stats/prometheus';
    const port = annotations['prometheus.io/port'] === String(statusPort);
    if (enabled) return path && port ? undefined : 'its metrics are not merged with those of its sidecar';
    return path || port ? 'its metrics are merged with those of its sidecar' : undefined;
  };
}

/** A pod that the injection should have given a sidecar. Restarted only where somebody has asked for that. */
export function withoutSidecar(
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): RestartPredicate {
  return (pod) => {
    const { namespace = '', labels = {}, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || sidecarOf(pod) !== undefined) return undefined;
    if (pod.spec?.hostNetwork === true || labels['sidecar.istio.io/inject'] === 'false') return undefined;
    const { 'istio-injection': injection, 'istio.io/rev': revision } = namespaceLabels(namespace);
    const injected = injection === 'enabled' || (injection === undefined && revision === 'default');
    return injected ? `injection is on in namespace ${namespace}, and it has no sidecar` : undefined;
  };
}

/** A pod that still has a sidecar, of a mesh that is gone. */
export const sidecarOfNoMesh: RestartPredicate = (pod) =>
  isInjected(pod) ? 'it has a sidecar, and Istio is uninstalled' : undefined;
