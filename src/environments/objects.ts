// The kinds that an environment reads and edits, with the fields that it uses. All other fields are kept.
import { defineKind } from '../kube/objects.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { LabelSelector } from '../kube/selector.ts';
import type { EnvVar } from '../api/dynamicenv.ts';

export type Labels = Readonly<Record<string, string>>;

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly [field: string]: unknown;
}

export interface PodTemplate {
  readonly metadata?: { readonly labels?: Labels; readonly annotations?: Labels; readonly [field: string]: unknown };
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly initContainers?: readonly Container[];
    readonly [field: string]: unknown;
  };
}

export interface WorkloadCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastUpdateTime?: string;
  readonly lastTransitionTime?: string;
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: LabelSelector;
    readonly template: PodTemplate;
    readonly [field: string]: unknown;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly readyReplicas?: number;
    readonly conditions?: readonly WorkloadCondition[];
    readonly [field: string]: unknown;
  };
}
export const Deployment = defineKind<Deployment>('apps/v1', 'Deployment', 'deployments');

export interface Service extends KubeObject {
  readonly spec?: { readonly selector?: Labels; readonly [field: string]: unknown };
}
export const Service = defineKind<Service>('v1', 'Service', 'services');

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode?: number;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
}

export interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly WorkloadCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}
export const Pod = defineKind<Pod>('v1', 'Pod', 'pods');

export interface PodDisruptionBudget extends KubeObject {
  readonly spec?: { readonly selector?: LabelSelector };
}
export const PodDisruptionBudget = defineKind<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);

export interface NetworkPolicy extends KubeObject {
  readonly spec?: { readonly podSelector?: LabelSelector };
}
export const NetworkPolicy = defineKind<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy', 'networkpolicies');

export interface HorizontalPodAutoscaler extends KubeObject {
  readonly spec?: {
    readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string };
    readonly metrics?: readonly { readonly type?: string }[];
  };
}
export const HorizontalPodAutoscaler = defineKind<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
);
