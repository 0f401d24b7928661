// VerticalPodAutoscalers for this program and for the control plane.
import type { AnyObject } from '../../kube/index.ts';
import { EGRESS_GATEWAY, INGRESS_GATEWAY, ISTIO_NAMESPACE, MODULE_NAMESPACE } from '../names.ts';

interface Target {
  readonly name: string;
  readonly namespace: string;
  readonly targetKind: 'Deployment' | 'DaemonSet';
  readonly target: string;
  readonly updatePolicy: object;
  readonly policy: object;
}

function autoscaler({ name, namespace, targetKind, target, updatePolicy, policy }: Target): AnyObject {
  return {
    apiVersion: 'autoscaling.k8s.io/v1',
    kind: 'VerticalPodAutoscaler',
    metadata: { name, namespace },
    spec: {
      targetRef: { apiVersion: 'apps/v1', kind: targetKind, name: target },
      updatePolicy,
      resourcePolicy: { containerPolicies: [policy] },
    },
  };
}

const UPDATE = { updateMode: 'InPlaceOrRecreate' };

export function operatorAutoscaler(): AnyObject {
  return autoscaler({
    name: 'istio-operator-vpa',
    namespace: MODULE_NAMESPACE,
    targetKind: 'Deployment',
    target: 'istio-controller-manager',
    updatePolicy: { ...UPDATE, minReplicas: 1 },
    policy: {
      containerName: 'manager',
      minAllowed: { cpu: '10m', memory: '64Mi' },
      maxAllowed: { cpu: '10000m', memory: '16Gi' },
    },
  });
}

/** Only for memory, as replicas are scaled by CPU. */
export function controlPlaneAutoscalers(): readonly AnyObject[] {
  const targets = [
    ['istiod', 'Deployment', '512Mi'],
    [INGRESS_GATEWAY, 'Deployment', '128Mi'],
    [EGRESS_GATEWAY, 'Deployment', '128Mi'],
    ['istio-cni-node', 'DaemonSet', '512Mi'],
  ] as const;
  return targets.map(([target, targetKind, memory]) =>
    autoscaler({
      name: `${target}-vpa`,
      namespace: ISTIO_NAMESPACE,
      targetKind,
      target,
      updatePolicy: UPDATE,
      policy: {
        containerName: '*',
        controlledResources: ['memory'],
        controlledValues: 'RequestsAndLimits',
        minAllowed: { memory },
        maxAllowed: { memory: '16Gi' },
      },
    }),
  );
}
