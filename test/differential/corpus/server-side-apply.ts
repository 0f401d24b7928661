// Server-side apply: field managers, conflicts, force, shared fields, removal.
import { ignoringControllers, apply, configMap, core, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { deployment } from './workload-bodies.ts';

const a = core('configmaps', 'a');
const d = inGroup('apps/v1', 'deployments', 'd');
const s = core('services', 's');
const container = (name: string, more: object): object => deploymentWith({ containers: [{ name, ...more }] });

function deploymentWith(podSpec: object, spec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: podSpec },
      ...spec,
    },
  };
}

export const serverSideApply = [
  scenario(
    'apply creates an object, changes it, and writes nothing without a change',
    apply('one', a, configMap('a', { k: 'v' })),
    apply('one', a, configMap('a', { k: 'v' })),
    apply('one', a, configMap('a', { k: 'w', l: 'x' })),
    apply('one', a, configMap('a', { k: 'w' })),
    apply('one', a, configMap('a')),
    get(a),
  ),
  scenario(
    'two managers, conflicts and force',
    apply('one', a, configMap('a', { k: 'v', only: 'one' })),
    apply('two', a, configMap('a', { k: 'other' })),
    apply('two', a, configMap('a', { k: 'v' })),
    apply('two', a, configMap('a', { k: 'changed' })),
    apply('two', a, configMap('a', { k: 'changed' }), { query: { force: 'true' } }),
    apply('one', a, configMap('a', { k: 'v', only: 'one' })),
    apply('one', a, configMap('a', { only: 'one' })),
    apply('two', a, configMap('a', {})),
    get(a),
  ),
  scenario(
    'several conflicts with several managers',
    apply('one', a, configMap('a', { k: '1', l: '1' })),
    apply('two', a, configMap('a', { m: '2' })),
    patch('merge', a, { data: { n: '3' } }, { query: { fieldManager: 'three' } }),
    apply('four', a, configMap('a', { k: '4', l: '4', m: '4', n: '4' })),
    apply('four', a, configMap('a', { k: '4', n: '4' })),
    apply('four', a, configMap('a', { k: '4', n: '4' }), { query: { force: 'true' } }),
  ),
  scenario(
    'updates take over fields, applies give them up',
    apply('one', a, configMap('a', { k: '1', l: '1' }, { labels: { x: 'y' } })),
    put(a, configMap('a', { k: '2', l: '1' }, { labels: { x: 'y' } }), { query: { fieldManager: 'editor' } }),
    apply('one', a, configMap('a', { l: '1' })),
    patch('json', a, [{ op: 'remove', path: '/data/l' }], { query: { fieldManager: 'editor' } }),
    get(a),
  ),
  scenario(
    'lists with keys',
    ...ignoringControllers(
      apply('one', d, container('c', { image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'A', value: '1' }] })),
      apply('two', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { template: { spec: { containers: [{ name: 'side', image: 's' }] } } },
      }),
      apply('two', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'B', value: '2' }] }] } } },
      }),
      apply('two', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { template: { spec: { containers: [{ name: 'c', env: [{ name: 'A', value: '2' }] }] } } },
      }),
      apply('two', d, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }),
      apply('one', d, container('c', { image: 'i' })),
      apply('one', d, container('c', { image: 'i', ports: [{ containerPort: 80 }, { containerPort: 80 }] })),
      apply('one', d, container('c', { image: 'i', ports: [{ name: 'x' }] }), { only: ['code', 'reason'] }),
      apply(
        'one',
        d,
        deploymentWith({
          containers: [
            { name: 'c', image: 'i' },
            { name: 'c', image: 'j' },
          ],
        }),
      ),
    ),
  ),
  scenario(
    'scale and apply share replicas',
    ...ignoringControllers(
      apply('one', d, deploymentWith({ containers: [{ name: 'c', image: 'i' }] })),
      patch('merge', `${d}/scale`, { spec: { replicas: 1 } }, { query: { fieldManager: 'scaler' }, only: ['spec'] }),
      get(d, {
        only: ['spec.replicas', 'metadata.managedFields[manager=one]', 'metadata.managedFields[manager=scaler]'],
      }),
      apply('one', d, deploymentWith({ containers: [{ name: 'c', image: 'i' }] }, { replicas: 3 })),
      patch('merge', `${d}/scale`, { spec: { replicas: 0 } }, { query: { fieldManager: 'scaler' }, only: ['spec'] }),
    ),
  ),
  scenario(
    'service ports are keyed by port and protocol',
    apply('one', s, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { ports: [{ name: 'a', port: 80 }], selector: { app: 'x' } },
    }),
    apply('two', s, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { ports: [{ name: 'b', port: 81, protocol: 'TCP' }] },
    }),
    apply('one', s, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 's' },
      spec: { selector: { app: 'x' }, ports: [{ name: 'a', port: 80, targetPort: 8080 }] },
    }),
    get(s),
  ),
  scenario(
    'invalid applies',
    apply('one', a, { kind: 'ConfigMap', metadata: { name: 'a' } }),
    apply('one', a, { apiVersion: 'v1', metadata: { name: 'a' } }),
    apply('one', a, configMap('b', {})),
    apply('one', a, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }),
    apply('one', a, configMap('a', { k: 1 })),
    apply('one', a, { ...configMap('a', {}), unknown: 1 }),
    apply('one', a, { ...configMap('a', {}), unknown: 1 }, { query: { fieldValidation: 'Ignore' } }),
    apply('one', a, '{', { only: ['code', 'reason'] }),
    apply('one', a, '[]', { only: ['code', 'reason'] }),
    apply('', a, configMap('a', {})),
    apply('one', a, configMap('a', {}, { managedFields: [] }), { only: ['kind', 'code'] }),
    apply('one', a, configMap('a', {}, { managedFields: [{ manager: 'x', operation: 'Apply', apiVersion: 'v1' }] })),
    apply('one', a, configMap('a', {}, { resourceVersion: '1' })),
    apply('one', a, configMap('a', {}, { uid: '00000000-0000-0000-0000-000000000000' })),
  ),
  scenario(
    'managedFields after creates, updates and patches',
    post(core('configmaps'), configMap('a', { k: 'v' }, { labels: { l: '1' }, annotations: { n: '1' } }), {
      query: { fieldManager: 'creator' },
    }),
    patch('merge', a, { data: { k: 'w' }, metadata: { labels: { m: '2' } } }, { query: { fieldManager: 'patcher' } }),
    put(a, configMap('a', { k: 'w', z: '1' }), { query: { fieldManager: 'creator' } }),
    patch(
      'merge',
      a,
      {
        metadata: {
          finalizers: ['example.com/x'],
        },
      },
      { query: { fieldManager: 'owner' } },
    ),
    patch('merge', a, { metadata: { finalizers: null } }, { query: { fieldManager: 'owner' } }),
    patch('merge', a, { metadata: { managedFields: [] } }, { only: ['metadata.managedFields'] }),
    patch('merge', a, { metadata: { managedFields: [{}] } }, { only: ['metadata.managedFields', 'code', 'message'] }),
  ),
  scenario(
    'atomic values and nested sets',
    ...ignoringControllers(
      post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { query: { fieldManager: 'creator' } }),
      apply('one', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { selector: { matchLabels: { app: 'd' } } },
      }),
      apply('one', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { template: { spec: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'x', operator: 'Exists' }] } } },
      }),
      apply('two', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { template: { spec: { nodeSelector: { c: 'd' } } } },
      }),
      apply('two', d, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { strategy: { type: 'Recreate', rollingUpdate: null } },
      }),
    ),
  ),
  scenario(
    'apply on the status',
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0, paused: true }), { only: ['kind'] }),
    apply(
      'reporter',
      `${d}/status`,
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        status: { conditions: [{ type: 'Own', status: 'True', reason: 'X', message: 'y' }] },
      },
      { only: ['status.conditions[type=Own]', 'metadata.managedFields[manager=reporter]'] },
    ),
  ),
];
