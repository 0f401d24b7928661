// The components of an installation: which object belongs to which, and which component waits for which.
import type { AnyObject, KubeObject } from '../../kube/index.ts';
import { applyOrder } from './render/manifests.ts';

export const COMPONENTS = ['Base', 'Pilot', 'Cni', 'IngressGateways', 'EgressGateways', 'Ztunnel'] as const;
export type ComponentName = (typeof COMPONENTS)[number];

/** What must be ready before a component is applied. */
const AFTER: Readonly<Record<ComponentName, readonly ComponentName[]>> = {
  Base: [],
  Pilot: ['Base'],
  Cni: ['Base'],
  IngressGateways: ['Base', 'Pilot'],
  EgressGateways: ['Base', 'Pilot'],
  Ztunnel: ['Base', 'Cni'],
};

export const COMPONENT_LABEL = 'operator.istio.io/component';

/** By the chart that an object was rendered from: not all of them carry the label. */
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

/** Rendered objects by component, each in the order in which it is applied. */
export function byComponent(objects: readonly AnyObject[]): ReadonlyMap<ComponentName, readonly AnyObject[]> {
  const groups = Map.groupBy(objects, componentOf);
  return new Map(
    COMPONENTS.flatMap((name) => {
      const own = groups.get(name);
      return own === undefined ? [] : [[name, applyOrder(own)] as const];
    }),
  );
}

/** What to do about components now. */
export interface ComponentSteps {
  /** To be applied, and kept applied. */
  readonly apply: readonly ComponentName[];
  /** Applied and not ready yet, or not applied yet: what each waits for. */
  readonly waiting: readonly { readonly component: ComponentName; readonly for: string }[];
}

/**
 * Which components to apply, given what keeps each from being ready. One that waits for another is left alone, unless it
 * `exists` already: what runs is repaired whatever the others do.
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
