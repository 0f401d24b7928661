// Dry runs of every verb: they return the result, and change nothing.
import { apply, configMap, core, del, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const maps = core('configmaps');
const a = core('configmaps', 'a');
const query = { dryRun: 'All' };

export const dryRuns = [
  scenario(
    'dry runs of writes',
    post(maps, configMap('a', { k: 'v' }), { query }),
    get(a),
    post(maps, configMap('a', { k: 'v' }), { only: ['kind'], keep: { version: 'metadata.resourceVersion' } }),
    post(maps, configMap('a', { k: 'v' }), { query }),
    put(a, configMap('a', { k: 'w' }), { query }),
    patch('merge', a, { data: { l: 'w' } }, { query }),
    patch('json', a, [{ op: 'remove', path: '/data' }], { query }),
    patch('strategic', a, { data: { k: null } }, { query }),
    apply('one', a, configMap('a', { m: 'x' }), { query }),
    apply('one', core('configmaps', 'b'), configMap('b', { m: 'x' }), { query }),
    get(core('configmaps', 'b')),
    put(a, configMap('a', { k: 'w' }, { resourceVersion: '1' }), { query }),
    get(a),
  ),
  scenario(
    'dry runs of deletions',
    post(maps, configMap('a', { k: 'v' }, { labels: { x: 'y' } }), { only: ['kind'] }),
    del(a, undefined, { query }),
    del(a, { dryRun: ['All'] }),
    del(a, { dryRun: ['Some'] }),
    del(maps, undefined, { query: { ...query, labelSelector: 'x=y' } }),
    get(a),
    del(core('configmaps', 'missing'), undefined, { query }),
  ),
  scenario(
    'dry runs of generated names, scale and status',
    post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }, { query }),
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { query }),
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0, paused: true }), { only: ['kind'] }),
    patch(
      'merge',
      inGroup('apps/v1', 'deployments', 'd', 'scale'),
      { spec: { replicas: 3 } },
      { query, only: ['spec'] },
    ),
    patch(
      'merge',
      inGroup('apps/v1', 'deployments', 'd', 'status'),
      { status: { replicas: 3 } },
      { query, only: ['status.replicas'] },
    ),
    get(inGroup('apps/v1', 'deployments', 'd'), { only: ['spec.replicas', 'status.replicas'] }),
    post(core('pods'), pod('p'), { query, only: ['spec.containers', 'status'] }),
    post(
      core('services'),
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
      { query },
    ),
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '<ns>-dry' } }, { query }),
    get('/api/v1/namespaces/<ns>-dry'),
    del('/api/v1/namespaces/<ns>', undefined, { query }),
    get('/api/v1/namespaces/<ns>', { only: ['status.phase'] }),
  ),
];
