import { describe, expect, test } from 'vitest';
import { clusterFlavour, flavourOverrides, needsProxyProtocol } from './flavour.ts';
import { clusterSize } from './size.ts';
import type { Node } from './size.ts';

const node = (capacity: object, rest: { spec?: object; nodeInfo?: object } = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { ...rest.spec },
  status: { capacity, nodeInfo: { ...rest.nodeInfo } },
});

describe('clusterSize', () => {
  test.each([
    ['is Evaluation with 4 cores', [{ cpu: '4', memory: '20G' }], 'Evaluation'],
    ['is Evaluation with 9 G of memory', [{ cpu: 8, memory: '9G' }], 'Evaluation'],
    ['is Production with exactly 5 cores and 10 G', [{ cpu: '5', memory: '10G' }], 'Production'],
    ['is Production with 10 G, which is less than 10 Gi', [{ cpu: '5', memory: '9766Mi' }], 'Production'],
    [
      'adds up the capacities of all nodes',
      [
        { cpu: '2500m', memory: '5G' },
        { cpu: '2500m', memory: '5G' },
      ],
      'Production',
    ],
    [
      'is Production with two large nodes',
      [
        { cpu: '5', memory: '10G' },
        { cpu: '5', memory: '10G' },
      ],
      'Production',
    ],
    ['is Evaluation without a known capacity', [{}], 'Evaluation'],
  ])('%s', (_what, capacities, size) => {
    expect(clusterSize(capacities.map((capacity) => node(capacity)))).toBe(size);
  });

  test('does not flap when a node is added and removed near the limit', () => {
    const [four, less, five] = ['4', '3999m', '5'].map((cpu) => [node({ cpu, memory: '20G' })]);
    expect(clusterSize(four!, 'Production')).toBe('Production');
    expect(clusterSize(less!, 'Production')).toBe('Evaluation');
    expect(clusterSize(four!, 'Evaluation')).toBe('Evaluation');
    expect(clusterSize(five!, 'Evaluation')).toBe('Production');
    expect(clusterSize([node({ cpu: '8', memory: '8G' })], 'Production')).toBe('Production');
    expect(clusterSize([node({ cpu: '8', memory: '7999M' })], 'Production')).toBe('Evaluation');
  });
});

describe('clusterFlavour', () => {
  test.each([
    ['GKE', { nodeInfo: { kubeletVersion: 'v1.30.6-gke.1125000' } }],
    ['k3d', { nodeInfo: { kubeletVersion: 'v1.31.5+k3s1' } }],
    ['AWS', { spec: { providerID: 'AWS:///eu-central-1/i-123' }, nodeInfo: { osImage: 'Garden Linux 1877.3' } }],
    ['OpenStack', { spec: { providerID: 'openstack:///abc' }, nodeInfo: { osImage: 'Garden Linux 1877.3' } }],
    ['Gardener', { nodeInfo: { osImage: 'Garden Linux 1877.3' } }],
    ['Gardener', { nodeInfo: { osImage: 'Garden Linux 1877.3.1' } }],
    ['unknown', { spec: { providerID: 'openstack:///abc' }, nodeInfo: { osImage: 'Ubuntu 24.04' } }],
    ['unknown', { nodeInfo: { kubeletVersion: 'v1.30.6-gke.1125000-dirty' } }],
    ['unknown', {}],
  ])('is %s by its nodes: %j', (flavour, facts) => {
    expect(clusterFlavour([node({}), node({}, facts)])).toBe(flavour);
  });

  test('determines the folders of CNI plugins for GKE and k3d; Gardener and unknown clusters need nothing', () => {
    expect(flavourOverrides('GKE')).toEqual({
      spec: { values: { cni: { cniBinDir: '/home/kubernetes/bin', resourceQuotas: { enabled: true } } } },
    });
    expect(flavourOverrides('k3d')).toEqual({
      spec: {
        values: {
          cni: {
            cniBinDir: '/var/lib/rancher/k3s/data/cni',
            cniConfDir: '/var/lib/rancher/k3s/agent/etc/cni/net.d',
          },
        },
      },
    });
    expect(flavourOverrides('Gardener')).toEqual({});
    expect(flavourOverrides('unknown')).toEqual({});
  });

  test.each([
    ['AWS', {}, false],
    ['AWS', { elbDeprecated: true }, true],
    ['AWS', { elbDeprecated: true, hasNetworkLoadBalancer: true }, false],
    ['AWS', { dualStack: true }, true],
    ['OpenStack', {}, true],
    ['GKE', { elbDeprecated: true, dualStack: true }, false],
    ['unknown', {}, false],
  ] as const)('%s with %j needs the proxy protocol: %s', (flavour, facts, needed) => {
    expect(needsProxyProtocol(flavour, facts)).toBe(needed);
    // The filter of the gateway and the annotation of the load balancer belong together: one alone breaks all requests.
    expect(/proxy-protocol/.test(JSON.stringify(flavourOverrides(flavour, facts)))).toBe(needed);
  });
});
