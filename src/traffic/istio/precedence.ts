// Which of several VirtualServices for one host applies: in the mesh only the oldest; at gateways the routes of all of
// them are merged.
import type { KubeObject } from '../../kube/objects.ts';
import type { HttpMatch, VirtualService } from './objects.ts';

/** Whether a VirtualService applies to pods in the mesh. */
export function isForMesh({ spec }: VirtualService): boolean {
  return spec?.gateways === undefined || spec.gateways.length === 0 || spec.gateways.includes('mesh');
}

/** Whether a VirtualService applies to no pod, as the other one for the same host takes precedence. */
export function supersedes(other: VirtualService, service: VirtualService): boolean {
  const { exportTo = [], http = [] } = (other.spec ?? {}) as { exportTo?: readonly string[]; http?: readonly object[] };
  const isForAll = exportTo.length === 0 || exportTo.includes('*');
  return isForMesh(other) && isForAll && http.some(isForEveryCaller) && byAge(other, service) < 0;
}

/** Whether a route applies to the proxies of all callers, whatever requests it matches. */
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

/** istiod's order: by creation time in whole seconds, then by name, then by namespace. */
export function byAge({ metadata: a }: KubeObject, { metadata: b }: KubeObject): number {
  const keys = ['creationTimestamp', 'name', 'namespace'] as const;
  const key = keys.find((each) => a[each] !== b[each]);
  if (key === undefined) return 0;
  return (a[key] ?? '') < (b[key] ?? '') ? -1 : 1;
}
