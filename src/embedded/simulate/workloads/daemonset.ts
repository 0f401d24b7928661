// DaemonSets: one pod on every node that matches the pod template.
import type { KubeObject } from '../../../kube/objects.ts';
import { sameJson } from '../../patch/json.ts';
import { daemonSets, nodes as nodeCollection, pods as podCollection } from '../../kinds/types.ts';
import type { DaemonSet, Node, Pod, PodTemplate } from '../../kinds/types.ts';
import type { Controller } from '../loop.ts';
import { whyUnschedulable } from '../pods/nodes.ts';
import {
  createPod,
  claim,
  deletePod,
  isActive,
  isAvailable,
  isReady,
  nextAvailableInMs,
  podFrom,
} from '../pods/pods.ts';
import { truncateHistory, withRevisionLabel, labelOf, revisionLabel, revisionsOf } from './revisions.ts';
import { byAge, ownersOfKind, ownersOrSelectors, resolveCount, safeSelector, self, withoutZeros } from '../values.ts';
import type { World } from '../world.ts';
import { controllerManager, nothing, statusOf } from '../writes.ts';
import type { NewObject, Plan, Write } from '../writes.ts';

/** Taints that every daemon pod tolerates. */
const daemonTaints = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
] as const;

/** Adds the deprecated label with the template generation, which pods still carry. */
function withTemplateGeneration(set: DaemonSet, template: PodTemplate): PodTemplate {
  const number = set.metadata.annotations?.['deprecated.daemonset.template.generation'];
  if (number === undefined) return template;
  const labels = { ...template.metadata?.labels, 'pod-template-generation': number };
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Adds the tolerations that let daemon pods run on nodes with problems. */
function withDaemonTolerations(template: PodTemplate): PodTemplate {
  const added = daemonTaints.map(([key, effect]) => ({ key, operator: 'Exists', effect }));
  const present = template.spec.tolerations ?? [];
  const missing = added.filter((one) => !present.some((other) => sameJson(one, other)));
  return { ...template, spec: { ...template.spec, tolerations: [...present, ...missing] } };
}

/** A daemon pod for one node. Its node affinity names the node; the scheduler binds it. */
function daemonFor(set: DaemonSet, template: PodTemplate, node: Node): NewObject {
  const pod = podFrom(template, set);
  const field = { key: 'metadata.name', operator: 'In', values: [node.metadata.name] };
  const { affinity } = template.spec;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [{}];
  const nodeSelectorTerms = required.map((term) => ({ ...term, matchFields: [field] }));
  const nodeAffinity = {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  };
  return { ...pod, spec: { ...template.spec, affinity: { ...affinity, nodeAffinity } } };
}

/** The node that a daemon pod runs on, or is meant for. */
function nodeOf(pod: Pod): string {
  if (pod.spec.nodeName !== undefined && pod.spec.nodeName !== '') return pod.spec.nodeName;
  const terms = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms?.[0]?.matchFields?.[0]?.values?.[0] ?? '';
}

export function planDaemonSet(world: World, set: DaemonSet): Plan {
  const now = world.now();
  const { owned, writes: claimed } = claim(world, set, podCollection, safeSelector(set.spec.selector));
  if (claimed.length > 0) return { writes: claimed };
  const revisions = revisionsOf(world, set);
  if (revisions.writes.length > 0) return { writes: revisions.writes };
  const template = withDaemonTolerations(
    withTemplateGeneration(set, withRevisionLabel(set, set.spec.template, revisions.update)),
  );
  const nodes = world.list(nodeCollection);
  const fitting = nodes.filter((node) => whyUnschedulable(node, template.spec) === undefined);
  const onNode = Map.groupBy(owned, nodeOf);
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  const isUpdated = (pod: Pod): boolean => pod.metadata.labels?.[revisionLabel] === labelOf(set, revisions.update);
  const isUp = (pod: Pod): boolean => isActive(pod) && isAvailable(pod, minReadySeconds, now);
  const writes: Write[] = [];
  if (set.metadata.deletionTimestamp === undefined) {
    for (const node of fitting) {
      const [kept, ...surplus] = (onNode.get(node.metadata.name) ?? []).filter((pod) => isActive(pod)).toSorted(byAge);
      const ended = (onNode.get(node.metadata.name) ?? []).filter((pod) => pod.status?.phase === 'Failed');
      if (kept === undefined && !someAreDeleted(onNode.get(node.metadata.name)))
        writes.push(createPod(daemonFor(set, template, node), set));
      writes.push(...[...surplus, ...ended.filter(isNotDeleted)].map((pod) => deletePod(pod, set)));
    }
    const fittingNames = new Set(fitting.map((node) => node.metadata.name));
    const stray = owned.filter((pod) => isNotDeleted(pod) && !fittingNames.has(nodeOf(pod)));
    writes.push(...stray.map((pod) => deletePod(pod, set)));
    if (writes.length === 0) writes.push(...outdatedDeletions(set, fitting, owned, isUpdated, isUp));
  }
  const inUse = new Set([revisions.update, ...owned.map((pod) => pod.metadata.labels?.[revisionLabel] ?? '')]);
  writes.push(...truncateHistory(set, revisions, inUse));
  const daemons = fitting.flatMap((node) => {
    const candidates = (onNode.get(node.metadata.name) ?? []).filter(isActive).toSorted(byAge);
    return candidates.slice(0, 1);
  });
  const available = daemons.filter((pod) => isUp(pod)).length;
  const status = {
    currentNumberScheduled: daemons.length,
    numberMisscheduled: owned.filter(
      (pod) => isActive(pod) && !fitting.some((node) => node.metadata.name === nodeOf(pod)),
    ).length,
    desiredNumberScheduled: fitting.length,
    numberReady: daemons.filter(isReady).length,
    ...withoutZeros({
      observedGeneration: set.metadata.generation,
      updatedNumberScheduled: daemons.filter(isUpdated).length,
      numberAvailable: available,
      numberUnavailable: fitting.length - available,
    }),
  };
  if (!sameJson(status, set.status ?? {})) writes.push(statusOf(set, status));
  const requeueAfterMs = nextAvailableInMs(daemons, minReadySeconds, now);
  return { writes, ...(requeueAfterMs !== undefined && { requeueAfterMs }) };
}

function isNotDeleted(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp === undefined;
}

/** True while an earlier daemon pod is being deleted: its replacement waits for that. */
function someAreDeleted(pods: readonly Pod[] | undefined): boolean {
  return pods?.some((pod) => !isNotDeleted(pod)) === true;
}

/** Deletes outdated pods: all that are unavailable, and as many others as maxUnavailable allows. */
function outdatedDeletions(
  set: DaemonSet,
  fitting: readonly Node[],
  pods: readonly Pod[],
  isUpdated: (pod: Pod) => boolean,
  isUp: (pod: Pod) => boolean,
): Write[] {
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return [];
  const allowed = Math.max(1, resolveCount(rollingUpdate?.maxUnavailable ?? 1, fitting.length, true));
  const missing = fitting.length - pods.filter(isUp).length;
  const outdated = pods.filter((pod) => isActive(pod) && !isUpdated(pod));
  const down = outdated.filter((pod) => !isUp(pod));
  const up = outdated.filter(isUp).slice(0, Math.max(0, allowed - missing));
  return [...down, ...up].map((pod) => deletePod(pod, set));
}

export const daemonSetController: Controller = {
  name: 'daemon-set-controller',
  writer: controllerManager('daemon-set-controller', 'daemonset-controller'),
  on: {
    [daemonSets]: self,
    pods: ownersOrSelectors('DaemonSet', daemonSets),
    'controllerrevisions.apps': ownersOfKind('DaemonSet'),
    nodes: (_event, world) => world.list(daemonSets).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  },
  plan: (world, key) => {
    const set = world.get(daemonSets, key);
    return set === undefined ? nothing : planDaemonSet(world, set);
  },
};
