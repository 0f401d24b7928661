// `riskified.com/v1alpha1 DynamicEnv`: custom versions of a few Deployments, and which requests reach them.
import * as z from 'zod';
import { Conditions, EnvVar, hints, int32, int64, time } from './core.ts';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';

const StringMatch = () =>
  z.object({
    exact: z.string().describe('The whole value.').optional(),
    prefix: z.string().describe('How the value begins.').optional(),
    regex: z.string().describe('A regular expression (RE2) for the whole value.').optional(),
  });

const IstioMatch = () =>
  z.object({
    headers: z
      .record(z.string(), StringMatch())
      .describe('Headers that a request must carry, by name; exactly one of exact, prefix and regex each.')
      .optional(),
    sourceLabels: z.record(z.string(), z.string()).describe('Labels that the calling workload must have.').optional(),
  });

const ContainerOverrides = () =>
  z.object({
    containerName: z.string().describe('Name of the container in the base Deployment.'),
    image: z.string().describe('Replaces the image.').optional(),
    command: z.array(z.string()).describe('Replaces the whole command.').optional(),
    env: z.array(EnvVar()).describe('Variables to replace or add, by name.').optional(),
  });

const Subset = () =>
  z.object({
    name: z.string().describe('Name of the base Deployment.'),
    namespace: z.string().describe('Namespace of the base Deployment.'),
    podLabels: z.record(z.string(), z.string()).describe('Labels to add to the pods.').optional(),
    replicas: int32().describe('Number of pods; 1 by default, whatever the base has.').optional(),
    containers: z.array(ContainerOverrides()).describe('What to change in containers.').optional(),
    initContainers: z.array(ContainerOverrides()).describe('What to change in init containers.').optional(),
    defaultVersion: z.string().describe('The version that other requests reach, if not the global default.').optional(),
  });

/** Format of a time to live: greater than zero, in whole units. */
export const TTL_DURATION = /^[1-9][0-9]*[smhd]([0-9]+[smhd])*$/;

const Ttl = () =>
  z.object(
    {
      duration: z
        .string()
        .regex(TTL_DURATION, 'must be days, hours, minutes and seconds, such as 2d or 1h30m')
        .max(32)
        .describe('Days, hours, minutes and seconds, such as 2d or 1h30m; at most 365d.'),
      from: z
        .enum(['Created', 'Updated'])
        .describe(
          'What it counts from: the creation of the environment, or the last change of its spec. Default: Created.',
        )
        .optional(),
    },
    // Users of the flag `--ttl 8h` may write `ttl: 8h`.
    { error: ({ code }) => (code === 'invalid_type' ? 'must be an object: {duration: 8h}' : undefined) },
  );

/** Format of an environment's key: no character needs escaping anywhere. */
export const KEY_FORM = /^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/;
export const MAX_KEY_LENGTH = 63;

const Spec = () =>
  hints(
    z.object({
      key: z
        .string()
        .max(MAX_KEY_LENGTH)
        .regex(KEY_FORM)
        .describe(
          'Which requests reach the environment: those with this value in the header `x-env` (or what `--key-header` says), or as the member `env` of the header `baggage`. Immutable.',
        )
        .optional(),
      istioMatches: z
        .array(IstioMatch())
        .describe(
          'Which requests reach the environment in addition to those with its key: those that match one of these. Immutable.',
        )
        .optional(),
      subsets: z.array(Subset()).describe('Deployments to clone and to route to.'),
      consumers: z.array(Subset()).describe('Deployments to clone that receive no requests.').optional(),
      ttl: Ttl()
        .describe('How long the environment lives. Without it, the environment lives until it is deleted.')
        .optional(),
      routing: z
        .object({
          waitForReady: z
            .boolean()
            .describe(
              'Whether routes wait until the clone answers requests and proxies have picked up its rule. If false, they are written together with the clone and the rule, and requests fail until these are ready.',
            )
            .optional(),
        })
        .describe('How requests are routed to the environment.')
        .optional(),
      paused: z
        .boolean()
        .describe('Whether the controllers stop changing its objects and only write its status. Deletion still works.')
        .optional(),
    }),
    {
      'x-kubernetes-validations': [
        {
          rule: 'has(self.key) || has(self.istioMatches)',
          message: 'set key or istioMatches to say which requests reach the environment',
        },
      ],
    },
  );

