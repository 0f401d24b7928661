// Discovery, for the groups that both servers have.
import { get, scenario } from '../scenario.ts';

const resourceFields = (...names: readonly string[]): string[] => names.map((name) => `resources[name=${name}]`);
const groupFields = (...names: readonly string[]): string[] => names.map((name) => `groups[name=${name}]`);
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const older = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const inAggregate = (group: string, resources: readonly string[]): string[] =>
  resources
    .map((name) => `items[0].versions[0].resources[resource=${name}]`)
    .concat(group === '' ? ['kind', 'apiVersion', 'metadata'] : []);

export const discovery = [
  scenario(
    'plain discovery',
    get('/api'),
    get('/apis', {
      only: [
        'kind',
        'apiVersion',
        ...groupFields(
          'apps',
          'batch',
          'rbac.authorization.k8s.io',
          'networking.k8s.io',
          'policy',
          'autoscaling',
          'events.k8s.io',
          'coordination.k8s.io',
          'apiextensions.k8s.io',
          'discovery.k8s.io',
          'authentication.k8s.io',
          'authorization.k8s.io',
        ),
      ],
    }),
    get('/apis/apps'),
    get('/apis/batch'),
    get('/apis/nowhere.example.com'),
    get('/api/v1', {
      only: [
        'kind',
        'groupVersion',
        ...resourceFields(
          'configmaps',
          'endpoints',
          'events',
          'limitranges',
          'namespaces',
          'namespaces/finalize',
          'namespaces/status',
          'nodes',
          'nodes/status',
          'pods',
          'pods/binding',
          'pods/eviction',
          'pods/log',
          'pods/status',
          'resourcequotas',
          'resourcequotas/status',
          'secrets',
          'serviceaccounts',
          'serviceaccounts/token',
          'services',
          'services/status',
        ),
      ],
    }),
    get('/apis/apps/v1', {
      only: [
        'kind',
        'apiVersion',
        'groupVersion',
        ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].flatMap((name) =>
          resourceFields(name, `${name}/status`, `${name}/scale`),
        ),
      ],
    }),
    get('/apis/batch/v1'),
    get('/apis/policy/v1'),
    get('/apis/autoscaling/v2'),
    get('/apis/coordination.k8s.io/v1'),
    get('/apis/events.k8s.io/v1'),
    get('/apis/rbac.authorization.k8s.io/v1'),
    get('/apis/apiextensions.k8s.io/v1'),
    get('/apis/authorization.k8s.io/v1'),
    get('/apis/authentication.k8s.io/v1'),
    get('/apis/discovery.k8s.io/v1'),
    get('/apis/networking.k8s.io/v1', {
      only: ['kind', 'groupVersion', ...resourceFields('ingresses', 'ingresses/status', 'networkpolicies')],
    }),
  ),
  scenario(
    'aggregated discovery',
    get('/api', {
      accept: aggregated,
      only: inAggregate('', ['configmaps', 'pods', 'services', 'namespaces', 'serviceaccounts']),
    }),
    get('/api', { accept: older, only: inAggregate('', ['configmaps', 'pods', 'services', 'namespaces']) }),
    get('/apis', { accept: aggregated, only: ['kind', 'apiVersion', 'items[metadata=apps]'] }),
  ),
  scenario(
    'health and version',
    get('/healthz'),
    get('/readyz'),
    get('/livez'),
    get('/version', { only: ['major', 'minor'] }),
    get('/openapi/v3', { only: ['kind'] }),
  ),
];
