// The tables that restarts read, and the kinds of workloads that can be restarted.
import { defineKind, defineTable, keyOf } from '../../kube/index.ts';
import type { KubeObject, TableKind } from '../../kube/index.ts';
import type { ConfigMap } from '../installation/operator/companions.ts';
import { ISTIO_NAMESPACE } from '../names.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import type { DisruptionBudget } from './budgets.ts';
import { lastRestart } from './restart-annotations.ts';
import type { WorkloadRef } from './owners.ts';
import { slimBudget, slimPod, slimReplicaSet, slimWorkload } from './slim.ts';

/** Workloads by the hash of the desired state for which they were restarted. */
const indexes = {
  restartedFor: (workload: Workload): readonly string[] => {
    const restart = lastRestart(workload);
    return restart === undefined ? [] : [restart.for];
  },
};

const workloads = (apiVersion: string, kind: string, plural: string): TableKind<Workload> =>
  defineTable(defineKind<Workload>(apiVersion, kind, plural), { transform: slimWorkload, indexes });

export const Deployments = workloads('apps/v1', 'Deployment', 'deployments');
export const DaemonSets = workloads('apps/v1', 'DaemonSet', 'daemonsets');
export const ReplicaSets = defineTable(defineKind<Workload>('apps/v1', 'ReplicaSet', 'replicasets'), {
  transform: slimReplicaSet,
  indexes,
});

/** The kinds that can be restarted. */
const WORKLOADS: ReadonlyMap<string, TableKind<Workload>> = new Map(
  [
    Deployments,
    workloads('apps/v1', 'StatefulSet', 'statefulsets'),
    DaemonSets,
    ReplicaSets,
    workloads('v1', 'ReplicationController', 'replicationcontrollers'),
    defineTable(defineKind<Workload>('argoproj.io/v1alpha1', 'Rollout', 'rollouts'), {
      transform: slimWorkload,
      indexes,
      optional: true,
    }),
  ].map((table) => [table.kind, table]),
);

/** The tables of all kinds of workloads that can be restarted. */
export const workloadTables: readonly TableKind<Workload>[] = [...WORKLOADS.values()];

/** The table of a workload's kind. */
export function workloadTable({ kind }: Pick<WorkloadRef, 'kind'>): TableKind<Workload> {
  const table = WORKLOADS.get(kind);
  if (table === undefined) throw new Error(`workloads of kind ${kind} can't be restarted`);
  return table;
}

/** All pods, by their owners. */
export const Pods = defineTable(defineKind<Pod>('v1', 'Pod', 'pods'), {
  transform: slimPod,
  indexes: {
    owner: ({ metadata }) =>
      (metadata.ownerReferences ?? []).map(({ kind, name }) => podOwner(kind, { ...metadata, name })),
  },
});

/** The key of an owner in the index of pods. */
export function podOwner(kind: string, ref: { readonly namespace?: string; readonly name: string }): string {
  return `${kind} ${keyOf(ref)}`;
}

export const Namespaces = defineTable(defineKind('v1', 'Namespace', 'namespaces', { namespaced: false }), {
  metadataOnly: true,
  optional: true,
});

export const DisruptionBudgets = defineTable(
  defineKind<DisruptionBudget>('policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets'),
  { transform: slimBudget },
);

/** The configuration of Istio. */
export const ConfigMaps = defineTable(defineKind<ConfigMap>('v1', 'ConfigMap', 'configmaps'), {
  namespace: ISTIO_NAMESPACE,
});

export const EnvoyFilters = defineTable(
  defineKind<KubeObject>('networking.istio.io/v1alpha3', 'EnvoyFilter', 'envoyfilters'),
  {
    namespace: ISTIO_NAMESPACE,
    metadataOnly: true,
  },
);

export const MutatingWebhooks = defineTable(
  defineKind<KubeObject>(
    'admissionregistration.k8s.io/v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    { namespaced: false },
  ),
  { metadataOnly: true },
);
