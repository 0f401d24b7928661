// HorizontalPodAutoscalers: they keep the replica count between minReplicas and maxReplicas. Without a metrics server
// they do not scale within these limits, and their status says so.
import { timestamp } from '../../../kube/times.ts';
import { keyOf } from '../../../kube/objects.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import { collectionOf } from '../../registry.ts';
import { deployments, replicaSets, statefulSets } from '../../kinds/types.ts';
import type { Collection, Condition } from '../../kinds/types.ts';
import type { StoreEvent } from '../../store/types.ts';
import type { Controller } from '../loop.ts';
import { self, withCondition } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, statusOf, updateOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

interface Autoscaler extends KubeObject {
  readonly spec: {
    readonly minReplicas?: number;
    readonly maxReplicas: number;
    readonly metrics?: readonly { readonly type: string; readonly resource?: { readonly name: string } }[];
    readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
  };
  readonly status?: { readonly conditions?: readonly Condition[]; readonly desiredReplicas?: number };
}

interface Scalable extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

const autoscalers: Collection<Autoscaler> = 'horizontalpodautoscalers.autoscaling';

/** The message of a cluster without a metrics server. */
function noMetricsMessage({ spec }: Autoscaler): string {
  const name = spec.metrics?.find((metric) => metric.type === 'Resource')?.resource?.name ?? 'cpu';
  return (
    `the HPA was unable to compute the replica count: failed to get ${name} utilization: unable to get metrics for ` +
    `resource ${name}: unable to fetch metrics from resource metrics API: the server could not find the requested ` +
    'resource (get pods.metrics.k8s.io)'
  );
}

/** The replica count that the limits require, and why; undefined when `replicas` is within the limits. */
function clampReplicas({ spec }: Autoscaler, replicas: number): readonly [number, string] | undefined {
  const { minReplicas = 1, maxReplicas } = spec;
  // Zero replicas disable autoscaling.
  if (replicas === 0) return undefined;
  if (replicas > maxReplicas) return [maxReplicas, 'Current number of replicas above Spec.MaxReplicas'];
  return replicas < minReplicas ? [minReplicas, 'Current number of replicas below Spec.MinReplicas'] : undefined;
}

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
  const current = target?.spec?.replicas ?? 0;
  const rescaled = target === undefined ? undefined : clampReplicas(autoscaler, current);
  const active =
    target !== undefined && current === 0
      ? condition(
          'ScalingActive',
          false,
          'ScalingDisabled',
          'scaling is disabled since the replica count of the target is zero',
        )
      : condition('ScalingActive', false, 'FailedGetResourceMetric', noMetricsMessage(autoscaler));
  const reported =
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
          active,
        ];
  const conditions = reported.reduce<readonly Condition[]>(
    (all, one) => withCondition(all, one),
    autoscaler.status?.conditions ?? [],
  );
  const unknown = (autoscaler.spec.metrics ?? []).map(() => ({ type: '' }));
  const status = {
    conditions,
    ...(target !== undefined && unknown.length > 0 && { currentMetrics: unknown }),
    ...(current > 0 && { currentReplicas: current }),
    desiredReplicas: rescaled?.[0] ?? autoscaler.status?.desiredReplicas ?? 0,
  };
  const writes = sameJson(status, autoscaler.status ?? {}) ? [] : [statusOf(autoscaler, status)];
  if (target === undefined || rescaled === undefined) return { writes };
  const [replicas, why] = rescaled;
  const scaled: Scalable = { ...target, spec: { ...target.spec, replicas } };
  const message = (): string => `New size: ${replicas}; reason: ${why}`;
  const event = { about: autoscaler, type: 'Normal', reason: 'SuccessfulRescale', message } as const;
  return { writes: [updateOf(scaled, event), ...writes] };
}

/** The autoscalers whose target is the changed workload. */
function* autoscalersOf({ stored: { object } }: StoreEvent, world: World): Iterable<string> {
  const { kind, metadata } = object;
  for (const autoscaler of world.list(autoscalers, metadata.namespace)) {
    const { scaleTargetRef: target } = autoscaler.spec;
    if (target.kind === kind && target.name === metadata.name) yield keyOf(autoscaler.metadata);
  }
}

export const autoscalerController: Controller = {
  name: 'horizontal-pod-autoscaler',
  writer: controllerManager('horizontal-pod-autoscaler'),
  on: {
    [autoscalers]: self,
    [deployments]: autoscalersOf,
    [statefulSets]: autoscalersOf,
    [replicaSets]: autoscalersOf,
  },
  plan: (world, key) => {
    const autoscaler = world.get(autoscalers, key);
    return autoscaler === undefined ? nothing : planAutoscaler(world, autoscaler);
  },
};
