// The built-in resources of the embedded API server: names, verbs, subresources. Other files of this
// folder have their columns, validation and defaults.
import type { Resource } from '../resource.ts';
import { columnsOf } from './columns/index.ts';
import { definition } from './definitions.ts';
import { selectableFieldsOf } from './fields.ts';

interface Entry {
  readonly kind: string;
  readonly plural: string;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly cluster?: true;
  readonly verbs?: readonly string[];
  readonly status?: true;
  readonly scale?: true;
  readonly subresources?: readonly string[];
  readonly generation?: true;
  readonly stored?: { readonly group: string; readonly version: string };
  readonly deprecation?: string;
}

const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const noCollectionDelete = allVerbs.filter((verb) => verb !== 'deletecollection');
const createOnly = ['create'];
const all = ['all'];
const cluster = true;
const status = true;
const scale = true;
const generation = true;

const core: readonly Entry[] = [
  { kind: 'ConfigMap', plural: 'configmaps', short: ['cm'] },
  {
    kind: 'Endpoints',
    plural: 'endpoints',
    short: ['ep'],
    deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  },
  { kind: 'Event', plural: 'events', short: ['ev'] },
  { kind: 'LimitRange', plural: 'limitranges', short: ['limits'] },
  {
    kind: 'Namespace',
    plural: 'namespaces',
    short: ['ns'],
    cluster,
    status,
    subresources: ['finalize'],
    verbs: noCollectionDelete,
  },
  { kind: 'Node', plural: 'nodes', short: ['no'], cluster, status },
  { kind: 'PersistentVolumeClaim', plural: 'persistentvolumeclaims', short: ['pvc'], status },
  { kind: 'PersistentVolume', plural: 'persistentvolumes', short: ['pv'], cluster, status },
  {
    kind: 'Pod',
    plural: 'pods',
    short: ['po'],
    categories: all,
    status,
    subresources: ['binding', 'ephemeralcontainers', 'eviction', 'log'],
    generation,
  },
  {
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    short: ['rc'],
    categories: all,
    status,
    scale,
    generation,
  },
  { kind: 'ResourceQuota', plural: 'resourcequotas', short: ['quota'], status },
  { kind: 'Secret', plural: 'secrets' },
  { kind: 'ServiceAccount', plural: 'serviceaccounts', short: ['sa'], subresources: ['token'] },
  { kind: 'Service', plural: 'services', short: ['svc'], categories: all, status },
];

const apps: readonly Entry[] = [
  { kind: 'ControllerRevision', plural: 'controllerrevisions' },
  { kind: 'DaemonSet', plural: 'daemonsets', short: ['ds'], categories: all, status, generation },
  { kind: 'Deployment', plural: 'deployments', short: ['deploy'], categories: all, status, scale, generation },
  { kind: 'ReplicaSet', plural: 'replicasets', short: ['rs'], categories: all, status, scale, generation },
  { kind: 'StatefulSet', plural: 'statefulsets', short: ['sts'], categories: all, status, scale, generation },
];

const autoscaler: Entry = {
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  short: ['hpa'],
  categories: all,
  status,
};

