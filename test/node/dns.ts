// The cluster's DNS: CoreDNS as a pod, at the address that the kubelet configures in every pod.
import { dnsAddress } from './addresses.ts';
import { apply } from './kubectl.ts';
import type { Kubectl } from './kubectl.ts';

const metadata = { name: 'coredns', namespace: 'kube-system' };
const labels = { 'k8s-app': 'kube-dns' };
const corefile = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local in-addr.arpa {
    pods insecure
    ttl 5
  }
  cache 5
}
`;

/** Installs CoreDNS; resolves when it is ready. */
export async function installDns(kubectl: Kubectl): Promise<void> {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'system:coredns' },
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  };
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'system:coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:coredns' },
    subjects: [{ kind: 'ServiceAccount', ...metadata }],
  };
  const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile } };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: 'coredns',
          dnsPolicy: 'Default',
          containers: [
            {
              name: 'coredns',
              image: 'localhost/coredns:test',
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
        },
      },
    },
  };
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ];
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, name: 'kube-dns' },
    spec: { selector: labels, clusterIP: dnsAddress, ports },
  };
  await apply(kubectl, account, role, binding, config, deployment, service);
  await kubectl(['rollout', 'status', '-n', 'kube-system', 'deployment/coredns', '--timeout=60s']);
}
