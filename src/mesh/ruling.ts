// Which Istio resource rules: the oldest in its namespace. The others say so, and have no effect.
import type { Istio } from '../api/istio.ts';
import { failure } from './failures.ts';
import type { Failure } from './failures.ts';
import { MODULE_NAMESPACE } from './names.ts';

/**
 * The resource that rules: the oldest in `kyma-system`, and of several that were made in the same second the first by
 * name. One that is being deleted still rules, so that nobody installs what it is about to uninstall.
 */
export function rulingIstio(istios: Iterable<Istio>): Istio | undefined {
  let ruling: Istio | undefined;
  for (const istio of istios) {
    if (istio.metadata.namespace !== MODULE_NAMESPACE) continue;
    if (ruling === undefined || isOlder(istio, ruling)) ruling = istio;
  }
  return ruling;
}

/** Why a resource has no effect; undefined for the one that rules. */
export function notRuling(istio: Istio, istios: Iterable<Istio>): Failure | undefined {
  if (istio.metadata.namespace !== MODULE_NAMESPACE) {
    return failure('namespace', `istio CR is not in ${MODULE_NAMESPACE} namespace`);
  }
  const { name, namespace, uid } = (rulingIstio(istios) ?? istio).metadata;
  if (uid === istio.metadata.uid && name === istio.metadata.name) return undefined;
  return failure('duplicate', `only Istio CR ${name} in ${namespace} reconciles the module`);
}

function isOlder({ metadata: a }: Istio, { metadata: b }: Istio): boolean {
  const difference = Date.parse(a.creationTimestamp ?? '') - Date.parse(b.creationTimestamp ?? '');
  return difference < 0 || (!(difference > 0) && a.name < b.name);
}
