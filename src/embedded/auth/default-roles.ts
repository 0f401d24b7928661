// The default ClusterRoles and bindings: cluster-admin, the user-facing roles (admin, edit, view), and discovery.

interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/** An object without its `apiVersion` and `kind`. */
interface DefaultObject {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];

/** What the role view can read: no Secrets, no roles. */
const viewable: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    [
      'configmaps',
      'endpoints',
      'events',
      'limitranges',
      'namespaces',
      'persistentvolumeclaims',
      'persistentvolumeclaims/status',
      'pods',
      'pods/log',
      'pods/status',
      'replicationcontrollers',
      'replicationcontrollers/scale',
      'replicationcontrollers/status',
      'resourcequotas',
      'resourcequotas/status',
      'serviceaccounts',
      'services',
      'services/status',
    ],
  ],
  ['discovery.k8s.io', ['endpointslices']],
  [
    'apps',
    [
      'controllerrevisions',
      ...['daemonsets', 'deployments', 'replicasets', 'statefulsets'].flatMap((name) => [name, `${name}/status`]),
      ...['deployments', 'replicasets', 'statefulsets'].map((name) => `${name}/scale`),
    ],
  ],
  ['autoscaling', ['horizontalpodautoscalers', 'horizontalpodautoscalers/status']],
  ['batch', ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status']],
  ['policy', ['poddisruptionbudgets', 'poddisruptionbudgets/status']],
  ['networking.k8s.io', ['ingresses', 'ingresses/status', 'networkpolicies']],
];

/** What the role edit can change. */
const editable: readonly (readonly [string, readonly string[]])[] = [
  [
    '',
    [
      'configmaps',
      'events',
      'persistentvolumeclaims',
      'pods',
      'replicationcontrollers',
      'replicationcontrollers/scale',
      'secrets',
      'serviceaccounts',
      'services',
    ],
  ],
  [
    'apps',
    [
      'daemonsets',
      'deployments',
      'deployments/scale',
      'replicasets',
      'replicasets/scale',
      'statefulsets',
      'statefulsets/scale',
    ],
  ],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['batch', ['cronjobs', 'jobs']],
  ['policy', ['poddisruptionbudgets']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
];

function rulesFor(verbs: readonly string[], groups: readonly (readonly [string, readonly string[]])[]): Rule[] {
  return groups.map(([group, resources]) => ({ apiGroups: [group], resources, verbs }));
}

const rbacResources = ['rolebindings', 'roles'];
const rbacGroup = 'rbac.authorization.k8s.io';
const aggregateTo = (role: string): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true',
});
const bootstrapping = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

function role(name: string, rules: readonly Rule[], labels: Record<string, string> = {}): DefaultObject {
  return { metadata: { name, labels: { ...bootstrapping, ...labels } }, rules };
}

function aggregatedRole(name: string, labels: Record<string, string> = {}): DefaultObject {
  const clusterRoleSelectors = [{ matchLabels: aggregateTo(name) }];
  return {
    metadata: { name, labels: { ...bootstrapping, ...labels } },
    aggregationRule: { clusterRoleSelectors },
    rules: [],
  };
}

export const defaultClusterRoles: readonly DefaultObject[] = [
  role('cluster-admin', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  aggregatedRole('admin'),
  aggregatedRole('edit', aggregateTo('admin')),
  aggregatedRole('view', aggregateTo('edit')),
  role('system:aggregate-to-view', rulesFor(read, viewable), aggregateTo('view')),
  role(
    'system:aggregate-to-edit',
    [
      { apiGroups: [''], resources: ['secrets'], verbs: read },
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
      { apiGroups: [''], resources: ['pods/eviction', 'serviceaccounts/token'], verbs: ['create'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: [...read, ...write] },
      ...rulesFor(write, editable),
    ],
    aggregateTo('edit'),
  ),
  role(
    'system:aggregate-to-admin',
    [
      { apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'], verbs: ['create'] },
      { apiGroups: [rbacGroup], resources: rbacResources, verbs: [...read, ...write] },
    ],
    aggregateTo('admin'),
  ),
  role('system:basic-user', [
    {
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
      verbs: ['create'],
    },
    { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
  ]),
  role('system:discovery', [
    {
      nonResourceURLs: [
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ],
      verbs: ['get'],
    },
  ]),
  role('system:auth-delegator', [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ]),
];

function binding(name: string, group: string): DefaultObject {
  return {
    metadata: { name, labels: bootstrapping },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
    subjects: [{ apiGroup: rbacGroup, kind: 'Group', name: group }],
  };
}

export const defaultClusterRoleBindings: readonly DefaultObject[] = [
  binding('cluster-admin', 'system:masters'),
  binding('system:basic-user', 'system:authenticated'),
  binding('system:discovery', 'system:authenticated'),
];
