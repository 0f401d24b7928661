// `operator.kyma-project.io/v1alpha2 Istio`: one object that keeps the service mesh installed, current and consistent.
import * as z from 'zod';
import type { Kind } from '../kube/objects.ts';
import { Conditions, hints, int32, int64 } from './core.ts';
import { Affinity } from './istio-affinity.ts';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';

const strings = () => z.array(z.string());
const count = () => z.int().min(0).max(2_147_483_647);

const NOT_NEGATIVE = {
  rule: 'type(self) == int ? self >= 0 && self <= 2147483647 : self.size() >= 0',
  message: 'must not be negative, more than 2147483647 or an empty string',
};

/** A number or percentage of pods. */
const podCount = (pattern: RegExp) =>
  hints(z.union([count(), z.string().regex(pattern)]), {
    'x-kubernetes-int-or-string': true,
    pattern: pattern.source,
    'x-kubernetes-validations': [NOT_NEGATIVE],
  });

const Quantities = () =>
  z.object({
    cpu: z
      .string()
      .regex(/^([0-9]+m?|[0-9]\.[0-9]{1,3})$/)
      .describe('CPU, such as 500m or 1.5.')
      .optional(),
    memory: z
      .string()
      .regex(/^[0-9]+(((\.[0-9]+)?(E|P|T|G|M|k|Ei|Pi|Ti|Gi|Mi|Ki|m)?)|(e[0-9]+))$/)
      .describe('Memory, such as 512Mi.')
      .optional(),
  });

const Resources = () =>
  z.object({
    limits: Quantities().describe('The maximum that it may use.').optional(),
    requests: Quantities().describe('What is reserved for it.').optional(),
  });

const Workload = () =>
  z.object({
    hpaSpec: z
      .object({
        minReplicas: count().describe('Minimum number of pods.').optional(),
        maxReplicas: count().describe('Maximum number of pods.').optional(),
      })
      .describe('Limits of the autoscaler.')
      .optional(),
    strategy: z
      .object({
        rollingUpdate: z
          .object({
            maxSurge: podCount(/^[0-9]+%?$/)
              .describe('How many pods may exist above the desired number.')
              .optional(),
            maxUnavailable: podCount(/^((100|[0-9]{1,2})%|[0-9]+)$/)
              .describe('How many pods may be unavailable.')
              .optional(),
          })
          .describe('Limits of a rolling update.'),
      })
      .describe('How pods are replaced.')
      .optional(),
    resources: Resources().describe('CPU and memory of its container.').optional(),
  });

const Authorizer = () =>
  z.object({
    name: z.string().describe('Name that AuthorizationPolicies use; unique.'),
    service: z.string().describe('Host of the service that decides.').optional(),
    port: int32().describe('Port of the service.'),
    pathPrefix: z.string().describe('Put before the path of the request that is checked.').optional(),
    timeout: z.string().describe('How long to wait for the decision, such as 500ms or 2s.').optional(),
    headers: z
      .object({
        inCheck: z
          .object({
            include: strings().describe('Headers of the request that the check gets.').optional(),
            add: z.record(z.string(), z.string()).describe('Headers to add to the check.').optional(),
          })
          .describe('Headers of the check.')
          .optional(),
        toUpstream: z
          .object({ onAllow: strings().describe('When the request is allowed.').optional() })
          .describe('Headers of the decision that the destination gets.')
          .optional(),
        toDownstream: z
          .object({
            onAllow: strings().describe('When the request is allowed.').optional(),
            onDeny: strings().describe('When the request is denied.').optional(),
          })
          .describe('Headers of the decision that the client gets.')
          .optional(),
      })
      .describe('Which headers are passed on.')
      .optional(),
  });

const Config = () =>
  z.object({
    numTrustedProxies: z
      .int()
      .min(0)
      .max(4_294_967_295)
      .describe('Trusted proxies in front of the ingress gateway. Absent is not the same as 0.')
      .optional(),
    forwardClientCertDetails: z
      .enum(['APPEND_FORWARD', 'SANITIZE_SET', 'SANITIZE', 'ALWAYS_FORWARD_ONLY', 'FORWARD_ONLY'])
      .describe('What gateways do with the header X-Forwarded-Client-Cert; SANITIZE_SET by default.')
      .optional(),
    authorizers: z.array(Authorizer()).describe('External services that decide which requests are allowed.').optional(),
    gatewayExternalTrafficPolicy: z
      .enum(['Local', 'Cluster'])
      .describe('externalTrafficPolicy of the Service of the ingress gateway.')
      .optional(),
    telemetry: z
      .object({
        metrics: z
          .object({
            prometheusMerge: z
              .boolean()
              .describe('Serve the metrics of the application together with those of the proxy; false by default.')
              .optional(),
          })
          .describe('Metrics.')
          .optional(),
      })
      .describe('Telemetry of the mesh.')
      .optional(),
    trustDomain: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[a-z0-9]*([a-z0-9-_]*)?(\.[a-z0-9]*([a-z0-9-_]*[a-z0-9]*)?)*$/)
      .describe('Trust domain of the mesh; cluster.local by default.')
      .optional(),
    enableDNSProxying: z.boolean().describe('Sidecars answer DNS queries. Absent is not the same as false.').optional(),
    proxyStatsMatcher: z
      .object({
        inclusionRegexps: strings()
          .describe('Regular expressions (RE2) of additional statistics to collect.')
          .optional(),
      })
      .describe('Which statistics proxies collect.')
      .optional(),
  });

