// CPU and memory of sidecars, compared as quantities. Annotations of a pod override the settings of the mesh.
import type { ComponentResources } from '../../api/istio.ts';
import { parseQuantity } from '../../kube/quantity.ts';
import { sidecarOf } from '../workloads/workloads.ts';
import type { ContainerResources, Pod } from '../workloads/workloads.ts';
import type { RestartPredicate } from './predicate.ts';

const ANNOTATION = 'sidecar.istio.io/proxy';
const FIELDS = [
  { kind: 'requests', what: 'cpu', annotation: 'CPU' },
  { kind: 'requests', what: 'memory', annotation: 'Memory' },
  { kind: 'limits', what: 'cpu', annotation: 'CPULimit' },
  { kind: 'limits', what: 'memory', annotation: 'MemoryLimit' },
] as const;

/** The CPU or memory of the sidecar differs. */
export function otherResources(expected: Required<ComponentResources>): RestartPredicate {
  return (pod) => {
    const sidecar = sidecarOf(pod);
    const desired = annotatedResources(pod) ?? expected;
    if (sidecar === undefined || desired === 'unreadable') return undefined;
    for (const { kind, what } of FIELDS) {
      const [has, should] = [sidecar.resources?.[kind]?.[what], desired[kind]?.[what]];
      if (amount(has) !== amount(should)) {
        return `${kind}.${what} of its sidecar is ${has ?? 'not set'}, and should be ${should ?? 'not set'}`;
      }
    }
    return undefined;
  };
}

/** The resources in the annotations of a pod; undefined without any. A missing request equals the limit. */
function annotatedResources({ metadata: { annotations = {} } }: Pod): ContainerResources | 'unreadable' | undefined {
  const value = (name: string): string | undefined => annotations[`${ANNOTATION}${name}`];
  const given = FIELDS.map(({ annotation }) => value(annotation));
  if (given.every((each) => each === undefined)) return undefined;
  if (given.some((each) => each !== undefined && parseQuantity(each) === undefined)) return 'unreadable';
  const list = (cpu: string | undefined, memory: string | undefined) => ({
    ...(cpu !== undefined && { cpu }),
    ...(memory !== undefined && { memory }),
  });
  return {
    requests: list(value('CPU') ?? value('CPULimit'), value('Memory') ?? value('MemoryLimit')),
    limits: list(value('CPULimit'), value('MemoryLimit')),
  };
}

/** A quantity in billionths; 0 if there is none. */
function amount(quantity: string | number | undefined): bigint {
  return parseQuantity(String(quantity ?? 0))?.nano ?? 0n;
}
