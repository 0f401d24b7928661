// The active Istio resource: the oldest in its namespace. The others report that they have no effect.
import type { Istio } from '../../api/istio.ts';
import { failure } from '../status/failures.ts';
import type { Failure } from '../status/failures.ts';
import { MODULE_NAMESPACE } from '../names.ts';

/**
 * The active resource: the oldest in `kyma-system`, and of several from the same second the first by name. One that is
 * being deleted is still active, so that no other resource installs what it is about to uninstall.
 */
export function activeIstio(istios: Iterable<Istio>): Istio | undefined {
  let active: Istio | undefined;
  for (const istio of istios) {
    if (istio.metadata.namespace !== MODULE_NAMESPACE) continue;
    if (active === undefined || isOlder(istio, active)) active = istio;
  }
  return active;
}

/** Why a resource has no effect; undefined for the active one. */
export function whyInactive(istio: Istio, istios: Iterable<Istio>): Failure | undefined {
  if (istio.metadata.namespace !== MODULE_NAMESPACE) {
    return failure('namespace', `istio CR is not in ${MODULE_NAMESPACE} namespace`);
  }
  const { name, namespace, uid } = (activeIstio(istios) ?? istio).metadata;
  if (uid === istio.metadata.uid && name === istio.metadata.name) return undefined;
  return failure('duplicate', `only Istio CR ${name} in ${namespace} reconciles the module`);
}

function isOlder({ metadata: a }: Istio, { metadata: b }: Istio): boolean {
  const difference = Date.parse(a.creationTimestamp ?? '') - Date.parse(b.creationTimestamp ?? '');
  return difference < 0 || (!(difference > 0) && a.name < b.name);
}
