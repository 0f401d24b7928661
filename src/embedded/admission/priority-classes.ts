// The priority of a new pod: from its priority class, or the global default class.
import type { AnyObject, JsonObject, KubeObject } from '../../kube/objects.ts';
import type { Cluster } from '../rest/context.ts';
import { forbidden } from '../rest/fault.ts';
import type { NewPodRequest } from './new-pods.ts';
import type { Collection } from '../kinds/types.ts';

interface PriorityClass extends KubeObject {
  readonly value?: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

const classes: Collection<PriorityClass> = 'priorityclasses.scheduling.k8s.io';

/** Priority classes that exist in every cluster. */
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** Sets the priority of a new pod; refuses a class that does not exist. */
export function withPriority(cluster: Cluster, { target, object }: NewPodRequest): AnyObject {
  const spec = object['spec'] as JsonObject & { readonly priorityClassName?: string; readonly priority?: number };
  const refuse = (why: string): never => {
    throw forbidden(target.resource, target.name, why);
  };
  const given = spec.priorityClassName ?? '';
  const found = given === '' ? globalDefaultClass(cluster) : classOf(cluster, given);
  if (found === undefined && given !== '') refuse(`no PriorityClass with name ${given} was found`);
  const priority = found?.value ?? 0;
  if (spec.priority !== undefined && spec.priority !== priority) {
    const computed = `priority admission controller computed ${priority} from the given PriorityClass name`;
    refuse(`the integer value of priority (${spec.priority}) must not be provided in pod spec; ${computed}`);
  }
  if (found === undefined) return object;
  const { preemptionPolicy = 'PreemptLowerPriority' } = found;
  return { ...object, spec: { ...spec, priorityClassName: found.metadata.name, priority, preemptionPolicy } };
}

function classOf(cluster: Cluster, name: string): PriorityClass | undefined {
  const stored = cluster.store.get(classes, name)?.object as PriorityClass | undefined;
  const value = systemClasses[name];
  if (stored !== undefined || value === undefined) return stored;
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value };
}

/** The global default class; among several, the one with the lowest priority. */
function globalDefaultClass(cluster: Cluster): PriorityClass | undefined {
  const defaults = cluster.store
    .list(classes)
    .map(({ object }) => object as PriorityClass)
    .filter(({ globalDefault }) => globalDefault === true);
  return defaults.toSorted((one, other) => (one.value ?? 0) - (other.value ?? 0))[0];
}