const StatusError = () =>
  z.object({
    error: z.string().describe('What is wrong.'),
    lastOccurrence: time().describe('When it last occurred.'),
  });

const ResourceStatus = () =>
  z.object({
    name: z.string().describe('Name of the resource.'),
    namespace: z.string().describe('Namespace of the resource.'),
    status: z.string().describe('State of the resource.'),
  });

const CloneStatus = () =>
  ResourceStatus().extend({
    message: z.string().describe('Why it does not run.').optional(),
  });

const SubsetStatus = () =>
  z.object({
    deployment: CloneStatus().describe('The clone.'),
    destinationRules: z.array(ResourceStatus()).describe('The DestinationRules made for it.').optional(),
    virtualServices: z.array(ResourceStatus()).describe('The VirtualServices that route to it.').optional(),
    unreached: z.string().describe('Why no request reaches the clone.').optional(),
    subsetErrors: z
      .object({
        deployment: z.array(StatusError()).describe('Of the clone and its base.').optional(),
        destinationRule: z.array(StatusError()).describe('Of its DestinationRules.').optional(),
        virtualServices: z.array(StatusError()).describe('Of the VirtualServices that should route to it.').optional(),
        subset: z.array(StatusError()).describe('Of the subset as a whole.').optional(),
      })
      .describe('What is wrong now, by part.')
      .optional(),
    hash: int64().describe('Digest of the subset that the clone was made from.').optional(),
  });

const ConsumerStatus = () =>
  CloneStatus().extend({
    hash: int64().describe('Digest of the consumer that the clone was made from.').optional(),
    errors: z.array(StatusError()).describe('What is wrong now.').optional(),
  });

const Status = () =>
  z.object({
    subsetsStatus: z.record(z.string(), SubsetStatus()).describe('By namespace/name of the base Deployment.'),
    consumersStatus: z
      .record(z.string(), ConsumerStatus())
      .describe('By namespace/name of the base Deployment.')
      .optional(),
    state: z.string().describe('degraded, ready or processing.').optional(),
    totalCount: z.int().describe('Desired number of subsets and consumers.').optional(),
    totalReady: z.int().describe('Number of ready subsets and consumers.'),
    observedGeneration: hints(z.int(), { format: 'int64' })
      .describe('The generation that this status is about.')
      .optional(),
    expiresAt: time().describe('When the environment is deleted because its time to live is over.').optional(),
    specUpdatedAt: time()
      .describe('When the spec was last changed; only where the time to live counts from that.')
      .optional(),
    conditions: Conditions()
      .describe(
        'Ready, Reconciling, Stalled, WorkloadsReady, Routed and Isolated; Conflicted while another environment asks for some of the same requests, Draining while something is about to be removed, Expiring in the last hour of a time to live, Paused while spec.paused is set.',
      )
      .optional(),
  });

export const dynamicEnv = defineResource({
  group: 'riskified.com',
  version: 'v1alpha1',
  kind: 'DynamicEnv',
  plural: 'dynamicenvs',
  singular: 'dynamicenv',
  shortNames: ['de'],
  namespaced: true,
  description: 'Custom versions of some Deployments, reached only by requests that match.',
  spec: Spec,
  status: Status,
  columns: [
    { name: 'Status', type: 'string', jsonPath: '.status.state', description: 'Status of the DynamicEnv' },
    {
      name: 'Desired',
      type: 'integer',
      jsonPath: '.status.totalCount',
      description: 'Desired number of subsets and consumers',
    },
    {
      name: 'Current',
      type: 'integer',
      jsonPath: '.status.totalReady',
      description: 'Number of ready subsets and consumers',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export const DynamicEnv = dynamicEnv.kind;
export type DynamicEnv = ResourceObject<Input<typeof Spec>, Input<typeof Status>>;
export type Subset = Input<typeof Subset>;
export type IstioMatch = Input<typeof IstioMatch>;
export type StringMatch = Input<typeof StringMatch>;
export type ContainerOverrides = Input<typeof ContainerOverrides>;
export type EnvVar = Input<typeof EnvVar>;
export type DynamicEnvStatus = Input<typeof Status>;
export type SubsetStatus = Input<typeof SubsetStatus>;
export type ConsumerStatus = Input<typeof ConsumerStatus>;
export type CloneStatus = Input<typeof CloneStatus>;
export type ResourceStatus = Input<typeof ResourceStatus>;
export type StatusError = Input<typeof StatusError>;
