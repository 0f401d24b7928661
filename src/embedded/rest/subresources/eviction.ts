// `pods/eviction`: a deletion that respects PodDisruptionBudgets.
import type { AnyObject } from '../../../kube/objects.ts';
import { matches, selectorOf } from '../../../kube/selector.ts';
import type { LabelSelector } from '../../../kube/selector.ts';
import type { Answer } from '../wire/answer.ts';
import type { Cluster, Target, WriteOptions } from '../context.ts';
import { deleteOptionsOf, remove } from '../verbs/delete.ts';
import { badRequest, Fault } from '../fault.ts';
import { part } from '../rules/types.ts';
import { change } from '../verbs/update.ts';

/** Deletes a pod unless a PodDisruptionBudget currently forbids it. */
export async function evict(
  cluster: Cluster,
  target: Target,
  pod: AnyObject,
  body: Readonly<Record<string, unknown>>,
  options: WriteOptions,
): Promise<Answer> {
  const eviction = body as { deleteOptions?: { dryRun?: unknown }; metadata?: { name?: unknown } };
  if (eviction.metadata?.name !== undefined && eviction.metadata.name !== target.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const dryRun = options.dryRun || Array.isArray(eviction.deleteOptions?.dryRun);
  const request = deleteOptionsOf(eviction.deleteOptions ?? undefined, new URLSearchParams());
  await spendBudget(cluster, pod, { ...options, dryRun });
  await remove(cluster, { ...target, subresource: '' }, request, { ...options, dryRun });
  return { code: 201, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } };
}

async function spendBudget(cluster: Cluster, pod: AnyObject, options: WriteOptions): Promise<void> {
  const resource = cluster.registry.find('policy', 'v1', 'poddisruptionbudgets');
  const { namespace = '', labels } = pod.metadata;
  const budget = cluster.store
    .list('poddisruptionbudgets.policy', { namespace })
    .find(({ object }) =>
      matches(selectorOf((part(object, 'spec')['selector'] ?? {}) as LabelSelector), labels),
    )?.object;
  if (resource === undefined || budget === undefined) return;
  const target = { resource, namespace, name: budget.metadata.name, subresource: 'status' };
  const mutate = (old: AnyObject): { object: AnyObject } => {
    const status = part(old, 'status');
    const allowed = Number(status['disruptionsAllowed'] ?? 0);
    if (allowed <= 0) throw overBudget(old.metadata.name, status);
    return { object: { ...old, status: { ...status, disruptionsAllowed: allowed - 1 } } };
  };
  await change(cluster, target, mutate, options);
}

function overBudget(name: string, status: Readonly<Record<string, unknown>>): Fault {
  const { desiredHealthy = 0, currentHealthy = 0 } = status as { desiredHealthy?: number; currentHealthy?: number };
  const message = `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  return new Fault(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message }],
  });
}
