// The kubelet of all nodes: it starts, runs and terminates the pods that are bound to a node, as pod-status.ts says.
import { timestamp } from '../../../kube/times.ts';
import type { AnyObject } from '../../../kube/objects.ts';
import { nodes, pods } from '../../kinds/types.ts';
import type { Pod } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { addressOf } from './nodes.ts';
import { reportOn } from './pod-status.ts';
import { conditionOf } from '../values.ts';
import type { World } from '../world.ts';
import { deleteOf, nothing, statusOf } from '../writes.ts';
import type { Plan } from '../writes.ts';

/** What the kubelet knows beyond the pod object. */
interface PodContext {
  /** Time since the kubelet first saw the pod. */
  readonly ageMs: number;
  /** Allocates an IP that no other pod has. */
  readonly allocateIP: () => string;
}

function planPod(world: World, pod: Pod, context: PodContext): Plan {
  const { nodeName = '' } = pod.spec;
  const node = world.get(nodes, nodeName);
  if (node === undefined) return nothing;
  if (pod.metadata.deletionTimestamp !== undefined) {
    return needsFinalDelete(pod) ? { writes: [deleteOf(pod, { gracePeriodSeconds: 0 })] } : nothing;
  }
  const now = world.now();
  const scheduled = withScheduled(pod, timestamp(now));
  const { status, requeueAfterMs } = reportOn(scheduled, { now, hostIP: addressOf(node), ...context });
  const writes = status === undefined ? [] : [statusOf(pod, { ...pod.status, ...status })];
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

/** False when the pod waits only for its finalizers. */
function needsFinalDelete({ metadata }: Pod): boolean {
  return (metadata.deletionGracePeriodSeconds ?? 0) > 0 || (metadata.finalizers ?? []).length === 0;
}

/** A pod with a node counts as scheduled, even if nodeName was set by hand. */
function withScheduled(pod: Pod, lastTransitionTime: string): Pod {
  const conditions = pod.status?.conditions ?? [];
  if (conditionOf(conditions, 'PodScheduled')?.status === 'True') return pod;
  const others = conditions.filter((condition) => condition.type !== 'PodScheduled');
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime } as const;
  return { ...pod, status: { ...pod.status, conditions: [...others, scheduled] } };
}

/** Allocates pod IPs from 10.244.0.0/16 upwards, each once, starting after those in use. */
class Addresses {
  #last = 0;

  /** Marks an IP as used. */
  use(address: string): void {
    const parts = /^10\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
    if (parts === null) return;
    const number = (Number(parts[1]) - 244) * 65_536 + Number(parts[2]) * 256 + Number(parts[3]);
    this.#last = Math.max(this.#last, number);
  }

  next(): string {
    const number = ++this.#last;
    return `10.${244 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
  }
}

export function kubeletController(): Controller {
  const addresses = new Addresses();
  /** When each pod was first seen; the timestamps in its status are too coarse for short delays. */
  const firstSeen = new Map<string, number>();
  return {
    name: 'kubelet',
    writer: {
      user: { username: 'system:node:offshoot-node-1', groups: ['system:nodes', 'system:authenticated'] },
      manager: 'kubelet',
      component: 'kubelet',
    },
    on: {
      pods: ({ type, stored }) => {
        const { spec, status } = stored.object as unknown as Pod;
        if (status?.podIP !== undefined) addresses.use(status.podIP);
        if (type === 'DELETED') firstSeen.delete(stored.object.metadata.uid!);
        return type === 'DELETED' || (spec.nodeName ?? '') === '' ? [] : [stored.key];
      },
    },
    plan: (world, key) => {
      const pod = world.get(pods, key);
      if (pod === undefined) return nothing;
      const now = world.now();
      const since = firstSeen.get(pod.metadata.uid!) ?? (Date.parse(pod.status?.startTime ?? '') || now);
      firstSeen.set(pod.metadata.uid!, since);
      return planPod(world, pod, { ageMs: now - since, allocateIP: () => addresses.next() });
    },
  };
}

/** The simulated log of a container. */
export function podLog(pod: AnyObject, container: string): string {
  const { spec, status } = pod as unknown as Pod;
  const described = [...spec.containers, ...(spec.initContainers ?? [])].find((one) => one.name === container);
  const reports = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const state = reports.find((one) => one.name === container);
  const ended = state?.state?.terminated ?? state?.lastState?.terminated;
  const startedAt = state?.state?.running?.startedAt ?? ended?.startedAt;
  if (startedAt === undefined) return '';
  const lines = [
    `${startedAt} simulated container ${container} of pod ${pod.metadata.name} started`,
    `${startedAt} image ${described?.image ?? ''}`,
  ];
  if (ended !== undefined) lines.push(`${ended.finishedAt} exited with code ${ended.exitCode}`);
  return `${lines.join('\n')}\n`;
}
