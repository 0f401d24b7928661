// The configuration files of the node's programs: containerd, CNI, kubelet, kube-proxy. inside.ts writes them.
import path from 'node:path';
import { stringify } from 'yaml';
import { containerdSocket, dnsAddress, nodeAddress, nodeName, podRange, toolboxImage } from './addresses.ts';

export interface NodePaths {
  /** The folder for everything that the node writes. */
  readonly dir: string;
  /** Debian's programs: runc, CNI plugins. */
  readonly tools: string;
  /** The credentials of the control plane. */
  readonly credential: (name: string) => string;
  /** The node's own control group, from the root of each hierarchy. */
  readonly controlGroup: string;
}

export function containerdConfig({ dir, tools }: NodePaths): string {
  return `version = 3
root = '${dir}/containerd'
state = '/run/containerd'

[grpc]
  address = '${containerdSocket}'

[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '${toolboxImage}'

[plugins.'io.containerd.cri.v1.runtime']
  # Without the right to lower it, runc would die of the attempt.
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = '${tools}/usr/sbin/runc'
        SystemdCgroup = false
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${tools}/usr/lib/cni']
    conf_dir = '${dir}/cni'
`;
}

export function cniConfig(): string {
  return JSON.stringify({
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: '/run/cni',
          ranges: [[{ subnet: podRange }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
    ],
  });
}

export function kubeletConfig({ dir, credential, controlGroup }: NodePaths): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: nodeAddress,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: credential('ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: credential('kubelet-serving.crt'),
    tlsPrivateKeyFile: credential('kubelet-serving.key'),
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${controlGroup}`,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [dnsAddress],
    clusterDomain: 'cluster.local',
    resolvConf: path.join(dir, 'resolv.conf'),
    podLogsDir: '/var/log/pods',
    // Test pods must not be evicted because the machine is full for other reasons.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    registryPullQPS: 0,
    serializeImagePulls: false,
    // Tests kill containers repeatedly.
    crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
    syncFrequency: '10s',
  });
}

export function kubeProxyConfig({ credential }: NodePaths): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: credential('kube-proxy.kubeconfig') },
    mode: 'nftables',
    hostnameOverride: nodeName,
    clusterCIDR: podRange,
    // These limits would apply to the whole machine.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  });
}
