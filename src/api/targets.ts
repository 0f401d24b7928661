// A place to deploy, and the claim for one: the kinds of `appstudio.redhat.com/v1alpha1`.
import * as z from 'zod';
import { hints, PlainConditions } from './core.ts';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';

const GROUP = 'appstudio.redhat.com';
const VERSION = 'v1alpha1';

const Credentials = () =>
  z.object({
    defaultNamespace: z.string().describe('Namespace that the credentials are for.'),
    apiURL: z.string().describe('URL of the API server.'),
    clusterCredentialsSecret: z.string().describe('Name of a Secret in this namespace that holds a kubeconfig.'),
    allowInsecureSkipTLSVerify: z
      .boolean()
      .default(false)
      .describe('Do not verify the certificate of the server.')
      .optional(),
  });

const TargetSpec = () =>
  z.object({
    deploymentTargetClassName: z.string().describe('Class of the target; empty for one that was created by hand.'),
    kubernetesCredentials: Credentials().describe('How to reach the place.'),
    claimRef: hints(z.custom<string | { readonly name?: string }>(), { 'x-kubernetes-preserve-unknown-fields': true })
      .describe('The claim that the target is bound to or reserved for: its name, or an object with its name.')
      .optional(),
  });

const TargetStatus = () =>
  z.object({
    phase: z.string().describe('Pending, Available, Bound, Released or Failed.').optional(),
    conditions: PlainConditions().describe('State of the target.').optional(),
  });

export const deploymentTarget = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'DeploymentTarget',
  plural: 'deploymenttargets',
  singular: 'deploymenttarget',
  shortNames: ['dt'],
  namespaced: true,
  description: 'A place to deploy to: a namespace of a cluster, with credentials for it.',
  spec: TargetSpec,
  requiredSpec: true,
  status: TargetStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Class', type: 'string', jsonPath: '.spec.deploymentTargetClassName' },
    { name: 'Claim', type: 'string', jsonPath: '.spec.claimRef' },
    { name: 'Namespace', type: 'string', jsonPath: '.spec.kubernetesCredentials.defaultNamespace', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

const ClaimSpec = () =>
  z.object({
    deploymentTargetClassName: z.string().describe('Class of the requested target; may be empty.'),
    targetName: z.string().describe('The requested target or, once bound, the target that was found.').optional(),
    ttl: z
      .string()
      .describe('How long the claim lives after it is bound, such as 2d or 90m; without it, the claim does not expire.')
      .optional(),
  });

const ClaimStatus = () =>
  z.object({
    phase: z.string().describe('Pending, Bound or Lost.').optional(),
    conditions: PlainConditions().describe('State of the claim.').optional(),
  });

export const deploymentTargetClaim = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'DeploymentTargetClaim',
  plural: 'deploymenttargetclaims',
  singular: 'deploymenttargetclaim',
  shortNames: ['dtc'],
  namespaced: true,
  description: 'A claim for a place to deploy to.',
  spec: ClaimSpec,
  requiredSpec: true,
  status: ClaimStatus,
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Class', type: 'string', jsonPath: '.spec.deploymentTargetClassName' },
    { name: 'Target', type: 'string', jsonPath: '.spec.targetName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status', priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

const ClassSpec = () =>
  z.object({
    provisioner: z.string().describe('The provisioner of targets of this class.'),
    parameters: hints(z.record(z.string(), z.unknown()), { 'x-kubernetes-preserve-unknown-fields': true })
      .describe('Parameters of the provisioner.')
      .optional(),
    reclaimPolicy: z.enum(['Delete', 'Retain']).describe('What happens to a target when its claim is deleted.'),
  });

export const deploymentTargetClass = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'DeploymentTargetClass',
  plural: 'deploymenttargetclasses',
  singular: 'deploymenttargetclass',
  shortNames: ['dtcls'],
  namespaced: false,
  description: 'A kind of place to deploy to, and who makes one.',
  spec: ClassSpec,
  requiredSpec: true,
  status: () => z.object({}),
  immutableSpec: true,
  columns: [
    { name: 'Provisioner', type: 'string', jsonPath: '.spec.provisioner' },
    { name: 'Reclaim', type: 'string', jsonPath: '.spec.reclaimPolicy' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

const EnvironmentSpec = () =>
  z.object({
    displayName: z.string().describe('Name for people.'),
    deploymentStrategy: z.string().describe('Manual or AppStudioAutomated.'),
    type: z.string().describe('POC or Non-POC; no longer used.').optional(),
    parentEnvironment: z.string().describe('The environment that comes before this one.').optional(),
    tags: z.array(z.string()).describe('Tags for people.').optional(),
    configuration: z
      .object({
        env: z
          .array(z.object({ name: z.string().describe('Name.'), value: z.string().describe('Value.') }))
          .describe('Variables for what is deployed here.')
          .optional(),
        target: z
          .object({
            deploymentTargetClaim: z
              .object({ claimName: z.string().describe('Name of the claim.') })
              .describe('The claim for the place.'),
          })
          .describe('Where to deploy to.')
          .optional(),
      })
      .describe('Configuration of this environment.')
      .optional(),
    unstableConfigurationFields: z
      .object({
        clusterType: z.string().describe('Kubernetes or OpenShift.').optional(),
        kubernetesCredentials: z
          .object({
            targetNamespace: z.string().describe('Namespace to deploy to.'),
            apiURL: z.string().describe('URL of the API server.'),
            ingressDomain: z.string().describe('Domain under which services are reached.').optional(),
            clusterCredentialsSecret: z.string().describe('Name of a Secret that holds a kubeconfig.'),
            allowInsecureSkipTLSVerify: z.boolean().describe('Do not verify the certificate of the server.'),
            namespaces: z.array(z.string()).describe('Namespaces that may be written to.').optional(),
            clusterResources: z.boolean().describe('Whether cluster-wide objects may be written.').optional(),
          })
          .describe('How to reach the place, without a claim.')
          .optional(),
      })
      .describe('Fields that may change.')
      .optional(),
  });

export const environment = defineResource({
  group: GROUP,
  version: VERSION,
  kind: 'Environment',
  plural: 'environments',
  singular: 'environment',
  shortNames: ['env'],
  namespaced: true,
  description: 'A place to deploy to, as users see it.',
  spec: EnvironmentSpec,
  requiredSpec: true,
  status: () => z.object({ conditions: PlainConditions().describe('Conditions of the environment.').optional() }),
  columns: [
    { name: 'Claim', type: 'string', jsonPath: '.spec.configuration.target.deploymentTargetClaim.claimName' },
    { name: 'Reconciled', type: 'string', jsonPath: '.status.conditions[?(@.type=="Reconciled")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export const DeploymentTarget = deploymentTarget.kind;
export type DeploymentTarget = ResourceObject<Input<typeof TargetSpec>, Input<typeof TargetStatus>>;
export const DeploymentTargetClaim = deploymentTargetClaim.kind;
export type DeploymentTargetClaim = ResourceObject<Input<typeof ClaimSpec>, Input<typeof ClaimStatus>>;
export const DeploymentTargetClass = deploymentTargetClass.kind;
export type DeploymentTargetClass = ResourceObject<Input<typeof ClassSpec>, Record<string, never>>;
export const Environment = environment.kind;
export type Environment = ResourceObject<
  Input<typeof EnvironmentSpec>,
  { readonly conditions?: Input<typeof PlainConditions> }
>;
