// The kinds of Kubernetes and of the App Mesh controller that routing reads or writes, with the fields that it uses.
import { defineKind, defineTable } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { ENV, PORTS_ANNOTATION } from './errors.ts';

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
}
interface Container {
  readonly name: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly object[];
}
/** Pods are cached with only the fields that determine their virtual node, as there can be many. */
export const Pod = defineTable(defineKind<Pod>('v1', 'Pod', 'pods'), { transform: slimPod });

function slimPod({ apiVersion, kind, metadata, spec = {} }: Pod): Pod {
  const { name, namespace, uid, resourceVersion, labels, annotations = {} } = metadata;
  const ports = annotations[PORTS_ANNOTATION];
  const { containers, initContainers } = spec;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(labels && { labels }),
      ...(ports !== undefined && { annotations: { [PORTS_ANNOTATION]: ports } }),
    },
    spec: {
      ...(containers && { containers: containers.map(slimContainer) }),
      ...(initContainers && { initContainers: initContainers.map(slimContainer) }),
    },
  };
}

const VARIABLES: ReadonlySet<string> = new Set(Object.values(ENV));

function slimContainer({ name, env = [], ports = [] }: Container): Container {
  return { name, env: env.filter((each) => VARIABLES.has(each.name)), ports };
}
export const Service = defineKind<KubeObject>('v1', 'Service', 'services');

export const APP_MESH = 'appmesh.k8s.aws/v1beta2';

type Reference = { readonly name: string; readonly namespace?: string };

export const AppMesh = defineKind<KubeObject>(APP_MESH, 'Mesh', 'meshes', { namespaced: false });

export interface VirtualNode extends KubeObject {
  readonly spec?: {
    readonly awsName?: string;
    readonly serviceDiscovery?: { readonly dns?: { readonly hostname?: string } };
    readonly backends?: readonly Backend[];
  };
}
export interface Backend {
  readonly virtualService?: { readonly virtualServiceRef?: Reference };
}
export const VirtualNode = defineKind<VirtualNode>(APP_MESH, 'VirtualNode', 'virtualnodes');

export interface VirtualRouter extends KubeObject {
  readonly spec?: { readonly awsName?: string };
}
export const VirtualRouter = defineKind<VirtualRouter>(APP_MESH, 'VirtualRouter', 'virtualrouters');

export interface VirtualService extends KubeObject {
  readonly spec?: {
    readonly awsName?: string;
    readonly provider?: { readonly virtualRouter?: { readonly virtualRouterRef?: Reference } };
  };
}
export const VirtualService = defineKind<VirtualService>(APP_MESH, 'VirtualService', 'virtualservices');
