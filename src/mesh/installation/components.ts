// The components of an installation: the component of each object, and the dependencies between components.
import type { AnyObject, KubeObject } from '../../kube/index.ts';
import { applyOrder } from './render/manifests.ts';

export const COMPONENTS = ['Base', 'Pilot', 'Cni', 'IngressGateways', 'EgressGateways', 'Ztunnel'] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** The components that must be ready before a component is applied. */
const AFTER: Readonly<Record<ComponentName, readonly ComponentName[]>> = {
  Base: [],
  Pilot: ['Base'],
  Cni: ['Base'],
  IngressGateways: ['Base', 'Pilot'],
  EgressGateways: ['Base', 'Pilot'],
  Ztunnel: ['Base', 'Cni'],
};

export const COMPONENT_LABEL = 'operator.istio.io/component';

/** The component by chart, as not all objects have the label. */
const CHARTS: readonly (readonly [string, ComponentName])[] = [
  ['base-', 'Base'],
  ['istiod-', 'Pilot'],
  ['cni-', 'Cni'],
  ['istio-ingress-', 'IngressGateways'],
  ['istio-egress-', 'EgressGateways'],
  ['ztunnel-', 'Ztunnel'],
];

/** The component of a rendered object. */
export function componentOf({ kind, metadata }: KubeObject): ComponentName {
  if (kind === 'CustomResourceDefinition') return 'Base';
  const { [COMPONENT_LABEL]: label, 'helm.sh/chart': chart = '' } = metadata.labels ?? {};
  return (
    COMPONENTS.find((name) => name === label) ?? CHARTS.find(([prefix]) => chart.startsWith(prefix))?.[1] ?? 'Pilot'
  );
}

/** Rendered objects by component, in the order in which they are applied. */
export function byComponent(objects: readonly AnyObject[]): ReadonlyMap<ComponentName, readonly AnyObject[]> {
  const groups = Map.groupBy(objects, componentOf);
  return new Map(
    COMPONENTS.flatMap((name) => {
      const own = groups.get(name);
      return own === undefined ? [] : [[name, applyOrder(own)] as const];
    }),
  );
}

/** The components to apply, and those that wait. */
export interface ComponentSteps {
  /** The components to apply, and to keep applied. */
  readonly apply: readonly ComponentName[];
  /** The components that are not ready or not applied yet, and what each waits for. */
  readonly waiting: readonly { readonly component: ComponentName; readonly for: string }[];
}

/**
 * Which components to apply, given why each is not ready. A component that waits for another is left alone, unless it
 * `exists` already: running components are always repaired.
 */
export function componentSteps(
  components: readonly ComponentName[],
  notReady: (component: ComponentName) => string | undefined,
  exists: (component: ComponentName) => boolean,
): ComponentSteps {
  const problems = new Map(components.map((component) => [component, notReady(component)]));
  const apply: ComponentName[] = [];
  const waiting: { component: ComponentName; for: string }[] = [];
  for (const component of components) {
    const first = AFTER[component].find((other) => problems.get(other) !== undefined);
    const held = first !== undefined && !exists(component);
    if (!held) apply.push(component);
    const problem = problems.get(component);
    if (held) waiting.push({ component, for: `${first} is not ready: ${problems.get(first)}` });
    else if (problem !== undefined) waiting.push({ component, for: problem });
  }
  return { apply, waiting };
}
