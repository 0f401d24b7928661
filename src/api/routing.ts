// Mesh-neutral routing rules and the meshes that they are for: the kinds of `supergloo.solo.io/v1`.
import * as z from 'zod';
import { int32 } from './core.ts';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';
import {
  duration,
  message,
  opaque,
  PodSelector,
  ResourceRef,
  SoloStatus,
  STATE_COLUMNS,
  stringMap,
  strings,
  uint32,
} from './solo.ts';

const GROUP = 'supergloo.solo.io';
const VERSION = 'v1';

const AwsAppMesh = () =>
  message({
    awsName: z.string().describe('Name of the mesh at AWS, if it is not the name of this object.').nullish(),
    adopt: z
      .boolean()
      .describe('Whether to adopt resources of the mesh that somebody else created under the same names.')
      .nullish(),
    allowEmpty: z
      .boolean()
      .describe('Whether to remove the last virtual nodes when no pod of the mesh is left. They stay by default.')
      .nullish(),
    maxDeleteFraction: z
      .number()
      .min(0)
      .max(1)
      .describe('The share of virtual nodes and services that may be removed at once; 0.5 by default.')
      .nullish(),
    awsSecret: ResourceRef().describe('The Secret with the credentials.').nullish(),
    region: z.string().describe('Region of the mesh.').nullish(),
    enableAutoInject: z.boolean().describe('Whether pods get sidecars; not used.').nullish(),
    injectionSelector: PodSelector().describe('Which pods get sidecars; not used.').nullish(),
    virtualNodeLabel: z.string().describe('Label that names the virtual node of a pod; not used.').nullish(),
    sidecarPatchConfigMap: ResourceRef().describe('What is added to pods; not used.').nullish(),
  });

const MeshSpec = () =>
  message({
    awsAppMesh: AwsAppMesh().describe('The mesh is one of AWS App Mesh.').nullish(),
    istio: opaque().describe('The mesh is Istio.').nullish(),
    linkerd: opaque().describe('The mesh is Linkerd.').nullish(),
    mtlsConfig: opaque().describe('How workloads authenticate; not used.').nullish(),
    monitoringConfig: opaque().describe('Where metrics go; not used.').nullish(),
    smiEnabled: z.boolean().describe('Whether the mesh takes SMI objects; not used.').nullish(),
    discoveryMetadata: opaque().describe('What discovery found; not used.').nullish(),
  });

export const mesh = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'Mesh',
  plural: 'meshes',
  singular: 'mesh',
  shortNames: ['m'],
  namespaced: true,
  description: 'A service mesh that rules can be for.',
  preserveUnknownFields: true,
  spec: MeshSpec,
  status: SoloStatus,
  columns: [{ name: 'Region', type: 'string', jsonPath: '.spec.awsAppMesh.region' }, ...STATE_COLUMNS],
});

const MeshGroupSpec = () =>
  message({
    meshes: z.array(ResourceRef().nullable()).describe('The meshes of the group.').nullish(),
  });

export const meshGroup = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'MeshGroup',
  plural: 'meshgroups',
  singular: 'meshgroup',
  shortNames: ['mg'],
  namespaced: true,
  description: 'Meshes that a rule can be for at once.',
  preserveUnknownFields: true,
  spec: MeshGroupSpec,
  status: SoloStatus,
  columns: STATE_COLUMNS,
});

const valueMatch = (what: string) =>
  z.array(
    message({
      name: z.string().describe(`Name of the ${what}.`).nullish(),
      value: z.string().describe(`Its value; any when empty: the ${what} must only be there.`).nullish(),
      regex: z.boolean().describe('Whether the value is a regular expression.').nullish(),
    }),
  );

const Matcher = () =>
  message({
    prefix: z.string().describe('How the path begins.').nullish(),
    exact: z.string().describe('The whole path.').nullish(),
    regex: z.string().describe('A regular expression for the whole path.').nullish(),
    headers: valueMatch('header').describe('Headers that a request must have.').nullish(),
    queryParameters: valueMatch('parameter').describe('Query parameters that a request must have.').nullish(),
    methods: strings().describe('Methods that a request may have; any if empty.').nullish(),
  });

const Destination = () =>
  message({
    upstream: ResourceRef().describe('An upstream.').nullish(),
    service: message({
      ref: ResourceRef().describe('The service.').nullish(),
      port: uint32().describe('Its port.').nullish(),
    })
      .describe('A service; refused: name an upstream.')
      .nullish(),
    destinationSpec: opaque().describe('A function of the destination; not used.').nullish(),
    subset: message({ values: stringMap().describe('Labels of the pods.').nullish() })
      .describe('Some of the pods.')
      .nullish(),
  });

