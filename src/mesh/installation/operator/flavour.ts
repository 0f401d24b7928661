// The flavour of a cluster: the folders of its CNI plugins, and the annotations of its load balancer.
import { INGRESS_GATEWAY } from '../../names.ts';
import type { Tree } from './operator.ts';
import type { Node } from './size.ts';

export type ClusterFlavour = 'GKE' | 'k3d' | 'AWS' | 'OpenStack' | 'Gardener' | 'unknown';

/** The facts that determine the load balancer on AWS. */
export interface LoadBalancerFacts {
  /** The ConfigMap `istio-system/elb-deprecated` exists: keep the classic load balancer. */
  readonly elbDeprecated?: boolean;
  /** The Service of the ingress gateway already has a network load balancer. */
  readonly hasNetworkLoadBalancer?: boolean;
  readonly dualStack?: boolean;
}

/** The flavour of the first node that has one. */
export function clusterFlavour(nodes: Iterable<Node>): ClusterFlavour {
  for (const node of nodes) {
    const flavour = flavourOf(node);
    if (flavour !== 'unknown') return flavour;
  }
  return 'unknown';
}

// Uses the version of the kubelet, as nodes no longer report that of kube-proxy.
function flavourOf({ spec, status }: Node): ClusterFlavour {
  const { kubeletVersion = '', osImage = '' } = status?.nodeInfo ?? {};
  const provider = (spec?.providerID ?? '').toLowerCase();
  if (/^v\d+\.\d+\.\d+-gke\.\d+$/.test(kubeletVersion)) return 'GKE';
  if (/^v\d+\.\d+\.\d+\+k3s\d+$/.test(kubeletVersion)) return 'k3d';
  if (provider.startsWith('aws://')) return 'AWS';
  if (provider.startsWith('openstack://') && osImage.includes('Garden')) return 'OpenStack';
  return /^Garden Linux \d+(\.\d+)+$/.test(osImage) ? 'Gardener' : 'unknown';
}

/** The overrides of the flavour for the IstioOperator. */
export function flavourOverrides(flavour: ClusterFlavour, facts: LoadBalancerFacts = {}): Tree {
  switch (flavour) {
    case 'GKE':
      return values({ cni: { cniBinDir: '/home/kubernetes/bin', resourceQuotas: { enabled: true } } });
    case 'k3d':
      return values({
        cni: {
          cniBinDir: '/var/lib/rancher/k3s/data/cni',
          cniConfDir: '/var/lib/rancher/k3s/agent/etc/cni/net.d',
        },
      });
    case 'AWS':
      return serviceAnnotations(awsAnnotations(facts));
    case 'OpenStack':
      return serviceAnnotations({ 'loadbalancer.openstack.org/proxy-protocol': 'v1' });
    case 'Gardener':
    case 'unknown':
      return {};
  }
}

/** Whether the load balancer uses the proxy protocol; the gateway must use it exactly then. */
export function needsProxyProtocol(flavour: ClusterFlavour, facts: LoadBalancerFacts = {}): boolean {
  if (flavour === 'OpenStack') return true;
  return flavour === 'AWS' && (isClassic(facts) || facts.dualStack === true);
}

function isClassic({ elbDeprecated = false, hasNetworkLoadBalancer = false }: LoadBalancerFacts): boolean {
  return elbDeprecated && !hasNetworkLoadBalancer;
}

function awsAnnotations(facts: LoadBalancerFacts): Record<string, string> {
  const aws = (name: string): string => `service.beta.kubernetes.io/aws-load-balancer-${name}`;
  if (isClassic(facts)) return { [aws('proxy-protocol')]: '*', [aws('connection-idle-timeout')]: '4000' };
  return {
    [aws('type')]: facts.dualStack === true ? 'external' : 'nlb',
    [aws('scheme')]: 'internet-facing',
    [aws('nlb-target-type')]: 'instance',
    ...(facts.dualStack === true && { [aws('proxy-protocol')]: '*' }),
  };
}

const values = (tree: Tree): Tree => ({ spec: { values: tree } });

function serviceAnnotations(annotations: Tree): Tree {
  return values({ gateways: { [INGRESS_GATEWAY]: { serviceAnnotations: annotations } } });
}
