// HorizontalPodAutoscalers: there are no metrics to scale by, and their status says so.
import { timestamp } from '../../kube/times.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { sameJson } from '../patch/json.ts';
import { collectionOf } from '../registry.ts';
import type { Collection, Condition } from '../kinds/types.ts';
import type { Controller } from './loop.ts';
import { self, withCondition } from './values.ts';
import type { World } from './world.ts';
import { controllerManager, nothing, statusOf } from './writes.ts';
import type { Plan } from './writes.ts';

interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly metrics?: readonly { readonly type: string; readonly resource?: { readonly name: string } }[];
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Scalable extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

const autoscalers: Collection<Autoscaler> = 'horizontalpodautoscalers.autoscaling';

/** What a cluster without a metrics server says. */
function withoutMetrics({ spec }: Autoscaler): string {
  const name = spec.metrics?.find((metric) => metric.type === 'Resource')?.resource?.name ?? 'cpu';
  return (
    `the HPA was unable to compute the replica count: failed to get ${name} utilization: unable to get metrics for ` +
    `resource ${name}: unable to fetch metrics from resource metrics API: the server could not find the requested ` +
    'resource (get pods.metrics.k8s.io)'
  );
}

/** What the status of an autoscaler should say. */
function planAutoscaler(world: World, autoscaler: Autoscaler): Plan {
  const { apiVersion = 'v1', kind, name } = autoscaler.spec.scaleTargetRef;
  const resource = world.resourceOfKind(apiVersion, kind);
  const collection: Collection<Scalable> = resource === undefined ? '' : collectionOf(resource);
  const target = world.get(collection, `${autoscaler.metadata.namespace}/${name}`);
  const condition = (type: string, holds: boolean, reason: string, message: string): Condition => ({
    type,
    status: holds ? 'True' : 'False',
    reason,
    message,
    lastTransitionTime: timestamp(world.now()),
  });
  const told =
    target === undefined
      ? [
          condition(
            'AbleToScale',
            false,
            'FailedGetScale',
            `the HPA controller was unable to get the target's current scale: ${resource?.plural ?? kind} "${name}" not found`,
          ),
        ]
      : [
          condition(
            'AbleToScale',
            true,
            'SucceededGetScale',
            "the HPA controller was able to get the target's current scale",
          ),
          condition('ScalingActive', false, 'FailedGetResourceMetric', withoutMetrics(autoscaler)),
        ];
  const conditions = told.reduce<readonly Condition[]>(
    (all, one) => withCondition(all, one),
    autoscaler.status?.conditions ?? [],
  );
  const currentReplicas = target?.spec?.replicas ?? 0;
  const unknown = (autoscaler.spec.metrics ?? []).map(() => ({ type: '' }));
  const status = {
    conditions,
    ...(target !== undefined && unknown.length > 0 && { currentMetrics: unknown }),
    ...(currentReplicas > 0 && { currentReplicas }),
    desiredReplicas: 0,
  };
  return sameJson(status, autoscaler.status ?? {}) ? nothing : { writes: [statusOf(autoscaler, status)] };
}

export const autoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler',
  writer: controllerManager('horizontal-pod-autoscaler'),
  on: { [autoscalers]: self },
  plan: (world, key) => {
    const autoscaler = world.get(autoscalers, key);
    return autoscaler === undefined ? nothing : planAutoscaler(world, autoscaler);
  },
};
