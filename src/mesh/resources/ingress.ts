// A Gateway for a domain, and a host for health checks of the ingress gateway. Only if a domain is set: otherwise the
// Gateway of that name belongs to others.
import type { AnyObject } from '../../kube/index.ts';
import { INGRESS_GATEWAY, ISTIO_NAMESPACE, MODULE_NAMESPACE } from '../names.ts';

const GATEWAY = 'kyma-gateway';

export function gatewayOf(domain: string): AnyObject {
  const hosts = [`*.${domain}`];
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: { name: GATEWAY, namespace: MODULE_NAMESPACE },
    spec: {
      selector: { app: INGRESS_GATEWAY, istio: 'ingressgateway' },
      servers: [
        {
          port: { name: 'https', number: 443, protocol: 'HTTPS' },
          tls: { mode: 'SIMPLE', credentialName: 'kyma-gateway-certs' },
          hosts,
        },
        { port: { name: 'http', number: 80, protocol: 'HTTP' }, tls: { httpsRedirect: true }, hosts },
      ],
    },
  };
}

export function healthOf(domain: string): AnyObject {
  const host = `${INGRESS_GATEWAY}.${ISTIO_NAMESPACE}.svc.cluster.local`;
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'VirtualService',
    metadata: { name: 'istio-healthz', namespace: ISTIO_NAMESPACE },
    spec: {
      hosts: [`healthz.${domain}`],
      gateways: [`${MODULE_NAMESPACE}/${GATEWAY}`],
      http: [
        {
          match: [{ uri: { exact: '/healthz/ready' } }],
          route: [{ destination: { host, port: { number: 15_021 } } }],
        },
      ],
    },
  };
}
