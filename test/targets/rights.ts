// What whoever deploys to a place needs, and what they must not have. Data for credentials.ts.
import type { AnyObject, Impersonation, RawRequest } from '../../src/kube/index.ts';

export interface Right {
  readonly verb: string;
  readonly group?: string;
  /** `pods` or `pods/log` */
  readonly resource: string;
}

const CHANGE = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const READ = ['get', 'list', 'watch'];

function rights(verbs: readonly string[], group: string, ...resources: string[]): Right[] {
  return resources.flatMap((resource) => verbs.map((verb) => ({ verb, group, resource })));
}

/** All that a deployer needs in the place, and must not have elsewhere. */
export const DEPLOYING: readonly Right[] = [
  ...rights(CHANGE, '', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'persistentvolumeclaims', 'pods'),
  ...rights(CHANGE, 'apps', 'deployments', 'statefulsets', 'daemonsets', 'replicasets', 'deployments/scale'),
  ...rights(CHANGE, 'batch', 'jobs', 'cronjobs'),
  ...rights(CHANGE, 'autoscaling', 'horizontalpodautoscalers'),
  ...rights(CHANGE, 'networking.k8s.io', 'ingresses'),
  ...rights(CHANGE, 'policy', 'poddisruptionbudgets'),
  ...rights(READ, '', 'events', 'pods/log', 'resourcequotas', 'limitranges'),
  ...rights(READ, 'discovery.k8s.io', 'endpointslices'),
];

/** What they must not have, in the place neither. */
export const DENIED_EVERYWHERE: readonly Right[] = [
  ...rights(['create', 'update', 'patch', 'delete'], '', 'resourcequotas', 'limitranges', 'namespaces', 'nodes'),
  ...rights(['create', 'update', 'patch', 'delete', 'deletecollection'], '', 'persistentvolumes'),
  ...rights(
    ['create', 'update', 'patch', 'delete', 'bind', 'escalate'],
    'rbac.authorization.k8s.io',
    'roles',
    'rolebindings',
    'clusterroles',
    'clusterrolebindings',
  ),
  ...rights(['impersonate'], '', 'users', 'groups'),
  ...rights(['impersonate'], 'authentication.k8s.io', 'userextras/scopes', 'uids'),
  ...rights(['get', 'create'], '', 'nodes/proxy'),
  ...rights(['list'], '', 'nodes'),
  ...rights(['create', 'update', 'delete'], 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ...rights(
    ['create', 'update', 'delete'],
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
  ),
  ...rights(['create', 'approve'], 'certificates.k8s.io', 'certificatesigningrequests'),
  ...rights(['create', 'update', 'delete'], 'scheduling.k8s.io', 'priorityclasses'),
  ...rights(['create', 'update', 'delete'], 'storage.k8s.io', 'storageclasses'),
  ...rights(
    CHANGE,
    'appstudio.redhat.com',
    'deploymenttargets',
    'deploymenttargetclaims',
    'deploymenttargetclasses',
    'environments',
  ),
  ...rights(CHANGE, 'toolchain.dev.openshift.com', 'spacerequests', 'spaces'),
  ...rights(CHANGE, 'managed-gitops.redhat.com', 'gitopsdeploymentmanagedenvironments'),
];

interface Words {
  readonly namespace: string;
  readonly account: string;
  readonly team: string;
  readonly neighbour: string;
  readonly host: string;
}

interface Attempt {
  readonly what: string;
  readonly request: (words: Words) => RawRequest;
  readonly as?: (words: Words) => Impersonation;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'evil' } };
const adminRole = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
const subjects = ({ account, namespace }: Words) => [{ kind: 'ServiceAccount', name: account, namespace }];
const merge = { method: 'PATCH', contentType: 'application/merge-patch+json' };
const tokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };

