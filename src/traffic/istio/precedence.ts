// Which of several VirtualServices for one host in the mesh Istio goes by: the oldest, and no other. At gateways the
// routes of all of them are joined.
import type { KubeObject } from '../../kube/objects.ts';
import type { HttpMatch, VirtualService } from './objects.ts';

/** Whether the pods of the mesh go by a VirtualService. */
export function isForMesh({ spec }: VirtualService): boolean {
  return spec?.gateways === undefined || spec.gateways.length === 0 || spec.gateways.includes('mesh');
}

/** Whether no pod goes by a VirtualService for a host that another one is for too. */
export function supersedes(other: VirtualService, service: VirtualService): boolean {
  const { exportTo = [], http = [] } = (other.spec ?? {}) as { exportTo?: readonly string[]; http?: readonly object[] };
  const isForAll = exportTo.length === 0 || exportTo.includes('*');
  return isForMesh(other) && isForAll && http.some(isForEveryCaller) && byAge(other, service) < 0;
}

/** Whether every pod that calls is told of a route, whatever requests it is for. */
function isForEveryCaller({ match = [] }: { readonly match?: readonly HttpMatch[] }): boolean {
  return (
    match.length === 0 ||
    match.some(({ gateways = [], sourceLabels = {}, sourceNamespace, port }) => {
      if (port) return false;
      return gateways.length > 0
        ? gateways.includes('mesh')
        : Object.keys(sourceLabels).length === 0 && !sourceNamespace;
    })
  );
}

/** The order of istiod: by the time of creation in whole seconds, then by name, then by namespace. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const keys = ['creationTimestamp', 'name', 'namespace'] as const;
  const key = keys.find((each) => a[each] !== b[each]);
  if (key === undefined) return 0;
  return (a[key] ?? '') < (b[key] ?? '') ? -1 : 1;
}
