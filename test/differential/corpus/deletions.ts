// Deletion: finalizers, preconditions, grace periods, collections and dependents.
import { configMap, core, del, get, untilDeleted, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const maps = core('configmaps');
const a = core('configmaps', 'a');
const owner = post(maps, configMap('owner', {}), { keep: { uid: 'metadata.uid' }, only: ['kind'] });
const owned = (name: string, more: object = {}): object =>
  configMap(
    name,
    {},
    { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>', ...more }] },
  );

export const deletions = [
  scenario(
    'finalizers block a deletion',
    post(maps, configMap('a', { k: 'v' }, { finalizers: ['example.com/hold', 'example.com/other'] })),
    del(a),
    del(a),
    get(a),
    patch('merge', a, { data: { k: 'w' } }),
    patch('merge', a, { metadata: { finalizers: ['example.com/hold', 'example.com/third'] } }),
    patch('merge', a, { metadata: { deletionTimestamp: null } }),
    patch('merge', a, { metadata: { finalizers: ['example.com/hold'] } }),
    post(maps, configMap('a', {})),
    put(a, configMap('a', {})),
    get(a),
  ),
  scenario(
    'preconditions of deletions',
    post(maps, configMap('a', {}), {
      keep: { uid: 'metadata.uid', version: 'metadata.resourceVersion' },
      only: ['kind'],
    }),
    del(a, { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }),
    del(a, { preconditions: { resourceVersion: '1' } }),
    del(a, { preconditions: { uid: '<uid>', resourceVersion: '<version>' } }),
    get(a),
  ),
  scenario(
    'invalid deletions',
    post(maps, configMap('a', {}), { only: ['kind'] }),
    del(a, { propagationPolicy: 'Sideways' }),
    del(a, { orphanDependents: true, propagationPolicy: 'Orphan' }),
    del(a, { gracePeriodSeconds: 'long' }),
    del(a, '{'),
    del(a, { kind: 'ConfigMap', apiVersion: 'v1' }),
    del(a, undefined, { query: { propagationPolicy: 'Sideways' } }),
    del(a, undefined, { query: { gracePeriodSeconds: 'x' } }),
    del(a, { unknown: 1 }, { only: ['kind', 'status', 'code'] }),
  ),
  scenario(
    'responses to deletions',
    post(maps, configMap('a', {}), { only: ['kind'] }),
    del(a, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' }),
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }, { only: ['kind'] }),
    del(core('secrets', 's')),
    post(
      core('services'),
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
      { only: ['kind'] },
    ),
    del(core('services', 's')),
    post(core('serviceaccounts'), { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } }),
    del(core('serviceaccounts', 's')),
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { only: ['kind'] }),
    del(inGroup('apps/v1', 'deployments', 'd')),
    post(
      inGroup('policy/v1', 'poddisruptionbudgets'),
      { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'p' }, spec: {} },
      { only: ['kind'] },
    ),
    del(inGroup('policy/v1', 'poddisruptionbudgets', 'p')),
    post(
      core('resourcequotas'),
      { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '5' } } },
      { only: ['kind'] },
    ),
    del(core('resourcequotas', 'q'), undefined, { only: ['kind', 'metadata.name', 'spec'] }),
  ),
  scenario(
    'deletion of collections',
    post(maps, configMap('a', {}, { labels: { x: '1' } }), { only: ['kind'] }),
    post(maps, configMap('b', {}, { labels: { x: '1' } }), { only: ['kind'] }),
    post(maps, configMap('c', {}, { labels: { x: '2' }, finalizers: ['example.com/x'] }), { only: ['kind'] }),
    del(maps, undefined, { query: { labelSelector: 'x=1' } }),
    get(maps, { query: { labelSelector: 'x' }, only: ['items[*].metadata.name'] }),
    del(maps, undefined, { query: { fieldSelector: 'metadata.name=c' } }),
    get(core('configmaps', 'c')),
    patch('merge', core('configmaps', 'c'), { metadata: { finalizers: [] } }, { only: ['kind'] }),
    get(core('configmaps', 'c')),
    del(maps, undefined, { query: { labelSelector: 'x=9' } }),
    del(core('secrets'), { propagationPolicy: 'Background' }),
  ),
  scenario(
    'grace periods of pods',
    post(core('pods'), pod('p', { nodeName: 'nowhere' }), { only: ['kind'] }),
    del(
      core('pods', 'p'),
      { gracePeriodSeconds: 5 },
      { only: ['kind', 'metadata.deletionGracePeriodSeconds', 'metadata.deletionTimestamp'] },
    ),
    del(core('pods', 'p'), { gracePeriodSeconds: 3 }, { only: ['kind', 'metadata.deletionGracePeriodSeconds'] }),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind', 'metadata.deletionGracePeriodSeconds'] }),
    get(core('pods', 'p')),
    post(core('pods'), pod('unscheduled', { schedulerName: 'nobody' }), { only: ['kind'] }),
    del(core('pods', 'unscheduled'), undefined, { only: ['kind', 'metadata.deletionGracePeriodSeconds'] }),
    get(core('pods', 'unscheduled')),
    post(core('pods'), pod('negative', { nodeName: 'nowhere' }), { only: ['kind'] }),
    del(
      core('pods', 'negative'),
      { gracePeriodSeconds: -1 },
      { only: ['kind', 'metadata.deletionGracePeriodSeconds'] },
    ),
    del(core('pods', 'negative'), undefined, { query: { gracePeriodSeconds: '0' }, only: ['kind'] }),
  ),
  scenario(
    'background deletion of dependents',
    owner,
    post(maps, owned('child'), { only: ['kind'] }),
    post(maps, owned('held', { blockOwnerDeletion: true }), { only: ['kind'] }),
    del(core('configmaps', 'owner'), { propagationPolicy: 'Background' }),
    get(core('configmaps', 'owner')),
    untilDeleted(core('configmaps', 'child')),
    untilDeleted(core('configmaps', 'held')),
  ),
  scenario(
    'foreground deletion of dependents',
    owner,
    post(maps, { ...owned('child', { blockOwnerDeletion: true }) }, { only: ['kind'] }),
    patch('merge', core('configmaps', 'child'), { metadata: { finalizers: ['example.com/hold'] } }, { only: ['kind'] }),
    del(core('configmaps', 'owner'), { propagationPolicy: 'Foreground' }),
    get(core('configmaps', 'child'), { until: { path: 'metadata.deletionTimestamp' } }),
    get(core('configmaps', 'owner')),
    patch('merge', core('configmaps', 'child'), { metadata: { finalizers: null } }, { only: ['kind'] }),
    untilDeleted(core('configmaps', 'child')),
    untilDeleted(core('configmaps', 'owner')),
  ),
  scenario(
    'orphaned dependents',
    owner,
    post(maps, owned('child'), { only: ['kind'] }),
    del(
      core('configmaps', 'owner'),
      { propagationPolicy: 'Orphan' },
      { only: ['kind', 'metadata.finalizers', 'status'] },
    ),
    untilDeleted(core('configmaps', 'owner')),
    get(core('configmaps', 'child'), { only: ['metadata.ownerReferences', 'metadata.name'] }),
  ),
  scenario(
    'an object with two owners is kept until both are deleted',
    owner,
    post(maps, configMap('second', {}), { keep: { other: 'metadata.uid' }, only: ['kind'] }),
    post(
      maps,
      configMap(
        'child',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '<uid>' },
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'second', uid: '<other>' },
          ],
        },
      ),
      { only: ['kind'] },
    ),
    del(core('configmaps', 'owner'), undefined, { only: ['kind'] }),
    get(core('configmaps', 'child'), {
      until: { path: 'metadata.ownerReferences[0].name', is: 'second' },
      only: ['metadata.ownerReferences'],
    }),
    del(core('configmaps', 'second'), undefined, { only: ['kind'] }),
    untilDeleted(core('configmaps', 'child')),
  ),
  scenario(
    'an object whose owner does not exist is garbage-collected',
    post(
      maps,
      configMap(
        'child',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: '00000000-0000-0000-0000-000000000000' },
          ],
        },
      ),
      { only: ['kind'] },
    ),
    untilDeleted(core('configmaps', 'child')),
  ),
];
