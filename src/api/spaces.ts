// Space requests and spaces (`toolchain.dev.openshift.com/v1alpha1`), and the managed environment that a deployer reads
// (`managed-gitops.redhat.com/v1alpha1`).
import * as z from 'zod';
import { hints, PlainConditions, time } from './core.ts';
import { defineResource } from './resource.ts';
import type { Input, ResourceObject } from './resource.ts';

const atomic = <S extends z.ZodType>(schema: S): S => hints(schema, { 'x-kubernetes-list-type': 'atomic' });

/** Conditions as this API group defines them: fewer required fields, and a time of the last update. */
const ToolchainCondition = () =>
  z.object({
    type: z.string().describe('Type of the condition.'),
    status: z.string().describe('True, False or Unknown.'),
    reason: z.string().describe('Reason in CamelCase.').optional(),
    message: z.string().describe('Message for people.').optional(),
    lastTransitionTime: time().describe('When the status last changed.').optional(),
    lastUpdatedTime: time().describe('When anything last changed.').optional(),
  });

const ToolchainConditions = () =>
  hints(z.array(ToolchainCondition()), {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });

const READY = '.status.conditions[?(@.type=="Ready")]';
const readyColumns = [
  { name: 'Ready', type: 'string', jsonPath: `${READY}.status` },
  { name: 'Reason', type: 'string', jsonPath: `${READY}.reason` },
] as const;

const SpaceRequestSpec = () =>
  z.object({
    tierName: z.string().describe('Template that the namespaces are made from.'),
    targetClusterRoles: atomic(z.array(z.string())).describe('Roles that the cluster must have.').optional(),
    disableInheritance: z.boolean().describe('Do not inherit bindings from the parent space.').optional(),
  });

const SpaceRequestStatus = () =>
  z.object({
    targetClusterURL: z.string().describe('URL of the API server that has the namespaces.').optional(),
    namespaceAccess: atomic(
      z.array(
        z.object({
          name: z.string().describe('Name of the namespace.'),
          secretRef: z.string().describe('Name of the Secret with a kubeconfig for it.'),
        }),
      ),
    )
      .describe('The namespaces, and how to reach them.')
      .optional(),
    conditions: ToolchainConditions().describe('State of the request.').optional(),
  });

export const spaceRequest = defineResource({
  group: 'toolchain.dev.openshift.com',
  version: 'v1alpha1',
  kind: 'SpaceRequest',
  plural: 'spacerequests',
  singular: 'spacerequest',
  namespaced: true,
  description: 'A request for namespaces of one tier.',
  preserveUnknownFields: true,
  spec: SpaceRequestSpec,
  requiredSpec: true,
  status: SpaceRequestStatus,
  columns: [
    { name: 'Tier', type: 'string', jsonPath: '.spec.tierName' },
    { name: 'TargetClusterURL', type: 'string', jsonPath: '.status.targetClusterURL' },
    ...readyColumns,
  ],
});

const SpaceSpec = () =>
  z.object({
    targetCluster: z.string().describe('Cluster that has the namespaces.').optional(),
    targetClusterRoles: atomic(z.array(z.string())).describe('Roles that the cluster must have.').optional(),
    tierName: z.string().describe('Template that the namespaces are made from.').optional(),
    parentSpace: z.string().describe('The space that this one belongs to.').optional(),
    disableInheritance: z.boolean().describe('Do not inherit bindings from the parent space.').optional(),
  });

const SpaceStatus = () =>
  z.object({
    targetCluster: z.string().describe('Cluster that has the namespaces.').optional(),
    provisionedNamespaces: atomic(
      z.array(
        z.object({
          name: z.string().describe('Name of the namespace.').optional(),
          type: z.string().describe('default for the first one.').optional(),
        }),
      ),
    )
      .describe('The namespaces that there are.')
      .optional(),
    conditions: ToolchainConditions().describe('State of the space.').optional(),
  });

export const space = defineResource({
  group: 'toolchain.dev.openshift.com',
  version: 'v1alpha1',
  kind: 'Space',
  plural: 'spaces',
  singular: 'space',
  namespaced: true,
  description:
    'Namespaces of one tier that belong together. A space that belongs to no other and that nobody is bound to is deleted 30 seconds after its creation.',
  preserveUnknownFields: true,
  spec: SpaceSpec,
  emptySpec: true,
  status: SpaceStatus,
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.targetCluster' },
    { name: 'Tier', type: 'string', jsonPath: '.spec.tierName' },
    ...readyColumns,
  ],
});

const SpaceBindingSpec = () =>
  z.object({
    masterUserRecord: z.string().describe('The user.'),
    space: z.string().describe('The space.'),
    spaceRole: z.string().describe('The role of the user: admin, maintainer, contributor or viewer.'),
  });

export const spaceBinding = defineResource({
  group: 'toolchain.dev.openshift.com',
  version: 'v1alpha1',
  kind: 'SpaceBinding',
  plural: 'spacebindings',
  singular: 'spacebinding',
  namespaced: true,
  description: 'The role of a user in a space and, unless overridden, in its sub-spaces.',
  preserveUnknownFields: true,
  spec: SpaceBindingSpec,
  requiredSpec: true,
  status: () => z.object({ conditions: ToolchainConditions().describe('State of the binding.').optional() }),
  columns: [
    { name: 'MUR', type: 'string', jsonPath: '.spec.masterUserRecord' },
    { name: 'Space', type: 'string', jsonPath: '.spec.space' },
    { name: 'SpaceRole', type: 'string', jsonPath: '.spec.spaceRole' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

const ManagedEnvironmentSpec = () =>
  z.object({
    apiURL: z.string().describe('URL of the API server.'),
    credentialsSecret: z.string().describe('Name of a Secret that holds a kubeconfig.'),
    allowInsecureSkipTLSVerify: z.boolean().describe('Do not verify the certificate of the server.'),
    createNewServiceAccount: z.boolean().describe('Make a service account for the deployer.').optional(),
    namespaces: z.array(z.string()).describe('Namespaces that may be written to; all when absent.').optional(),
    clusterResources: z.boolean().describe('Whether cluster-wide objects may be written.').optional(),
  });

export const managedEnvironment = defineResource({
  group: 'managed-gitops.redhat.com',
  version: 'v1alpha1',
  kind: 'GitOpsDeploymentManagedEnvironment',
  plural: 'gitopsdeploymentmanagedenvironments',
  singular: 'gitopsdeploymentmanagedenvironment',
  namespaced: true,
  description: 'A place that a deployer may write to.',
  spec: ManagedEnvironmentSpec,
  requiredSpec: true,
  status: () => z.object({ conditions: PlainConditions().describe('Whether it can be reached.').optional() }),
  columns: [
    { name: 'API', type: 'string', jsonPath: '.spec.apiURL' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});

export const SpaceRequest = spaceRequest.kind;
export type SpaceRequest = ResourceObject<Input<typeof SpaceRequestSpec>, Input<typeof SpaceRequestStatus>>;
export const Space = space.kind;
export type Space = ResourceObject<Input<typeof SpaceSpec>, Input<typeof SpaceStatus>>;
export const SpaceBinding = spaceBinding.kind;
export type SpaceBinding = ResourceObject<Input<typeof SpaceBindingSpec>, object>;
export const ManagedEnvironment = managedEnvironment.kind;
export type ManagedEnvironment = ResourceObject<
  Input<typeof ManagedEnvironmentSpec>,
  { readonly conditions?: Input<typeof PlainConditions> }
>;
