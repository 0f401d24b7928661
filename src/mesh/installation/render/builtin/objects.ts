// Common parts of the built-in objects.
import type { AnyObject } from '../../../../kube/index.ts';
import { ISTIO_NAMESPACE, PRIORITY_CLASS } from '../../../names.ts';
import { COMPONENT_LABEL } from '../../components.ts';
import type { ComponentName } from '../../components.ts';
import type { IstioOperator, K8s } from '../../operator/operator.ts';
import { valueAt } from '../../operator/operator.ts';

/** The metadata of an object in Istio's namespace. */
export function inNamespace(name: string, component: ComponentName, labels: Readonly<Record<string, string>> = {}) {
  return { name, namespace: ISTIO_NAMESPACE, labels: { ...labels, [COMPONENT_LABEL]: component } };
}

/** The metadata of a cluster-scoped object. */
export function clusterWide(name: string, component: ComponentName) {
  return { name, labels: { [COMPONENT_LABEL]: component } };
}

export function serviceAccount(name: string, component: ComponentName): AnyObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inNamespace(name, component) };
}

interface PodOptions {
  readonly serviceAccountName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly container: { readonly name: string; readonly image: string; readonly ports?: readonly number[] };
}

/** The pod template, with the settings of the operator. */
export function podTemplate(k8s: K8s, { serviceAccountName, labels, container }: PodOptions) {
  const { name, image, ports = [] } = container;
  return {
    metadata: {
      labels: { ...labels, 'sidecar.istio.io/inject': 'false' },
      ...(k8s['podAnnotations'] !== undefined && { annotations: k8s['podAnnotations'] }),
    },
    spec: {
      serviceAccountName,
      priorityClassName: PRIORITY_CLASS,
      ...(k8s.affinity && { affinity: k8s.affinity }),
      ...(k8s['securityContext'] !== undefined && { securityContext: k8s['securityContext'] }),
      containers: [
        {
          name,
          image,
          ...(ports.length > 0 && { ports: ports.map((containerPort) => ({ containerPort, protocol: 'TCP' })) }),
          ...(k8s.env && { env: k8s.env }),
          ...(k8s.resources && { resources: k8s.resources }),
        },
      ],
    },
  };
}

interface ScaledOptions extends PodOptions {
  readonly component: ComponentName;
  /** Labels that select the pods. */
  readonly selector: Readonly<Record<string, string>>;
  readonly budget: boolean;
}

/** A Deployment with its autoscaler and, if at least two replicas are guaranteed, a PodDisruptionBudget. */
export function scaledDeployment(name: string, k8s: K8s, options: ScaledOptions): readonly AnyObject[] {
  const { component, selector, budget } = options;
  const metadata = inNamespace(name, component, selector);
  const { minReplicas = 1, maxReplicas = 5, ...scaling } = k8s.hpaSpec ?? {};
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        selector: { matchLabels: selector },
        ...(k8s.strategy && { strategy: k8s.strategy }),
        template: podTemplate(k8s, { ...options, labels: { ...options.labels, ...selector } }),
      },
    },
    {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
          },
        ],
        ...scaling,
        minReplicas,
        maxReplicas,
      },
    },
    ...(budget && minReplicas > 1
      ? [
          {
            apiVersion: 'policy/v1',
            kind: 'PodDisruptionBudget',
            metadata,
            spec: { minAvailable: 1, selector: { matchLabels: selector } },
          },
        ]
      : []),
  ];
}

/** Whether PodDisruptionBudgets are enabled in the operator. */
export function wantsBudgets({ spec }: IstioOperator): boolean {
  return valueAt(spec.values, 'global.defaultPodDisruptionBudget.enabled') === true;
}