/** Ways to get at more, each of which must be refused. */
export const ATTEMPTS: readonly Attempt[] = [
  {
    what: 'bind the own account to cluster-admin in the own namespace',
    request: (words) => ({
      method: 'POST',
      path: `${RBAC}/namespaces/${words.namespace}/rolebindings`,
      body: { ...rbac, kind: 'RoleBinding', roleRef: adminRole, subjects: subjects(words) },
    }),
  },
  {
    what: 'bind the own account to cluster-admin everywhere',
    request: (words) => ({
      method: 'POST',
      path: `${RBAC}/clusterrolebindings`,
      body: { ...rbac, kind: 'ClusterRoleBinding', roleRef: adminRole, subjects: subjects(words) },
    }),
  },
  {
    what: 'make a role that may do anything',
    request: ({ namespace }) => ({
      method: 'POST',
      path: `${RBAC}/namespaces/${namespace}/roles`,
      body: { ...rbac, kind: 'Role', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
    }),
  },
  {
    what: 'add somebody to the own binding',
    request: ({ namespace, account }) => ({
      ...merge,
      path: `${RBAC}/namespaces/${namespace}/rolebindings/${account}`,
      body: { subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }] },
    }),
  },
  { what: 'read the Secrets of the team', request: ({ team }) => ({ path: `/api/v1/namespaces/${team}/secrets` }) },
  {
    what: "read the Secrets of somebody else's place",
    request: ({ neighbour }) => ({ path: `/api/v1/namespaces/${neighbour}/secrets` }),
  },
  { what: 'read the Secrets of the system', request: () => ({ path: '/api/v1/namespaces/kube-system/secrets' }) },
  { what: 'read all Secrets', request: () => ({ path: '/api/v1/secrets' }) },
  { what: 'list namespaces', request: () => ({ path: '/api/v1/namespaces' }) },
  {
    what: 'deploy next door',
    request: ({ neighbour }) => ({
      method: 'POST',
      path: `/api/v1/namespaces/${neighbour}/configmaps`,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'evil' } },
    }),
  },
  {
    what: 'get a token of an account next door',
    request: ({ neighbour, account }) => ({
      method: 'POST',
      path: `/api/v1/namespaces/${neighbour}/serviceaccounts/${account}/token`,
      body: tokenRequest,
    }),
  },
  {
    what: 'get a token of an account of the system',
    request: () => ({
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/serviceaccounts/default/token',
      body: tokenRequest,
    }),
  },
  {
    what: 'lift the own quota',
    request: ({ namespace }) => ({
      method: 'DELETE',
      path: `/api/v1/namespaces/${namespace}/resourcequotas/storage`,
    }),
  },
  {
    what: 'change the labels of the own namespace, by which it belongs to a space',
    request: ({ namespace }) => ({
      ...merge,
      path: `/api/v1/namespaces/${namespace}`,
      body: { metadata: { labels: { 'toolchain.dev.openshift.com/space': 'another' } } },
    }),
  },
  {
    what: 'delete the own namespace',
    request: ({ namespace }) => ({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` }),
  },
  {
    what: 'make a namespace',
    request: () => ({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'evil' } },
    }),
  },
  {
    what: 'claim another place',
    request: ({ team }) => ({
      method: 'POST',
      path: `/apis/appstudio.redhat.com/v1alpha1/namespaces/${team}/deploymenttargetclaims`,
      body: {
        apiVersion: 'appstudio.redhat.com/v1alpha1',
        kind: 'DeploymentTargetClaim',
        metadata: { name: 'evil' },
        spec: { deploymentTargetClassName: '' },
      },
    }),
  },
  {
    what: 'look at the spaces of all',
    request: ({ host }) => ({ path: `/apis/toolchain.dev.openshift.com/v1alpha1/namespaces/${host}/spaces` }),
  },
  {
    what: 'act as the administrator',
    as: () => ({ user: 'admin', groups: ['system:masters'] }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'act as a member of the administrators',
    as: ({ namespace, account }) => ({
      user: `system:serviceaccount:${namespace}:${account}`,
      groups: ['system:masters'],
    }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'act as an account next door',
    as: ({ neighbour, account }) => ({ user: `system:serviceaccount:${neighbour}:${account}` }),
    request: ({ neighbour }) => ({ path: `/api/v1/namespaces/${neighbour}/secrets` }),
  },
  {
    what: 'act as a controller of the system',
    as: () => ({ user: 'system:serviceaccount:kube-system:namespace-controller' }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'act as another account of the own namespace, and get further with that',
    as: ({ namespace }) => ({ user: `system:serviceaccount:${namespace}:default` }),
    request: ({ team }) => ({ path: `/api/v1/namespaces/${team}/secrets` }),
  },
  {
    what: 'reach the pods of all through a node',
    request: () => ({ path: '/api/v1/nodes/node-1/proxy/pods' }),
  },
];

/** Something to deploy: of each kind one, without a namespace. */
export function workload(): readonly AnyObject[] {
  const named = (apiVersion: string, kind: string, fields: object): AnyObject => ({
    apiVersion,
    kind,
    metadata: { name: 'app' },
    ...fields,
  });
  const labels = { app: 'app' };
  const resources = { requests: { cpu: '10m', memory: '16Mi' }, limits: { cpu: '20m', memory: '32Mi' } };
  const pod = { containers: [{ name: 'app', image: 'app:1', resources }] };
  return [
    named('apps/v1', 'Deployment', {
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    }),
    named('v1', 'Service', { spec: { selector: labels, ports: [{ port: 80 }] } }),
    named('v1', 'ConfigMap', { data: { a: 'b' } }),
    named('v1', 'Secret', { stringData: { a: 'b' } }),
    named('v1', 'ServiceAccount', {}),
    named('batch/v1', 'CronJob', {
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { ...pod, restartPolicy: 'Never' } } } },
      },
    }),
    named('networking.k8s.io/v1', 'Ingress', {
      spec: { defaultBackend: { service: { name: 'app', port: { number: 80 } } } },
    }),
  ];
}
