// Who can call: workloads by name, with the labels of their pods.
import { keyOf } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import type { MeshSource } from './request.ts';
import { POD_OWNERS, workloadOf, workloadOfPod } from './services.ts';

/** Deployments and the like, and pods, as callers: by `NAMESPACE/NAME` and `NAMESPACE/KIND/NAME`. */
export function callersIn(objects: Iterable<KubeObject>): ReadonlyMap<string, MeshSource> {
  const callers = new Map<string, MeshSource>();
  for (const object of objects) {
    const { kind, metadata } = object;
    if (!POD_OWNERS.has(kind) && kind !== 'Pod') continue;
    const { labels } = kind === 'Pod' ? workloadOfPod(object) : workloadOf(object);
    const caller = { namespace: metadata.namespace ?? '', labels };
    callers.set(`${metadata.namespace}/${kind}/${metadata.name}`, caller);
    // Of two with the same name, the first: they are told apart by their kinds.
    if (!callers.has(keyOf(metadata))) callers.set(keyOf(metadata), caller);
  }
  return callers;
}