/** What a rule does: one of these. */
const RuleAction = () =>
  message({
    trafficShifting: message({
      destinations: message({
        destinations: z
          .array(
            message({
              destination: Destination().describe('Where to.').nullish(),
              weight: uint32().describe('Its share, relative to the sum of all.').nullish(),
            }).nullable(),
          )
          .describe('The destinations.')
          .nullish(),
      })
        .describe('The destinations with their weights.')
        .nullish(),
    })
      .describe('Split requests between destinations.')
      .nullish(),
    faultInjection: message({
      delay: message({
        duration: duration().describe('How long, such as 1.5s.').nullish(),
        delayType: z.string().describe('FIXED.').nullish(),
      })
        .describe('Delay requests.')
        .nullish(),
      abort: message({ httpStatus: int32().describe('The status to answer with.').nullish() })
        .describe('Answer in place of the destination.')
        .nullish(),
      percentage: z.number().describe('Of how many requests, from 0 to 100.').nullish(),
    })
      .describe('Inject faults.')
      .nullish(),
    requestTimeout: duration().describe('Timeout, such as 1.5s.').nullish(),
    retries: message({
      maxRetries: message({
        attempts: uint32().describe('How often.').nullish(),
        perTryTimeout: duration().describe('How long to wait for each.').nullish(),
        retryOn: z.string().describe('When.').nullish(),
      })
        .describe('Retry a number of times.')
        .nullish(),
      retryBudget: message({
        retryRatio: z.number().describe('Share of requests that may be retried.').nullish(),
        minRetriesPerSecond: uint32().describe('Minimum number of retries per second.').nullish(),
        ttl: duration().describe('How long requests count towards the budget.').nullish(),
      })
        .describe('Retry within a budget: a share of all requests.')
        .nullish(),
    })
      .describe('Retry when a request fails.')
      .nullish(),
    corsPolicy: message({
      allowOrigin: strings().describe('Allowed origins.').nullish(),
      allowMethods: strings().describe('Methods that they may use.').nullish(),
      allowHeaders: strings().describe('Headers that they may send.').nullish(),
      exposeHeaders: strings().describe('Headers that they may read.').nullish(),
      maxAge: duration().describe('How long the preflight response may be cached.').nullish(),
      allowCredentials: z.boolean().describe('Whether credentials may be sent.').nullish(),
    })
      .describe('Allow requests from other origins (CORS).')
      .nullish(),
    mirror: Destination().describe('Mirror each request there.').nullish(),
    headerManipulation: message({
      removeResponseHeaders: strings().describe('Headers to remove from responses.').nullish(),
      appendResponseHeaders: stringMap().describe('Headers to add to responses.').nullish(),
      removeRequestHeaders: strings().describe('Headers to remove from requests.').nullish(),
      appendRequestHeaders: stringMap().describe('Headers to add to requests.').nullish(),
    })
      .describe('Change headers.')
      .nullish(),
  });

const RoutingRuleSpec = () =>
  message({
    targetMesh: ResourceRef().describe('The Mesh or MeshGroup that the rule is for. Required.').nullish(),
    sourceSelector: PodSelector().describe('Whose requests the rule is for; all clients if empty.').nullish(),
    destinationSelector: PodSelector()
      .describe('Requests to which hosts the rule is for; all hosts of the mesh if empty.')
      .nullish(),
    requestMatchers: z
      .array(Matcher().nullable())
      .describe('Which requests the rule is for: those that fit one of these. At least one.')
      .nullish(),
    spec: RuleAction().describe('What to do with them: one of these.').nullish(),
  });

export const routingRule = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'RoutingRule',
  plural: 'routingrules',
  singular: 'routingrule',
  shortNames: ['rr'],
  namespaced: true,
  description: 'A mesh-neutral rule for where requests to some hosts of a mesh go.',
  preserveUnknownFields: true,
  spec: RoutingRuleSpec,
  status: SoloStatus,
  columns: [{ name: 'Mesh', type: 'string', jsonPath: '.spec.targetMesh.name' }, ...STATE_COLUMNS],
});

export const Mesh = mesh.kind;
export type Mesh = ResourceObject<Input<typeof MeshSpec>, Input<typeof SoloStatus>>;
export const MeshGroup = meshGroup.kind;
export type MeshGroup = ResourceObject<Input<typeof MeshGroupSpec>, Input<typeof SoloStatus>>;
export const RoutingRule = routingRule.kind;
export type RoutingRule = ResourceObject<Input<typeof RoutingRuleSpec>, Input<typeof SoloStatus>>;
