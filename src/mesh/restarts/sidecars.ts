// Predicates for outdated sidecars.
import { UPDATED_AT } from '../names.ts';
import type { KubeObject } from '../../kube/index.ts';
import { isInjected, sidecarOf } from '../workloads/workloads.ts';
import type { Pod } from '../workloads/workloads.ts';
import type { RestartPredicate } from './predicate.ts';

/** The annotation that the injector sets. */
const INJECTED = 'sidecar.istio.io/status';
/** A pod that chooses its own sidecar image is not compared with ours. */
const OWN_IMAGE = 'sidecar.istio.io/proxyImage';

/** Whether a pod can be restarted for its sidecar: it was injected, is running, and all its conditions are True. */
export function isCandidate(pod: Pod): boolean {
  const { phase, conditions = [] } = pod.status ?? {};
  return hasInjection(pod) && phase === 'Running' && conditions.every(({ status }) => status === 'True');
}

/** Whether an injected pod is starting or broken: an outdated sidecar is then only reported. */
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

/** The image differs, compared as text. */
export function otherImage(expected: string): RestartPredicate {
  return (pod) => {
    const { image } = sidecarOf(pod) ?? {};
    return image === undefined || image === expected ? undefined : `its sidecar is ${image}, and should be ${expected}`;
  };
}

/** Traffic is redirected by an init container instead of the CNI plugin, or vice versa. */
export function otherCniMode(cniEnabled: boolean): RestartPredicate {
  const [wrong, why] = cniEnabled
    ? ['istio-init', 'an init container redirects its traffic, and the CNI plugin should']
    : ['istio-validation', 'the CNI plugin redirects its traffic, and an init container should'];
  return ({ spec }) => ((spec?.initContainers ?? []).some(({ name }) => name === wrong) ? why : undefined);
}

/** The filter was changed after the pod was created, or in the same second. */
export function olderThanFilter(filter: KubeObject): RestartPredicate {
  const updatedAt = filter.metadata.annotations?.[UPDATED_AT];
  const changed = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  return ({ metadata }) =>
    Date.parse(metadata.creationTimestamp ?? '') <= changed
      ? `EnvoyFilter ${filter.metadata.name} was changed at ${updatedAt}, after the pod was made`
      : undefined;
}

/** The proxy serves the metrics of the application but should not, or vice versa. */
export function otherPrometheusMerge(enabled: boolean, statusPort: number): RestartPredicate {
  return ({ metadata: { annotations = {} } }) => {
    const path = annotations['prometheus.io/path'] === '/stats/prometheus';
    const port = annotations['prometheus.io/port'] === String(statusPort);
    if (enabled) return path && port ? undefined : 'its metrics are not merged with those of its sidecar';
    return path || port ? 'its metrics are merged with those of its sidecar' : undefined;
  };
}

/** A pod without a sidecar that should have one. It is restarted only if that is enabled. */
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

/** A pod that still has a sidecar after Istio was uninstalled. */
export const sidecarOfNoMesh: RestartPredicate = (pod) =>
  isInjected(pod) ? 'it has a sidecar, and Istio is uninstalled' : undefined;
