// Resource quotas: computes their usage, and refuses objects that would exceed them. simulate/policy/quota.ts updates
// their status.
import type { AnyObject, KubeObject } from '../../kube/objects.ts';
import { collectionOf } from '../registry.ts';
import { afterwards } from '../rest/write/commit.ts';
import type { AdmissionRequest, Cluster } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import { change } from '../rest/verbs/update.ts';
import { compareQuantities, formatQuantity } from '../../kube/quantity.ts';
import type { Collection, Labels, Pod } from '../kinds/types.ts';
import type { Store } from '../store/store.ts';
import { collectionOfUsage, countOf, quantityOf, sum, unspecified, usageOf } from './quota-usage.ts';

export interface ResourceQuota extends KubeObject {
  readonly spec?: {
    readonly hard?: Labels;
    readonly scopes?: readonly string[];
    readonly scopeSelector?: {
      readonly matchExpressions?: readonly {
        readonly scopeName: string;
        readonly operator: string;
        readonly values?: readonly string[];
      }[];
    };
  };
  readonly status?: { readonly hard?: Labels; readonly used?: Labels };
}

export const quotas: Collection<ResourceQuota> = 'resourcequotas';

/** Lists the objects of a collection in a namespace. */
type List = (collection: string, namespace: string) => readonly KubeObject[];

/** Does the object count towards the quota? A quota with scopes counts only pods that match all scopes. */
function isCounted(quota: ResourceQuota, collection: string, object: KubeObject): boolean {
  const scopes = [
    ...(quota.spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...(quota.spec?.scopeSelector?.matchExpressions ?? []),
  ];
  if (scopes.length === 0) return true;
  if (collection !== 'pods') return false;
  const { spec } = object as Pod;
  const bestEffort = [...spec.containers, ...(spec.initContainers ?? [])].every(({ resources }) =>
    [resources?.requests, resources?.limits].every(
      (side) => side?.['cpu'] === undefined && side?.['memory'] === undefined,
    ),
  );
  const { activeDeadlineSeconds, priorityClassName = '' } = spec as {
    activeDeadlineSeconds?: number;
    priorityClassName?: string;
  };
  return scopes.every(({ scopeName, operator, values = [] }) => {
    switch (scopeName) {
      case 'BestEffort':
        return bestEffort;
      case 'NotBestEffort':
        return !bestEffort;
      case 'Terminating':
        return activeDeadlineSeconds !== undefined;
      case 'NotTerminating':
        return activeDeadlineSeconds === undefined;
      case 'PriorityClass':
        return operator === 'Exists'
          ? priorityClassName !== ''
          : values.includes(priorityClassName) === (operator === 'In');
      default:
        return false;
    }
  });
}

/** The current usage of a quota. */
export function usedOf(quota: ResourceQuota, list: List): Labels {
  const names = Object.keys(quota.spec?.hard ?? {});
  const totals = new Map(names.map((name) => [name, countOf(0)]));
  for (const collection of new Set(names.map(collectionOfUsage))) {
    for (const object of list(collection, quota.metadata.namespace ?? '')) {
      if (!isCounted(quota, collection, object)) continue;
      for (const [name, amount] of usageOf(collection, object)) {
        const total = totals.get(name);
        if (total !== undefined) totals.set(name, sum(total, amount));
      }
    }
  }
  return Object.fromEntries([...totals].map(([name, total]) => [name, formatQuantity(total)]));
}

/** The latest creation in each namespace with quotas. */
const lastCreations = new WeakMap<Store, Map<string, Promise<unknown>>>();

/**
 * Creates an object if it does not exceed the quotas of its namespace; rejects with a Fault otherwise. Creations in
 * such a namespace run one at a time, because an object that is admitted but not stored yet is not counted.
 */
export async function createWithinQuotas<T>(
  cluster: Cluster,
  request: AdmissionRequest,
  write: () => Promise<T>,
): Promise<T> {
  const { resource, namespace } = request.target;
  const found = resource.namespaced ? cluster.store.list(quotas, { namespace }) : [];
  if (found.length === 0) return write();
  let byNamespace = lastCreations.get(cluster.store);
  if (byNamespace === undefined) lastCreations.set(cluster.store, (byNamespace = new Map()));
  const creation = afterwards(byNamespace.get(namespace), async () => {
    await reserve(cluster, request);
    return write();
  });
  // A failed creation must not fail those that wait for it.
  const done = creation.then(
    () => undefined,
    () => undefined,
  );
  byNamespace.set(namespace, done);
  try {
    return await creation;
  } finally {
    if (byNamespace.get(namespace) === done) byNamespace.delete(namespace);
  }
}

/** Adds a new object to the usage of the quotas; throws a Fault when it exceeds one. */
async function reserve(cluster: Cluster, { target, object, options }: AdmissionRequest): Promise<void> {
  const resource = cluster.registry.find('', 'v1', 'resourcequotas');
  if (object === undefined || resource === undefined) return;
  const found = cluster.store.list(quotas, { namespace: target.namespace });
  const collection = collectionOf(target.resource);
  const list: List = (name, namespace) => cluster.store.list(name, { namespace }).map((stored) => stored.object);
  for (const { object: stored } of found) {
    const quota = stored as unknown as ResourceQuota;
    const usage = usageOf(collection, object);
    const names = Object.keys(quota.spec?.hard ?? {}).filter((name) => usage.has(name));
    if (names.length === 0 || !isCounted(quota, collection, object)) continue;
    const refuse = (why: string): never => {
      throw forbidden(target.resource, target.name, why);
    };
    if (collection === 'pods') {
      const missing = [...unspecified(object as unknown as Pod, names.toSorted())];
      const text = missing.map(([name, containers]) => `${name} for: ${containers.join(',')}`).join('; ');
      if (text !== '') refuse(`failed quota: ${quota.metadata.name}: must specify ${text}`);
    }
    const mutate = (old: AnyObject): { object: AnyObject } => {
      const current = old as unknown as ResourceQuota;
      const hard = current.spec?.hard ?? {};
      // Computed from the objects, because the status may be outdated.
      const used: Record<string, string> = { ...usedOf(current, list) };
      const exceeded: string[] = [];
      const before = { ...used };
      for (const name of names) {
        const amount = usage.get(name)!;
        const total = sum(quantityOf(used[name] ?? '0'), amount);
        if (amount.nano > 0n && compareQuantities(total, quantityOf(hard[name])) > 0) exceeded.push(name);
        used[name] = formatQuantity(total);
      }
      if (exceeded.length > 0) {
        const show = (read: (name: string) => string): string =>
          exceeded
            .toSorted()
            .map((name) => `${name}=${read(name)}`)
            .join(',');
        refuse(
          `exceeded quota: ${quota.metadata.name}, requested: ${show((name) => formatQuantity(usage.get(name)!))}, ` +
            `used: ${show((name) => before[name] ?? '0')}, limited: ${show((name) => hard[name]!)}`,
        );
      }
      return { object: { ...old, status: { hard, used } } };
    };
    const quotaTarget = { resource, namespace: target.namespace, name: quota.metadata.name, subresource: 'status' };
    await change(cluster, quotaTarget, mutate, options);
  }
}
