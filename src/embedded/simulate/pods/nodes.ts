// The nodes of the embedded cluster: their status, and which pods can be scheduled on them.
import { timestamp } from '../../../kube/times.ts';
import type { Node, NodeRequirement, NodeSelectorTerm, PodSpec } from '../../kinds/types.ts';
import type { NewObject } from '../writes.ts';

const version = 'v1.36.0';

/** A simulated node; numbers start at 1. */
export function newNode(number: number, now: number): NewObject {
  const name = `offshoot-node-${number}`;
  const resources = { cpu: '256', 'ephemeral-storage': '1Ti', memory: '1Ti', pods: '10000' };
  const time = timestamp(now);
  const condition = (type: string, status: string, reason: string, message: string): unknown => ({
    type,
    status,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason,
    message,
  });
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
      },
    },
    spec: {},
    status: {
      addresses: [
        { type: 'InternalIP', address: `192.0.2.${number}` },
        { type: 'Hostname', address: name },
      ],
      allocatable: resources,
      capacity: resources,
      conditions: [
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
        condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: {
        architecture: 'amd64',
        bootID: name,
        containerRuntimeVersion: 'simulated://1',
        kernelVersion: 'simulated',
        kubeProxyVersion: '',
        kubeletVersion: version,
        machineID: name,
        operatingSystem: 'linux',
        osImage: 'simulated',
        systemUUID: name,
      },
    },
  };
}

export function addressOf(node: Node | undefined): string {
  return node?.status?.addresses?.find((address) => address.type === 'InternalIP')?.address ?? '192.0.2.254';
}

/** Why a pod cannot be scheduled on a node; undefined when it can. */
export function whyUnschedulable(node: Node, spec: PodSpec): 'unschedulable' | 'selector' | 'taint' | undefined {
  if (!selects(node, spec)) return 'selector';
  const tolerations = spec.tolerations ?? [];
  const taints = [
    ...(node.spec?.taints ?? []),
    ...(node.spec?.unschedulable === true ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] : []),
  ];
  const untolerated = taints.find(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !tolerations.some(
        ({ key = '', operator = 'Equal', value = '', effect = '' }) =>
          (effect === '' || effect === taint.effect) &&
          (key === '' ? operator === 'Exists' : key === taint.key) &&
          (operator === 'Exists' || value === ('value' in taint ? (taint.value ?? '') : '')),
      ),
  );
  if (untolerated === undefined) return undefined;
  return untolerated.key === 'node.kubernetes.io/unschedulable' ? 'unschedulable' : 'taint';
}

function selects(node: Node, spec: PodSpec): boolean {
  const labels = node.metadata.labels ?? {};
  if (Object.entries(spec.nodeSelector ?? {}).some(([name, value]) => labels[name] !== value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => termHolds(term, node));
}

function termHolds({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((one) => holds(one, node.metadata.labels?.[one.key])) &&
    matchFields.every((one) => holds(one, one.key === 'metadata.name' ? node.metadata.name : undefined))
  );
}

function holds({ operator, values = [] }: NodeRequirement, found: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return found !== undefined && values.includes(found);
    case 'NotIn':
      return found === undefined || !values.includes(found);
    case 'Exists':
      return found !== undefined;
    case 'DoesNotExist':
      return found === undefined;
    case 'Gt':
      return Number(found) > Number(values[0]);
    case 'Lt':
      return Number(found) < Number(values[0]);
    default:
      return false;
  }
}
