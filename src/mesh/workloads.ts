// Pods and what owns them, as far as the mesh looks at them. Tables keep no more than this of each.
import type { KubeObject } from '../kube/index.ts';

interface ResourceList {
  readonly cpu?: string | number;
  readonly memory?: string | number;
}

interface ContainerResources {
  readonly requests?: ResourceList;
  readonly limits?: ResourceList;
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly resources?: ContainerResources;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}
