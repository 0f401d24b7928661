// The priority of a new pod: that of the class that it names, or of the class for everybody.
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

/** Classes that every cluster has. */
const system: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/** The new pod with its priority. A class that does not exist is refused. */
export function withPriority(cluster: Cluster, { target, object }: NewPodRequest): AnyObject {
  const spec = object['spec'] as JsonObject & { readonly priorityClassName?: string; readonly priority?: number };
  const refuse = (why: string): never => {
    throw forbidden(target.resource, target.name, why);
  };
  const given = spec.priorityClassName ?? '';
  const found = given === '' ? standardClass(cluster) : classOf(cluster, given);
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
  const value = system[name];
  if (stored !== undefined || value === undefined) return stored;
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value };
}

/** The class of pods that name none: among several, the one of least priority. */
function standardClass(cluster: Cluster): PriorityClass | undefined {
  const standard = cluster.store
    .list(classes)
    .map(({ object }) => object as PriorityClass)
    .filter(({ globalDefault }) => globalDefault === true);
  return standard.toSorted((one, other) => (one.value ?? 0) - (other.value ?? 0))[0];
}
