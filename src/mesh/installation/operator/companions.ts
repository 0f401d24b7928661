// Other objects of the cluster that affect an installation: ConfigMaps with features and network details, and Services.
// A missing object has no effect; one that can't be read is reported, and has no effect either.
import { parse } from 'yaml';
import type { KubeObject } from '../../../kube/index.ts';
import type { LoadBalancerFacts } from './flavour.ts';
import { valueAt } from './operator.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Service extends KubeObject {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly targetPort?: number | string }[] };
}

/** The names of these objects. */
export const COMPANIONS = {
  features: { namespace: 'kyma-system', name: 'istio-features' },
  provisioning: { namespace: 'kyma-system', name: 'kyma-provisioning-info' },
  elbDeprecated: { namespace: 'istio-system', name: 'elb-deprecated' },
  mesh: { namespace: 'istio-system', name: 'istio' },
  apiServer: { namespace: 'default', name: 'kubernetes' },
} as const;

export interface Features {
  readonly disableCni: boolean;
  readonly controlPlaneVPA: boolean;
  /** Why the ConfigMap can't be read. */
  readonly problem?: string;
}

/** The features that `istio-features` enables. */
export function featuresOf(configMap: ConfigMap | undefined): Features {
  const { value, problem } = read(configMap, 'features', JSON.parse);
  return {
    disableCni: valueAt(value, 'disableCni') === true,
    controlPlaneVPA: valueAt(value, 'enableControlPlaneVPA') === true,
    ...(problem !== undefined && { problem }),
  };
}

/** Whether the cluster has IPv4 and IPv6. */
export function isDualStack(provisioning: ConfigMap | undefined): boolean {
  return valueAt(read(provisioning, 'details', parse).value, 'networkDetails.dualStackIPEnabled') === true;
}

/** The facts that determine the load balancer of the ingress gateway. */
export function loadBalancerFacts(objects: {
  readonly elbDeprecated: ConfigMap | undefined;
  readonly gateway: Service | undefined;
  readonly dualStack: boolean;
}): LoadBalancerFacts {
  const annotation = 'service.beta.kubernetes.io/aws-load-balancer-type';
  return {
    elbDeprecated: objects.elbDeprecated !== undefined,
    hasNetworkLoadBalancer: objects.gateway?.metadata.annotations?.[annotation] === 'nlb',
    dualStack: objects.dualStack,
  };
}

/** The status port of proxies, which the Prometheus annotations of injected pods contain. */
export function statusPort(mesh: ConfigMap | undefined): number {
  const port = valueAt(read(mesh, 'mesh', parse).value, 'defaultConfig.statusPort');
  return typeof port === 'number' ? port : 15_020;
}

/** The port of the API server behind its Service. */
export function apiServerPort(service: Service | undefined): number {
  const port = service?.spec?.ports?.find(({ name }) => name === 'https')?.targetPort;
  return typeof port === 'number' ? port : 443;
}

function read(
  configMap: ConfigMap | undefined,
  key: string,
  parser: (text: string) => unknown,
): { readonly value?: unknown; readonly problem?: string } {
  const text = configMap?.data?.[key];
  if (text === undefined) return {};
  try {
    return { value: parser(text) };
  } catch (error) {
    const { namespace, name } = configMap!.metadata;
    return { problem: `key ${key} of ConfigMap ${namespace}/${name} can't be read: ${(error as Error).message}` };
  }
}
