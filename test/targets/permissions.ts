// The permissions that a deployer needs, and those that it must not have. Data for credentials.ts.
import type { AnyObject, Impersonation, RawRequest } from '../../src/kube/index.ts';

export interface Permission {
  readonly verb: string;
  readonly group?: string;
  /** `pods` or `pods/log` */
  readonly resource: string;
}

const CHANGE = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
const READ = ['get', 'list', 'watch'];

function permissions(verbs: readonly string[], group: string, ...resources: string[]): Permission[] {
  return resources.flatMap((resource) => verbs.map((verb) => ({ verb, group, resource })));
}

/** Permissions that a deployer needs in its namespace, and must not have elsewhere. */
export const DEPLOYING: readonly Permission[] = [
  ...permissions(CHANGE, '', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'persistentvolumeclaims', 'pods'),
  ...permissions(CHANGE, 'apps', 'deployments', 'statefulsets', 'daemonsets', 'replicasets', 'deployments/scale'),
  ...permissions(CHANGE, 'batch', 'jobs', 'cronjobs'),
  ...permissions(CHANGE, 'autoscaling', 'horizontalpodautoscalers'),
  ...permissions(CHANGE, 'networking.k8s.io', 'ingresses'),
  ...permissions(CHANGE, 'policy', 'poddisruptionbudgets'),
  ...permissions(READ, '', 'events', 'pods/log', 'resourcequotas', 'limitranges'),
  ...permissions(READ, 'discovery.k8s.io', 'endpointslices'),
];

/** Permissions that it must not have anywhere. */
export const DENIED_EVERYWHERE: readonly Permission[] = [
  ...permissions(['create', 'update', 'patch', 'delete'], '', 'resourcequotas', 'limitranges', 'namespaces', 'nodes'),
  ...permissions(['create', 'update', 'patch', 'delete', 'deletecollection'], '', 'persistentvolumes'),
  ...permissions(
    ['create', 'update', 'patch', 'delete', 'bind', 'escalate'],
    'rbac.authorization.k8s.io',
    'roles',
    'rolebindings',
    'clusterroles',
    'clusterrolebindings',
  ),
  ...permissions(['impersonate'], '', 'users', 'groups'),
  ...permissions(['impersonate'], 'authentication.k8s.io', 'userextras/scopes', 'uids'),
  ...permissions(['get', 'create'], '', 'nodes/proxy'),
  ...permissions(['list'], '', 'nodes'),
  ...permissions(['create', 'update', 'delete'], 'apiextensions.k8s.io', 'customresourcedefinitions'),
  ...permissions(
    ['create', 'update', 'delete'],
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
  ),
  ...permissions(['create', 'approve'], 'certificates.k8s.io', 'certificatesigningrequests'),
  ...permissions(['create', 'update', 'delete'], 'scheduling.k8s.io', 'priorityclasses'),
  ...permissions(['create', 'update', 'delete'], 'storage.k8s.io', 'storageclasses'),
  ...permissions(
    CHANGE,
    'appstudio.redhat.com',
    'deploymenttargets',
    'deploymenttargetclaims',
    'deploymenttargetclasses',
    'environments',
  ),
  ...permissions(CHANGE, 'toolchain.dev.openshift.com', 'spacerequests', 'spaces'),
  ...permissions(CHANGE, 'managed-gitops.redhat.com', 'gitopsdeploymentmanagedenvironments'),
];

interface Names {
  readonly namespace: string;
  readonly account: string;
  readonly team: string;
  readonly neighbour: string;
  readonly host: string;
}

interface Attempt {
  readonly what: string;
  readonly request: (names: Names) => RawRequest;
  readonly as?: (names: Names) => Impersonation;
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'evil' } };
const adminRole = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
const subjects = ({ account, namespace }: Names) => [{ kind: 'ServiceAccount', name: account, namespace }];
const merge = { method: 'PATCH', contentType: 'application/merge-patch+json' };
const tokenRequest = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };

