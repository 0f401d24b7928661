// How much of what a resource quota limits an object uses.
import type { JsonObject, KubeObject } from '../../kube/objects.ts';
import { parseQuantity } from '../../kube/quantity.ts';
import type { Quantity } from '../../kube/quantity.ts';
import type { Container, Pod, Service } from '../kinds/types.ts';

/** By the name that a quota uses, such as `pods` or `requests.cpu`. */
export type Usage = ReadonlyMap<string, Quantity>;

const none: Quantity = { nano: 0n, format: 'decimal' };
const computed = ['cpu', 'memory', 'ephemeral-storage'] as const;
/** Kinds that a quota can name without `count/`. */
const countable = new Set([
  'pods',
  'services',
  'secrets',
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'persistentvolumeclaims',
]);

export function quantityOf(text: unknown): Quantity {
  return parseQuantity(String(text)) ?? none;
}

export function countOf(count: number): Quantity {
  return { nano: BigInt(count) * 1_000_000_000n, format: 'decimal' };
}

/** The sum; its unit is that of the first that is not zero. */
export function sum(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

function largest(left: Quantity, right: Quantity): Quantity {
  return left.nano >= right.nano ? left : right;
}

/** What one object of a collection uses. */
export function usageOf(collection: string, object: KubeObject): Usage {
  const usage = new Map<string, Quantity>([[`count/${collection}`, countOf(1)]]);
  if (collection === 'pods') addPod(usage, object as Pod);
  else if (countable.has(collection)) usage.set(collection, countOf(1));
  if (collection === 'services') addService(usage, object as Service);
  if (collection === 'persistentvolumeclaims') {
    const { resources } = (object as unknown as { spec: { resources?: Container['resources'] } }).spec;
    usage.set('requests.storage', quantityOf(resources?.requests?.['storage'] ?? '0'));
  }
  return usage;
}

function addService(usage: Map<string, Quantity>, { spec }: Service): void {
  const outside = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  usage.set('services.nodeports', countOf(outside ? (spec.ports ?? []).length : 0));
  usage.set('services.loadbalancers', countOf(spec.type === 'LoadBalancer' ? 1 : 0));
}

/** Pods that ended use nothing but their place in `count/pods`. */
function addPod(usage: Map<string, Quantity>, pod: Pod): void {
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') return;
  usage.set('pods', countOf(1));
  for (const name of computed) {
    const requested = podTotal(pod, 'requests', name);
    usage.set(name, requested);
    usage.set(`requests.${name}`, requested);
    usage.set(`limits.${name}`, podTotal(pod, 'limits', name));
  }
}

/** Containers run together, init containers one after the other before them. */
function podTotal({ spec }: Pod, side: 'requests' | 'limits', name: string): Quantity {
  const of = (container: Container): Quantity => {
    const { requests, limits } = container.resources ?? {};
    const text = side === 'limits' ? limits?.[name] : (requests?.[name] ?? limits?.[name]);
    return text === undefined ? none : quantityOf(text);
  };
  const together = spec.containers.map(of).reduce(sum, none);
  return (spec.initContainers ?? []).map(of).reduce(largest, together);
}

/** The collection whose objects a quota's name counts. */
export function collectionOfUsage(name: string): string {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (name.startsWith('services.')) return 'services';
  if (name === 'requests.storage' || name.endsWith('persistentvolumeclaims')) return 'persistentvolumeclaims';
  return countable.has(name) ? name : 'pods';
}

/** Which containers do not say what a quota needs to know of them, by the quota's name. */
export function unspecified({ spec }: Pod, names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const missing = new Map<string, readonly string[]>();
  for (const name of names) {
    const [, side = '', resource] = /^(requests\.|limits\.)?(cpu|memory)$/.exec(name) ?? [];
    if (resource === undefined) continue;
    const field = side === 'limits.' ? 'limits' : 'requests';
    const silent = spec.containers.filter(
      ({ resources }) =>
        (resources as JsonObject | undefined) === undefined || resources?.[field]?.[resource] === undefined,
    );
    if (silent.length > 0)
      missing.set(
        name,
        silent.map((container) => container.name),
      );
  }
  return missing;
}
