// The wire layout of ingresses, quotas, budgets, priorities and autoscalers. Read by protobuf.ts, see protobuf-kinds.ts.
import type { Message } from './protobuf-kinds.ts';

const named = (spec: string): Message => ({
  1: ['metadata', 'ObjectMeta'],
  2: ['spec', spec],
  3: ['status', 'skip'],
});

const ingress: Readonly<Record<string, Message>> = {
  Ingress: named('IngressSpec'),
  IngressSpec: {
    1: ['defaultBackend', 'IngressBackend'],
    2: ['tls', 'list IngressTLS'],
    3: ['rules', 'list IngressRule'],
    4: ['ingressClassName', 'string'],
  },
  IngressBackend: { 3: ['resource', 'TypedLocalObjectReference'], 4: ['service', 'IngressServiceBackend'] },
  IngressServiceBackend: { 1: ['name', 'string'], 2: ['port', 'ServiceBackendPort'] },
  ServiceBackendPort: { 1: ['name', 'string'], 2: ['number', 'int'] },
  TypedLocalObjectReference: { 1: ['apiGroup', 'string'], 2: ['kind', 'string'], 3: ['name', 'string'] },
  IngressTLS: { 1: ['hosts', 'list string'], 2: ['secretName', 'string'] },
  IngressRule: { 1: ['host', 'string'], 2: ['', 'inline IngressRuleValue'] },
  IngressRuleValue: { 1: ['http', 'HTTPIngressRuleValue'] },
  HTTPIngressRuleValue: { 1: ['paths', 'list HTTPIngressPath'] },
  HTTPIngressPath: { 1: ['path', 'string'], 2: ['backend', 'IngressBackend'], 3: ['pathType', 'string'] },
};

/** The two versions of an autoscaler are laid out differently, so their names say which one is meant. */
const autoscaler: Readonly<Record<string, Message>> = {
  'autoscaling/v1/HorizontalPodAutoscaler': named('autoscaling/v1/HorizontalPodAutoscalerSpec'),
  'autoscaling/v1/HorizontalPodAutoscalerSpec': {
    1: ['scaleTargetRef', 'CrossVersionObjectReference'],
    2: ['minReplicas', 'int?'],
    3: ['maxReplicas', 'int'],
    4: ['targetCPUUtilizationPercentage', 'int?'],
  },
  'autoscaling/v2/HorizontalPodAutoscaler': named('autoscaling/v2/HorizontalPodAutoscalerSpec'),
  'autoscaling/v2/HorizontalPodAutoscalerSpec': {
    1: ['scaleTargetRef', 'CrossVersionObjectReference'],
    2: ['minReplicas', 'int?'],
    3: ['maxReplicas', 'int'],
    4: ['metrics', 'list MetricSpec'],
  },
  CrossVersionObjectReference: { 1: ['kind', 'string'], 2: ['name', 'string'], 3: ['apiVersion', 'string'] },
  MetricSpec: { 1: ['type', 'string'], 4: ['resource', 'ResourceMetricSource'] },
  ResourceMetricSource: { 1: ['name', 'string'], 2: ['target', 'MetricTarget'] },
  MetricTarget: {
    1: ['type', 'string'],
    2: ['value', 'Quantity'],
    3: ['averageValue', 'Quantity'],
    4: ['averageUtilization', 'int?'],
  },
};

export const policies: Readonly<Record<string, Message>> = {
  ...ingress,
  ...autoscaler,
  ResourceQuota: named('ResourceQuotaSpec'),
  ResourceQuotaSpec: {
    1: ['hard', 'map Quantity'],
    2: ['scopes', 'list string'],
    3: ['scopeSelector', 'ScopeSelector'],
  },
  ScopeSelector: { 1: ['matchExpressions', 'list ScopedResourceSelectorRequirement'] },
  ScopedResourceSelectorRequirement: {
    1: ['scopeName', 'string'],
    2: ['operator', 'string'],
    3: ['values', 'list string'],
  },
  PodDisruptionBudget: named('PodDisruptionBudgetSpec'),
  PodDisruptionBudgetSpec: {
    1: ['minAvailable', 'IntOrString'],
    2: ['selector', 'LabelSelector'],
    3: ['maxUnavailable', 'IntOrString'],
    4: ['unhealthyPodEvictionPolicy', 'string'],
  },
  PriorityClass: {
    1: ['metadata', 'ObjectMeta'],
    2: ['value', 'int?'],
    3: ['globalDefault', 'bool'],
    4: ['description', 'string'],
    5: ['preemptionPolicy', 'string'],
  },
};