const Components = () =>
  z.object({
    pilot: z
      .object({ k8s: Workload().describe('Its workload.') })
      .describe('The control plane, istiod.')
      .optional(),
    ingressGateway: z
      .object({ k8s: Workload().describe('Its workload.') })
      .describe('The ingress gateway.')
      .optional(),
    egressGateway: z
      .object({
        enabled: z.boolean().describe('Whether there is one; false by default.').optional(),
        k8s: Workload().describe('Its workload.').optional(),
      })
      .describe('The egress gateway.')
      .optional(),
    cni: z
      .object({
        k8s: z
          .object({
            affinity: Affinity().describe('Where its pods run.').optional(),
            resources: Resources().describe('CPU and memory of its container.').optional(),
          })
          .describe('Its workload.'),
      })
      .describe('The CNI node agent.')
      .optional(),
    proxy: z
      .object({
        k8s: z
          .object({ resources: Resources().describe('CPU and memory of each sidecar.').optional() })
          .describe('Its container.'),
      })
      .describe('The sidecar. A change restarts every workload that has one.')
      .optional(),
  });

const Spec = () =>
  z.object({
    config: Config().describe('The mesh as a whole.').optional(),
    components: Components().describe('Its parts.').optional(),
    experimental: z
      .object({
        pilot: z
          .object({
            enableAlphaGatewayAPI: z.boolean().describe('Kinds of the Gateway API that are alpha.').optional(),
            enableMultiNetworkDiscoverGatewayAPI: z
              .boolean()
              .describe('Discover gateways of other networks by the Gateway API.')
              .optional(),
          })
          .describe('The control plane, istiod.')
          .optional(),
        enableAmbient: z.boolean().describe('Ambient mode: ztunnel and HBONE.').optional(),
        enableDualStack: z.boolean().describe('IPv4 and IPv6 together.').optional(),
      })
      .describe('Features that are not ready for production; rejected unless experimental features are allowed.')
      .optional(),
    compatibilityMode: z
      .boolean()
      .describe('Undo selected changes of behaviour of the current minor version of Istio.')
      .optional(),
    networkPoliciesEnabled: z
      .boolean()
      .describe('Install NetworkPolicies for the control plane and the gateways; false by default.')
      .optional(),
  });

const BlockingResource = () =>
  z.object({
    kind: z.string().describe('Kind of the resource.'),
    namespace: z.string().describe('Its namespace.').optional(),
    name: z.string().describe('Its name.'),
  });

const PendingRestart = () =>
  BlockingResource().extend({
    why: z.string().describe('Why it is to be restarted.'),
    waiting: z.string().describe('Why it is not restarted now.').optional(),
  });

const Status = () =>
  z.object({
    state: z.enum(['Processing', 'Deleting', 'Ready', 'Error', 'Warning']).describe('The state in one word.'),
    description: z.string().describe('What is wrong or going on; empty when ready.').optional(),
    conditions: Conditions()
      .describe('Ready, ProxySidecarRestartSucceeded, IngressTargetingUserResourceFound; Reconciling and Stalled.')
      .optional(),
    observedGeneration: int64().describe('The generation that this status is about.').optional(),
    istioVersion: z.string().describe('The version of Istio that runs.').optional(),
    clusterSize: z
      .enum(['Evaluation', 'Production'])
      .describe('The cluster size that defaults are chosen for; kept until the cluster has clearly changed.')
      .optional(),
    blockedBy: z
      .object({
        total: count().describe('How many.'),
        resources: z.array(BlockingResource()).describe('The first 20.'),
      })
      .describe('Resources that block the deletion.')
      .optional(),
    restarts: z
      .object({
        total: count().describe('Workloads that are to be restarted.'),
        restarting: count().describe('How many of them are restarting now.'),
        workloads: z.array(PendingRestart()).describe('The first 20 that are not restarting yet.'),
      })
      .describe('Workloads whose sidecars are not up to date.')
      .optional(),
    uninjected: z
      .object({
        total: count().describe('How many.'),
        pods: z
          .array(
            z.object({
              namespace: z.string().describe('Namespace of the pod.'),
              name: z.string().describe('Its name.'),
            }),
          )
          .describe('The first 20.'),
      })
      .describe('Pods that should have a sidecar and have none. They are restarted only if that is enabled.')
      .optional(),
  });

export const istio = defineResource({
  group: 'operator.kyma-project.io',
  version: 'v1alpha2',
  alsoServed: ['v1alpha1'],
  kind: 'Istio',
  plural: 'istios',
  singular: 'istio',
  categories: ['kyma-modules', 'kyma-istio'],
  namespaced: true,
  description: 'The service mesh: which Istio is installed, and how it is configured.',
  spec: Spec,
  status: Status,
  columns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Version', type: 'string', jsonPath: '.status.istioVersion' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export const Istio: Kind<Istio> = istio.kind;
export type IstioSpec = Input<typeof Spec>;
export type IstioStatus = Input<typeof Status>;
/** An Istio may have no spec at all. */
export type Istio = Omit<ResourceObject<IstioSpec, IstioStatus>, 'spec'> & { readonly spec?: IstioSpec };
export type IstioConfig = Input<typeof Config>;
export type Authorizer = Input<typeof Authorizer>;
export type ComponentResources = Input<typeof Resources>;
export type ComponentWorkload = Input<typeof Workload>;
