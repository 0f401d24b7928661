// Pods and workloads, with the fields that the mesh uses. Tables cache only these fields.
import type { KubeObject } from '../../kube/index.ts';

interface ResourceList {
  readonly cpu?: string | number;
  readonly memory?: string | number;
}

export interface ContainerResources {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: ContainerResources;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly hostNetwork?: boolean;
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController or Argo Rollout. */
export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    /** For an Argo Rollout: older pods are replaced. */
    readonly restartAt?: string;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string };
    };
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
    readonly template?: {
      readonly metadata?: {
        readonly labels?: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number | string;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentNumberScheduled?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly phase?: string;
    /** For an Argo Rollout: the `restartAt` that is completed. */
    readonly restartedAt?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}

/** The name of the sidecar container, or of the init container if it is a native sidecar. */
const SIDECAR = 'istio-proxy';

/** The sidecar of a pod. */
export function sidecarOf(pod: Pod): Container | undefined {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers].find(({ name }) => name === SIDECAR);
}

/** Whether a pod has a sidecar. Gateways have only a proxy. */
export function isInjected(pod: Pod): boolean {
  const { istio = '' } = pod.metadata.labels ?? {};
  if (istio === 'ingressgateway' || istio === 'egressgateway') return false;
  return sidecarOf(pod) !== undefined && (pod.spec?.containers ?? []).some(({ name }) => name !== SIDECAR);
}
