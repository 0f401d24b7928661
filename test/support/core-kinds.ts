// Built-in kinds of Kubernetes, for tests that need no types for their objects.
import { defineKind } from '../../src/kube/index.ts';

export const ConfigMap = defineKind('v1', 'ConfigMap', 'configmaps');
export const Namespace = defineKind('v1', 'Namespace', 'namespaces', { namespaced: false });
export const Service = defineKind('v1', 'Service', 'services');
export const DaemonSet = defineKind('apps/v1', 'DaemonSet', 'daemonsets');
export const Deployment = defineKind('apps/v1', 'Deployment', 'deployments');
export const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
export const CustomResourceDefinition = defineKind(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  { namespaced: false },
);
