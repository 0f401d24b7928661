// `gloo.solo.io/v1 Upstream`: a destination that requests can be routed to.
import * as z from 'zod';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';
import { message, opaque, openMessage, SoloStatus, STATE_COLUMNS, stringMap, uint32 } from './solo.ts';

const KubeUpstream = () =>
  message({
    serviceName: z.string().describe('Name of the service.').nullish(),
    serviceNamespace: z.string().describe('Namespace of the service.').nullish(),
    servicePort: uint32().describe('The port of the service, not that of its pods.').nullish(),
    selector: stringMap().describe('Labels of the pods; none without it.').nullish(),
    serviceSpec: opaque().describe('What the service offers; not used.').nullish(),
    subsetSpec: opaque().describe('How its pods are divided; not used.').nullish(),
  });

const StaticUpstream = () =>
  message({
    hosts: z
      .array(
        message({
          addr: z.string().describe('Name or address.').nullish(),
          port: uint32().describe('Port.').nullish(),
        }),
      )
      .describe('Where it is; the first one counts.')
      .nullish(),
    useTls: z.boolean().describe('Whether it is reached through TLS; not used.').nullish(),
    serviceSpec: opaque().describe('What it offers; not used.').nullish(),
  });

const kinds = () => ({
  kube: KubeUpstream().describe('A port of a Kubernetes service.').nullish(),
  static: StaticUpstream().describe('Hosts that are named one by one.').nullish(),
  aws: opaque().describe('Functions of AWS Lambda.').nullish(),
  azure: opaque().describe('Functions of Azure.').nullish(),
  consul: opaque().describe('A service of Consul.').nullish(),
});

const UpstreamSpec = () =>
  openMessage({
    upstreamSpec: openMessage(kinds()).describe('What it is: one of these.').nullish(),
    ...kinds(),
  });

export const upstream = defineResource({
  group: 'gloo.solo.io',
  version: 'v1',
  kind: 'Upstream',
  plural: 'upstreams',
  singular: 'upstream',
  shortNames: ['us'],
  namespaced: true,
  description:
    'A destination that requests can be routed to: usually one port of a service. What it is stands in spec.upstreamSpec or directly in spec.',
  preserveUnknownFields: true,
  spec: UpstreamSpec,
  status: SoloStatus,
  columns: [
    { name: 'Service', type: 'string', jsonPath: '.spec.upstreamSpec.kube.serviceName' },
    { name: 'Port', type: 'integer', jsonPath: '.spec.upstreamSpec.kube.servicePort' },
    ...STATE_COLUMNS,
  ],
});

export const Upstream = upstream.kind;
export type Upstream = ResourceObject<Input<typeof UpstreamSpec>, Input<typeof SoloStatus>>;
