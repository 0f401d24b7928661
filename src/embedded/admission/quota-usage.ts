// How much of a resource quota an object uses.
import type { JsonObject, KubeObject } from '../../kube/objects.ts';
import { parseQuantity } from '../../kube/quantity.ts';
import type { Quantity } from '../../kube/quantity.ts';
import type { Container, Pod, Service } from '../kinds/types.ts';

/** By name in a quota, such as `pods` or `requests.cpu`. */
export type Usage = ReadonlyMap<string, Quantity>;

const zero: Quantity = { nano: 0n, format: 'decimal' };
const computeResources = ['cpu', 'memory', 'ephemeral-storage'] as const;
/** Resources that a quota can count without the prefix `count/`. */
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
  return parseQuantity(String(text)) ?? zero;
}

export function countOf(count: number): Quantity {
  return { nano: BigInt(count) * 1_000_000_000n, format: 'decimal' };
}

/** The sum, in the format of the first operand that is not zero. */
export function sum(left: Quantity, right: Quantity): Quantity {
  return { nano: left.nano + right.nano, format: left.nano === 0n ? right.format : left.format };
}

function largest(left: Quantity, right: Quantity): Quantity {
  return left.nano >= right.nano ? left : right;
}

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
  const hasNodePorts = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  usage.set('services.nodeports', countOf(hasNodePorts ? (spec.ports ?? []).length : 0));
  usage.set('services.loadbalancers', countOf(spec.type === 'LoadBalancer' ? 1 : 0));
}

/** Terminated pods count only towards `count/pods`. */
function addPod(usage: Map<string, Quantity>, pod: Pod): void {
  const phase = pod.status?.phase;
  if (phase === 'Succeeded' || phase === 'Failed') return;
  usage.set('pods', countOf(1));
  for (const name of computeResources) {
    const requested = podTotal(pod, 'requests', name);
    usage.set(name, requested);
    usage.set(`requests.${name}`, requested);
    usage.set(`limits.${name}`, podTotal(pod, 'limits', name));
  }
}

/** Containers run in parallel; init containers run before them, one after the other. */
function podTotal({ spec }: Pod, side: 'requests' | 'limits', name: string): Quantity {
  const of = (container: Container): Quantity => {
    const { requests, limits } = container.resources ?? {};
    const text = side === 'limits' ? limits?.[name] : (requests?.[name] ?? limits?.[name]);
    return text === undefined ? zero : quantityOf(text);
  };
  const together = spec.containers.map(of).reduce(sum, zero);
  return (spec.initContainers ?? []).map(of).reduce(largest, together);
}

/** The collection whose objects count towards a name in a quota. */
export function collectionOfUsage(name: string): string {
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (name.startsWith('services.')) return 'services';
  if (name === 'requests.storage' || name.endsWith('persistentvolumeclaims')) return 'persistentvolumeclaims';
  return countable.has(name) ? name : 'pods';
}

/** The containers without the requests or limits that a quota requires, by name in the quota. */
export function unspecified({ spec }: Pod, names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const missing = new Map<string, readonly string[]>();
  for (const name of names) {
    const [, side = '', resource] = /^(requests\.|limits\.)?(cpu|memory)$/.exec(name) ?? [];
    if (resource === undefined) continue;
    const field = side === 'limits.' ? 'limits' : 'requests';
    const withoutValue = spec.containers.filter(
      ({ resources }) =>
        (resources as JsonObject | undefined) === undefined || resources?.[field]?.[resource] === undefined,
    );
    if (withoutValue.length > 0)
      missing.set(
        name,
        withoutValue.map((container) => container.name),
      );
  }
  return missing;
}
