// An ingress or egress gateway: its ServiceAccount, its Service and its Deployment.
import type { AnyObject } from '../../../../kube/index.ts';
import type { GatewayComponent, IstioOperator, Tree } from '../../operator/operator.ts';
import { imageOf, valueAt } from '../../operator/operator.ts';
import { inNamespace, scaledDeployment, serviceAccount, wantsBudgets } from './objects.ts';

const PORTS = {
  ingress: [
    { name: 'status-port', port: 15_021, targetPort: 15_021, protocol: 'TCP' },
    { name: 'http2', port: 80, targetPort: 8080, protocol: 'TCP' },
    { name: 'https', port: 443, targetPort: 8443, protocol: 'TCP' },
  ],
  egress: [
    { name: 'http2', port: 80, targetPort: 8080, protocol: 'TCP' },
    { name: 'https', port: 443, targetPort: 8443, protocol: 'TCP' },
  ],
} as const;

/** The objects of a gateway. */
export function gateway(
  operator: IstioOperator,
  { name, k8s = {} }: GatewayComponent,
  direction: 'ingress' | 'egress',
): readonly AnyObject[] {
  const component = direction === 'ingress' ? 'IngressGateways' : 'EgressGateways';
  const selector = { app: name, istio: `${direction}gateway` };
  const values = (valueAt(operator.spec.values, `gateways.${name}`) ?? {}) as Tree;
  const account = `${name}-service-account`;
  return [
    serviceAccount(account, component),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        ...inNamespace(name, component, selector),
        ...(values['serviceAnnotations'] !== undefined && {
          annotations: values['serviceAnnotations'] as Record<string, string>,
        }),
      },
      spec: {
        type: values['type'] ?? 'ClusterIP',
        ...(values['ipFamilyPolicy'] !== undefined && { ipFamilyPolicy: values['ipFamilyPolicy'] }),
        selector,
        ports: PORTS[direction],
      },
    },
    ...scaledDeployment(
      name,
      { podAnnotations: values['podAnnotations'], ...k8s },
      {
        component,
        selector,
        labels: {},
        serviceAccountName: account,
        budget: wantsBudgets(operator),
        container: {
          name: 'istio-proxy',
          image: imageOf(operator, 'global.proxy.image', 'proxyv2'),
          ports: PORTS[direction].map(({ targetPort }) => targetPort),
        },
      },
    ),
  ];
}
