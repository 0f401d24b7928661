// The callers of requests: workloads by name, with the labels of their pods.
import { keyOf } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { MeshSource } from './request.ts';
import { POD_OWNERS, workloadOf, workloadOfPod } from './services.ts';

/** Pods and the workloads that own pods, by `NAMESPACE/NAME` and by `NAMESPACE/KIND/NAME`. */
export function callersIn(objects: Iterable<KubeObject>): ReadonlyMap<string, MeshSource> {
  const callers = new Map<string, MeshSource>();
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!POD_OWNERS.has(kind) && kind !== 'Pod') continue;
    const { labels } = kind === 'Pod' ? workloadOfPod(object) : workloadOf(object);
    const caller = { namespace: metadata.namespace ?? '', labels };
    callers.set(`${metadata.namespace}/${kind}/${metadata.name}`, caller);
    // If two kinds share a name, the short form means the first; the form with the kind is unambiguous.
    if (!callers.has(keyOf(metadata))) callers.set(keyOf(metadata), caller);
  }
  return callers;
}
