// Merges the settings of components: CPU and memory, replicas, update strategy, affinity.
import type { ComponentResources, ComponentWorkload, IstioSpec } from '../../../api/istio.ts';
import { EGRESS_GATEWAY, INGRESS_GATEWAY } from '../../names.ts';
import { overlay, valueAt } from './operator.ts';
import type { GatewayComponent, IstioOperator, K8s, Tree } from './operator.ts';

type Components = NonNullable<IstioSpec['components']>;

interface ComponentOptions {
  readonly disableCni?: boolean;
  readonly controlPlaneVPA?: boolean;
}

/** The operator with the settings of its components. Of gateways, only the first of each kind is ours. */
export function mergeComponents(
  operator: IstioOperator,
  { pilot, ingressGateway, egressGateway, cni, proxy }: Components,
  { disableCni, controlPlaneVPA = false }: ComponentOptions,
): IstioOperator {
  const { components: own, values } = operator.spec;
  const first = (gateways: readonly GatewayComponent[], settings: Partial<GatewayComponent>): GatewayComponent[] =>
    gateways.map((gateway, index) => (index === 0 ? overlay(gateway, settings) : gateway));
  const components = {
    ...own,
    pilot: overlay(own.pilot, { k8s: workload(pilot?.k8s) }),
    ingressGateways: first(own.ingressGateways, { k8s: workload(ingressGateway?.k8s) }),
    egressGateways: first(own.egressGateways, {
      enabled: egressGateway?.enabled,
      k8s: workload(egressGateway?.k8s),
    }),
    cni: {
      ...own.cni,
      ...(disableCni !== undefined && { enabled: !disableCni }),
      k8s: {
        ...overlay(own.cni.k8s ?? {}, { resources: cni?.k8s.resources }),
        // Each kind of affinity that is set replaces the default as a whole.
        ...(cni?.k8s.affinity && { affinity: { ...own.cni.k8s?.affinity, ...cni.k8s.affinity } }),
      },
    },
  };
  const merged = {
    ...operator,
    spec: {
      ...operator.spec,
      components,
      values: overlay(values, {
        global: { proxy: { resources: proxy?.k8s.resources } },
        pilot: replicas(pilot?.k8s),
        gateways: {
          [INGRESS_GATEWAY]: replicas(ingressGateway?.k8s),
          [EGRESS_GATEWAY]: replicas(egressGateway?.k8s),
        },
      }),
    },
  };
  return controlPlaneVPA ? withoutMemoryScaling(merged) : merged;
}

/** The values of a chart, from an operator or from the injector. */
interface ProxyValues {
  readonly spec: { readonly values: unknown };
}

/** The CPU and memory of sidecars; a string says what is missing. */
export function proxyResources({ spec }: ProxyValues): Required<ComponentResources> | string {
  const resources = valueAt(spec, 'values.global.proxy.resources') as ComponentResources | undefined;
  for (const kind of ['requests', 'limits'] as const) {
    for (const what of ['cpu', 'memory'] as const) {
      if (resources?.[kind]?.[what] === undefined) return 'proxy resources missing in merged IstioOperator';
    }
  }
  return resources as Required<ComponentResources>;
}

function workload(settings: ComponentWorkload | undefined): K8s | undefined {
  if (settings === undefined) return undefined;
  const { hpaSpec, strategy, resources } = settings;
  return { hpaSpec, strategy, resources };
}

/** The charts use these values, not the autoscaler, to see whether a PodDisruptionBudget would block every drain. */
function replicas(settings: ComponentWorkload | undefined): Tree | undefined {
  const { minReplicas, maxReplicas } = settings?.hpaSpec ?? {};
  return settings?.hpaSpec && { autoscaleMin: minReplicas, autoscaleMax: maxReplicas };
}

/** A vertical autoscaler controls memory: two autoscalers on the same metric would work against each other. */
function withoutMemoryScaling(operator: IstioOperator): IstioOperator {
  const { pilot, ingressGateways, egressGateways } = operator.spec.components;
  const scaled = <T extends { readonly k8s?: K8s }>(component: T): T => {
    const metrics = component.k8s?.hpaSpec?.['metrics'] as readonly Tree[] | undefined;
    if (metrics === undefined) return component;
    const kept = metrics.filter((metric) => valueAt(metric, 'resource.name') !== 'memory');
    return overlay(component, { k8s: { hpaSpec: { metrics: kept } } });
  };
  return overlay(operator, {
    spec: {
      components: {
        pilot: scaled(pilot),
        ingressGateways: ingressGateways.map(scaled),
        egressGateways: egressGateways.map(scaled),
      },
    },
  });
}
