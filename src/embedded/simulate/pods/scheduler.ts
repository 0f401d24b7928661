// The scheduler: binds pods to nodes, or reports why a pod cannot be scheduled.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import { nodes as nodeCollection, pods } from '../../kinds/types.ts';
import type { Condition, Pod } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { whyUnschedulable } from './nodes.ts';
import { conditionOf, withCondition } from '../values.ts';
import type { World } from '../world.ts';
import { nothing, statusOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

function isUnscheduled(pod: Pod): boolean {
  const { nodeName = '', schedulerName = 'default-scheduler' } = pod.spec;
  return nodeName === '' && schedulerName === 'default-scheduler' && pod.metadata.deletionTimestamp === undefined;
}

function planScheduling(world: World, pod: Pod): Plan {
  if (!isUnscheduled(pod)) return nothing;
  if ((pod.spec.schedulingGates ?? []).length > 0) {
    return unschedulable(world, pod, 'SchedulingGated', 'Scheduling is blocked due to non-empty scheduling gates');
  }
  const nodes = world.list(nodeCollection);
  const reasons = nodes.map((node) => whyUnschedulable(node, pod.spec));
  const candidates = nodes.filter((_node, index) => reasons[index] === undefined);
  if (candidates.length === 0) return unschedulable(world, pod, 'Unschedulable', explain(reasons));
  // The last digits of the uid are as good as random, and the choice stays the same at every attempt.
  const choice = candidates[Number.parseInt((pod.metadata.uid ?? '0').slice(-6), 16) % candidates.length]!;
  const bound = { ...pod, spec: { ...pod.spec, nodeName: choice.metadata.name } };
  const { namespace, name } = pod.metadata;
  const message = (): string => `Successfully assigned ${namespace}/${name} to ${choice.metadata.name}`;
  const event = { about: pod, type: 'Normal', reason: 'Scheduled', message } as const;
  return { writes: [{ verb: 'update', object: bound, subresource: 'binding', event }] };
}

const reasonTexts: readonly (readonly [string, string])[] = [
  ['selector', "node(s) didn't match Pod's node affinity/selector"],
  ['taint', 'node(s) had untolerated taint(s)'],
  ['unschedulable', 'node(s) were unschedulable'],
];

function explain(reasons: readonly (string | undefined)[]): string {
  const total = reasons.length;
  if (total === 0) return 'no nodes available to schedule pods';
  const parts = reasonTexts.flatMap(([reason, text]) => {
    const count = reasons.filter((one) => one === reason).length;
    return count === 0 ? [] : [`${count} ${text}`];
  });
  return (
    `0/${total} nodes are available: ${parts.join(', ')}. ` +
    `no new claims to deallocate, preemption: 0/${total} nodes are available: ${total} Preemption is not helpful for scheduling.`
  );
}

function unschedulable(world: World, pod: Pod, reason: string, message: string): Plan {
  const before = pod.status?.conditions;
  const previous = conditionOf(before, 'PodScheduled');
  const lastTransitionTime = timestamp(world.now());
  const { generation } = pod.metadata;
  const observed = reason === 'Unschedulable' && generation !== undefined ? { observedGeneration: generation } : {};
  const next: Condition = { type: 'PodScheduled', status: 'False', reason, message, lastTransitionTime, ...observed };
  const conditions = withCondition(before, next);
  if (previous !== undefined && sameJson(conditions, before)) return nothing;
  return { writes: [statusOf(pod, { ...pod.status, conditions })] };
}

/** Unscheduled pods may fit on a new or changed node. */
function waitingPods(_event: unknown, world: World): string[] {
  return world
    .list(pods)
    .filter(isUnscheduled)
    .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

export const schedulerController: Controller = {
  name: 'scheduler',
  writer: {
    user: { username: 'system:kube-scheduler', groups: ['system:authenticated'] },
    manager: 'kube-scheduler',
    component: 'default-scheduler',
  },
  on: {
    pods: ({ type, stored }) => (type !== 'DELETED' && isUnscheduled(asPod(stored.object)) ? [stored.key] : []),
    nodes: (event, world) => {
      const { type, stored, previous } = event;
      if (
        type === 'DELETED' ||
        (previous && sameJson(schedulingFields(previous.object), schedulingFields(stored.object)))
      )
        return [];
      return waitingPods(event, world);
    },
  },
  plan: (world, key) => {
    const pod = world.get(pods, key);
    return pod === undefined ? nothing : planScheduling(world, pod);
  },
};

/** The parts of a node that decide which pods can be scheduled on it. */
function schedulingFields(node: AnyObject): unknown {
  return [node.metadata.labels, node['spec']];
}

function asPod(object: AnyObject): Pod {
  return object as unknown as Pod;
}
