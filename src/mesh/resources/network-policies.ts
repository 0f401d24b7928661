// NetworkPolicies for the control plane and the gateways: with them the mesh works in namespaces that deny all traffic.
import type { AnyObject } from '../../kube/index.ts';
import { ISTIO_NAMESPACE, MODULE_LABEL, MODULE_NAME, MODULE_NAMESPACE } from '../names.ts';

type Labels = Readonly<Record<string, string>>;

const allowed = (what: string): Labels => ({ [`networking.kyma-project.io/${what}`]: 'allowed' });
const tcp = (...ports: readonly number[]) => ports.map((port) => ({ protocol: 'TCP', port }));
const pods = (labels: Labels) => ({ namespaceSelector: {}, podSelector: { matchLabels: labels } });

const DNS = { ports: [{ protocol: 'UDP', port: 53 }, ...tcp(53)] };
const METRICS_READERS = [
  pods({ [MODULE_LABEL]: MODULE_NAME }),
  pods(allowed('istio-metrics')),
  pods(allowed('metrics-scraping')),
];
const GATEWAY_METRICS = { from: METRICS_READERS, ports: tcp(15_020, 15_021, 15_090) };
const GATEWAYS = ['ingressgateway', 'egressgateway'].map((istio) => pods({ istio }));

interface Rules {
  readonly egress?: readonly object[];
  readonly ingress?: readonly object[];
}

function policy(name: string, selected: Labels, rules: Rules, namespace = ISTIO_NAMESPACE): AnyObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {
      name: `kyma-project.io--${name}`,
      namespace,
      labels: { 'kyma-project.io/managed-by': 'kyma' },
    },
    spec: {
      podSelector: { matchLabels: selected },
      policyTypes: [...(rules.egress ? ['Egress'] : []), ...(rules.ingress ? ['Ingress'] : [])],
      ...rules,
    },
  };
}

/** All seven policies. */
export function networkPolicies(apiServerPort = 443): readonly AnyObject[] {
  const apiServer = { ports: tcp(apiServerPort) };
  const pilot = { istio: 'pilot' };
  return [
    policy('istio-cni-node', { 'k8s-app': 'istio-cni-node' }, { egress: [DNS, apiServer] }),
    policy(
      'istio-ingressgateway-egress',
      { istio: 'ingressgateway' },
      { egress: [{ to: [pods(allowed('from-ingressgateway'))] }] },
    ),
    policy(
      'istio-egressgateway',
      { istio: 'egressgateway' },
      { egress: [{}], ingress: [{ from: [pods(allowed('to-egressgateway'))] }, GATEWAY_METRICS] },
    ),
    policy(
      'istio-ingressgateway',
      { istio: 'ingressgateway' },
      {
        egress: [{ to: [{ podSelector: { matchLabels: pilot } }], ports: tcp(15_012) }, DNS],
        ingress: [{ ports: tcp(8080, 8443) }, GATEWAY_METRICS],
      },
    ),
    policy(
      'allow-istio-controller-manager',
      { [MODULE_LABEL]: MODULE_NAME, 'app.kubernetes.io/name': 'istio-operator' },
      { egress: [DNS, apiServer] },
      MODULE_NAMESPACE,
    ),
    policy('istio-pilot', pilot, {
      egress: [DNS, apiServer],
      ingress: [
        { from: [pods({ 'security.istio.io/tlsMode': 'istio' }), ...GATEWAYS], ports: tcp(15_012) },
        { from: METRICS_READERS, ports: tcp(15_014) },
        { ports: tcp(15_017) },
      ],
    }),
    policy('istio-pilot-jwks', pilot, { egress: [{ ports: tcp(80, 443) }] }),
  ];
}
