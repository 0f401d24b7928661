// status, scale, eviction, binding and the other subresources.
import { apply, core, del, get, untilDeleted, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const deployments = inGroup('apps/v1', 'deployments');
const d = `${deployments}/d`;
const quiet = deployment('d', { replicas: 0, paused: true });
const pausedPair = deployment('d', { replicas: 2, paused: true });

const scale = (spec: object): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'd', namespace: '<ns>' },
  spec,
});

export const subresources = [
  scenario(
    'scale',
    post(deployments, quiet, { only: ['kind'] }),
    get(`${d}/scale`),
    patch('merge', `${d}/scale`, { spec: { replicas: 2 } }),
    put(`${d}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'd', namespace: '<ns>' },
      spec: { replicas: 0 },
    }),
    get(d, { only: ['spec.replicas', 'metadata.generation'] }),
    patch('merge', `${d}/scale`, { spec: { replicas: -1 } }),
    put(`${d}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'other' },
      spec: { replicas: 1 },
    }),
    put(`${d}/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'd', resourceVersion: '1' },
      spec: { replicas: 1 },
    }),
    put(`${d}/scale`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: {} }),
    patch('json', `${d}/scale`, [{ op: 'replace', path: '/spec/replicas', value: 0 }], { only: ['spec'] }),
    get(inGroup('apps/v1', 'deployments', 'missing', 'scale')),
    patch('merge', inGroup('apps/v1', 'deployments', 'missing', 'scale'), { spec: { replicas: 1 } }),
  ),
  scenario(
    'apply on scale',
    apply('owner', d, pausedPair, { only: ['spec.replicas'] }),
    apply('me', `${d}/scale`, scale({ replicas: 1 })),
    apply('me', `${d}/scale`, scale({ replicas: 2 })),
    get(d, { only: ['spec.replicas', 'metadata.managedFields'] }),
    apply('me', `${d}/scale`, scale({ replicas: 1 }), { query: { force: 'true' } }),
    get(d, { only: ['spec.replicas', 'metadata.generation', 'metadata.managedFields'] }),
    apply('owner', d, pausedPair, { only: ['code', 'message'] }),
    apply('me', `${d}/scale`, { ...scale({}), kind: 'Deployment' }, { only: ['code'] }),
    apply('me', `${d}/scale`, scale({ replicas: -1 }), { only: ['code'] }),
  ),
  scenario(
    'status is written only through its subresource',
    post(
      inGroup('policy/v1', 'poddisruptionbudgets'),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'p' },
        spec: { minAvailable: 1 },
        status: { currentHealthy: 5 },
      },
      { only: ['spec'] },
    ),
    post(inGroup('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    }),
    put(inGroup('networking.k8s.io/v1', 'ingresses', 'i', 'status'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i', labels: { x: 'y' } },
      spec: { defaultBackend: { service: { name: 'other', port: { number: 81 } } } },
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    }),
    put(inGroup('networking.k8s.io/v1', 'ingresses', 'i'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: { defaultBackend: { service: { name: 'other', port: { number: 81 } } } },
      status: { loadBalancer: {} },
    }),
    patch('merge', inGroup('networking.k8s.io/v1', 'ingresses', 'i', 'status'), {
      status: { loadBalancer: { ingress: [{ hostname: 'h.example.com' }] } },
    }),
    get(inGroup('networking.k8s.io/v1', 'ingresses', 'i', 'status')),
    patch('merge', inGroup('networking.k8s.io/v1', 'ingresses', 'i', 'status'), {
      status: { loadBalancer: { ingress: [{ ip: 'odd' }] } },
    }),
  ),
  scenario(
    'a pod is bound to a node only once',
    post(core('pods'), pod('p', { schedulerName: 'nobody' }), { only: ['spec.nodeName', 'status'] }),
    post(core('pods', 'p', 'binding'), {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'nowhere' },
    }),
    get(core('pods', 'p'), { only: ['spec.nodeName', 'status.conditions[type=PodScheduled].status', 'status.phase'] }),
    post(core('pods', 'p', 'binding'), {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'elsewhere' },
    }),
    post(
      core('pods', 'missing', 'binding'),
      { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'missing' }, target: { kind: 'Node', name: 'x' } },
      { only: ['code', 'reason'] },
    ),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
  ),
  scenario(
    'evictions respect disruption budgets',
    post(core('pods'), pod('p', {}, { labels: { app: 'p' } }), { only: ['kind'] }),
    post(
      inGroup('policy/v1', 'poddisruptionbudgets'),
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'p' } } },
      },
      { only: ['kind'] },
    ),
    get(core('pods', 'p'), {
      until: { path: 'status.conditions[type=Ready].status', is: 'True' },
      only: ['status.phase'],
    }),
    get(inGroup('policy/v1', 'poddisruptionbudgets', 'b'), {
      until: { path: 'status.currentHealthy', is: 1 },
      only: ['status'],
    }),
    post(
      core('pods', 'p', 'eviction'),
      { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } },
      { only: ['kind', 'code', 'reason', 'message', 'details'] },
    ),
    patch(
      'merge',
      inGroup('policy/v1', 'poddisruptionbudgets', 'b'),
      { spec: { minAvailable: 0 } },
      { only: ['kind'] },
    ),
    get(inGroup('policy/v1', 'poddisruptionbudgets', 'b'), {
      until: { path: 'status.disruptionsAllowed', is: 1 },
      only: ['status.conditions', 'status.disruptionsAllowed'],
    }),
    post(core('pods', 'p', 'eviction'), { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
    untilDeleted(core('pods', 'p')),
    post(core('pods', 'missing', 'eviction'), {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'missing' },
    }),
  ),
  scenario(
    'subresources that do not exist',
    get(core('configmaps', 'a', 'scale')),
    get(inGroup('apps/v1', 'deployments', 'a', 'nothing')),
    get(core('pods', 'a', 'scale')),
    get(core('pods', 'missing', 'log')),
    post(core('serviceaccounts', 'missing', 'token'), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {},
    }),
  ),
];
