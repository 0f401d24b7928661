// The workload that replaces a pod, found through owner references. Pods without one are left to a person.
import type { KubeObject, OwnerReference } from '../../kube/index.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';

/** A reference to a workload. */
export interface WorkloadRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A workload that can be restarted, or a message for the person who must do it. */
export type PodOwner = { readonly workload: WorkloadRef } | { readonly manual: string };

const NO_OWNER = 'pod sidecar could not be updated because OwnerReferences was not found.';
const OF_A_JOB = 'pod sidecar could not be updated because it is owned by a Job.';

/** The workload of a pod. `replicaSet` finds one in the namespace of the pod by name. */
export function ownerOf(pod: Pod, replicaSet: (name: string) => KubeObject | undefined): PodOwner {
  const owner = controllerOf(pod);
  if (owner === undefined) return { manual: NO_OWNER };
  const here = (ref: OwnerReference): PodOwner => ({
    workload: {
      apiVersion: ref.apiVersion,
      kind: ref.kind,
      namespace: pod.metadata.namespace ?? '',
      name: ref.name,
    },
  });
  switch (owner.kind) {
    case 'Deployment':
    case 'StatefulSet':
    case 'DaemonSet':
    case 'ReplicationController':
      return here(owner);
    case 'Job':
      return { manual: OF_A_JOB };
    case 'ReplicaSet': {
      const set = replicaSet(owner.name);
      if (set === undefined) return { manual: NO_OWNER };
      const above = controllerOf(set);
      if (above === undefined) return here(owner);
      return above.kind === 'Deployment' || isRollout(above) ? here(above) : unsupported(above);
    }
    default:
      return isRollout(owner) ? here(owner) : unsupported(owner);
  }
}

/** The controller or, if there is none, the first owner. */
function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  const owners = metadata.ownerReferences ?? [];
  return owners.find(({ controller }) => controller === true) ?? owners[0];
}

function isRollout({ apiVersion, kind }: OwnerReference): boolean {
  return kind === 'Rollout' && apiVersion.startsWith('argoproj.io/');
}

function unsupported({ kind, name }: OwnerReference): PodOwner {
  return { manual: `it is owned by ${kind} ${name}: kind ${kind} is not supported for rollout` };
}

/** The unambiguous key of a workload: `Deployment shop/cart`. */
export function workloadKey({ kind, namespace, name }: WorkloadRef): string {
  return `${kind} ${namespace}/${name}`;
}

/** The reference of a live workload. */
export function workloadRef({ apiVersion, kind, metadata }: Workload): WorkloadRef {
  return { apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name };
}