/** [group, version, package of the definitions, resources]. */
const groups: readonly (readonly [string, string, string, readonly Entry[]])[] = [
  ['', 'v1', 'core.v1', core],
  ['apps', 'v1', 'apps.v1', apps],
  [
    'batch',
    'v1',
    'batch.v1',
    [
      { kind: 'CronJob', plural: 'cronjobs', short: ['cj'], categories: all, status, generation },
      { kind: 'Job', plural: 'jobs', categories: all, status, generation },
    ],
  ],
  ['autoscaling', 'v2', 'autoscaling.v2', [autoscaler]],
  ['autoscaling', 'v1', 'autoscaling.v1', [{ ...autoscaler, stored: { group: 'autoscaling', version: 'v2' } }]],
  [
    'policy',
    'v1',
    'policy.v1',
    [{ kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', short: ['pdb'], status, generation }],
  ],
  [
    'networking.k8s.io',
    'v1',
    'networking.v1',
    [
      { kind: 'IngressClass', plural: 'ingressclasses', cluster, generation },
      { kind: 'Ingress', plural: 'ingresses', short: ['ing'], status, generation },
      { kind: 'NetworkPolicy', plural: 'networkpolicies', short: ['netpol'], generation },
    ],
  ],
  ['discovery.k8s.io', 'v1', 'discovery.v1', [{ kind: 'EndpointSlice', plural: 'endpointslices', generation }]],
  [
    'events.k8s.io',
    'v1',
    'events.v1',
    [{ kind: 'Event', plural: 'events', short: ['ev'], stored: { group: '', version: 'v1' } }],
  ],
  ['coordination.k8s.io', 'v1', 'coordination.v1', [{ kind: 'Lease', plural: 'leases' }]],
  [
    'rbac.authorization.k8s.io',
    'v1',
    'rbac.v1',
    [
      { kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', cluster },
      { kind: 'ClusterRole', plural: 'clusterroles', cluster },
      { kind: 'RoleBinding', plural: 'rolebindings' },
      { kind: 'Role', plural: 'roles' },
    ],
  ],
  [
    'apiextensions.k8s.io',
    'v1',
    'apiextensions.v1',
    [
      {
        kind: 'CustomResourceDefinition',
        plural: 'customresourcedefinitions',
        short: ['crd', 'crds'],
        categories: ['api-extensions'],
        cluster,
        status,
        generation,
      },
    ],
  ],
  [
    'admissionregistration.k8s.io',
    'v1',
    'admissionregistration.v1',
    [
      {
        kind: 'MutatingWebhookConfiguration',
        plural: 'mutatingwebhookconfigurations',
        categories: ['api-extensions'],
        cluster,
        generation,
      },
      {
        kind: 'ValidatingWebhookConfiguration',
        plural: 'validatingwebhookconfigurations',
        categories: ['api-extensions'],
        cluster,
        generation,
      },
    ],
  ],
  [
    'authentication.k8s.io',
    'v1',
    'authentication.v1',
    [
      { kind: 'SelfSubjectReview', plural: 'selfsubjectreviews', cluster, verbs: createOnly },
      { kind: 'TokenReview', plural: 'tokenreviews', cluster, verbs: createOnly },
    ],
  ],
  [
    'authorization.k8s.io',
    'v1',
    'authorization.v1',
    [
      { kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', verbs: createOnly },
      { kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', cluster, verbs: createOnly },
      { kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', cluster, verbs: createOnly },
      { kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', cluster, verbs: createOnly },
    ],
  ],
  [
    'certificates.k8s.io',
    'v1',
    'certificates.v1',
    [
      {
        kind: 'CertificateSigningRequest',
        plural: 'certificatesigningrequests',
        short: ['csr'],
        cluster,
        status,
        subresources: ['approval'],
      },
    ],
  ],
  ['storage.k8s.io', 'v1', 'storage.v1', [{ kind: 'StorageClass', plural: 'storageclasses', short: ['sc'], cluster }]],
  [
    'scheduling.k8s.io',
    'v1',
    'scheduling.v1',
    [{ kind: 'PriorityClass', plural: 'priorityclasses', short: ['pc'], cluster, generation }],
  ],
];

function resourceOf(group: string, version: string, packageName: string, entry: Entry): Resource {
  return {
    group,
    version,
    kind: entry.kind,
    plural: entry.plural,
    singular: entry.kind.toLowerCase(),
    shortNames: entry.short ?? [],
    categories: entry.categories ?? [],
    namespaced: entry.cluster !== true,
    verbs: entry.verbs ?? allVerbs,
    status: entry.status === true,
    ...(entry.scale && {
      scale: {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.spec.selector',
      },
    }),
    subresources: entry.subresources ?? [],
    get schema() {
      return definition(`${packageName}.${entry.kind}`);
    },
    columns: columnsOf(group, entry.kind),
    custom: false,
    hasGeneration: entry.generation === true,
    ...(entry.stored && { stored: entry.stored }),
    selectableFields: selectableFieldsOf(group, entry.kind),
    ...(entry.deprecation !== undefined && { deprecation: entry.deprecation }),
  };
}

let resources: readonly Resource[] | undefined;

/** The built-in resources in the order of discovery. */
export function builtinResources(): readonly Resource[] {
  resources ??= groups.flatMap(([group, version, packageName, entries]) =>
    entries.map((entry) => resourceOf(group, version, packageName, entry)),
  );
  return resources;
}

/** The name of the definition of a built-in resource, such as `apps.v1.Deployment`. */
export function definitionNameOf(resource: Resource): string | undefined {
  const packageName = groups.find(([group, version]) => group === resource.group && version === resource.version)?.[2];
  return packageName === undefined || resource.custom ? undefined : `${packageName}.${resource.kind}`;
}