/** Attempts to escalate, each of which must be forbidden. */
export const ATTEMPTS: readonly Attempt[] = [
  {
    what: 'bind the own account to cluster-admin in the own namespace',
    request: (names) => ({
      method: 'POST',
      path: `${RBAC}/namespaces/${names.namespace}/rolebindings`,
      body: { ...rbac, kind: 'RoleBinding', roleRef: adminRole, subjects: subjects(names) },
    }),
  },
  {
    what: 'bind the own account to cluster-admin everywhere',
    request: (names) => ({
      method: 'POST',
      path: `${RBAC}/clusterrolebindings`,
      body: { ...rbac, kind: 'ClusterRoleBinding', roleRef: adminRole, subjects: subjects(names) },
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
    what: 'add a subject to the own binding',
    request: ({ namespace, account }) => ({
      ...merge,
      path: `${RBAC}/namespaces/${namespace}/rolebindings/${account}`,
      body: { subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }] },
    }),
  },
  { what: 'read the Secrets of the team', request: ({ team }) => ({ path: `/api/v1/namespaces/${team}/secrets` }) },
  {
    what: 'read the Secrets of the namespace of another claim',
    request: ({ neighbour }) => ({ path: `/api/v1/namespaces/${neighbour}/secrets` }),
  },
  { what: 'read the Secrets of kube-system', request: () => ({ path: '/api/v1/namespaces/kube-system/secrets' }) },
  { what: 'read all Secrets', request: () => ({ path: '/api/v1/secrets' }) },
  { what: 'list namespaces', request: () => ({ path: '/api/v1/namespaces' }) },
  {
    what: 'deploy to the namespace of another claim',
    request: ({ neighbour }) => ({
      method: 'POST',
      path: `/api/v1/namespaces/${neighbour}/configmaps`,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'evil' } },
    }),
  },
  {
    what: 'get a token of an account in the namespace of another claim',
    request: ({ neighbour, account }) => ({
      method: 'POST',
      path: `/api/v1/namespaces/${neighbour}/serviceaccounts/${account}/token`,
      body: tokenRequest,
    }),
  },
  {
    what: 'get a token of an account in kube-system',
    request: () => ({
      method: 'POST',
      path: '/api/v1/namespaces/kube-system/serviceaccounts/default/token',
      body: tokenRequest,
    }),
  },
  {
    what: 'delete the own quota',
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
    what: 'create a namespace',
    request: () => ({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'evil' } },
    }),
  },
  {
    what: 'create another claim',
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
    what: 'list all spaces',
    request: ({ host }) => ({ path: `/apis/toolchain.dev.openshift.com/v1alpha1/namespaces/${host}/spaces` }),
  },
  {
    what: 'impersonate the administrator',
    as: () => ({ user: 'admin', groups: ['system:masters'] }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'impersonate a member of system:masters',
    as: ({ namespace, account }) => ({
      user: `system:serviceaccount:${namespace}:${account}`,
      groups: ['system:masters'],
    }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'impersonate an account in the namespace of another claim',
    as: ({ neighbour, account }) => ({ user: `system:serviceaccount:${neighbour}:${account}` }),
    request: ({ neighbour }) => ({ path: `/api/v1/namespaces/${neighbour}/secrets` }),
  },
  {
    what: 'impersonate a controller of the cluster',
    as: () => ({ user: 'system:serviceaccount:kube-system:namespace-controller' }),
    request: () => ({ path: '/api/v1/secrets' }),
  },
  {
    what: 'impersonate another account of the own namespace to read Secrets of the team',
    as: ({ namespace }) => ({ user: `system:serviceaccount:${namespace}:default` }),
    request: ({ team }) => ({ path: `/api/v1/namespaces/${team}/secrets` }),
  },
  {
    what: 'reach all pods through the proxy of a node',
    request: () => ({ path: '/api/v1/nodes/node-1/proxy/pods' }),
  },
];

/** Objects to deploy: one of each kind, without a namespace. */
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
