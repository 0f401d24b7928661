// The life cycle of namespaces.
import { configMap, del, get, untilDeleted, patch, post, put, scenario } from '../scenario.ts';

const other = '/api/v1/namespaces/<ns>-x';
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '<ns>-x' } };

export const namespaces = [
  scenario(
    'creation and deletion of a namespace',
    post('/api/v1/namespaces', namespace),
    post('/api/v1/namespaces', namespace),
    get(`${other}/serviceaccounts/default`, { until: { code: 200 } }),
    get(`${other}/configmaps/kube-root-ca.crt`, {
      until: { code: 200 },
      only: ['kind', 'metadata.name', 'metadata.annotations'],
    }),
    get(other),
    patch('merge', other, { metadata: { labels: { team: 'x' } } }),
    patch('merge', other, { metadata: { labels: { 'kubernetes.io/metadata.name': 'wrong' } } }),
    patch('merge', other, { spec: { finalizers: [] } }, { only: ['spec', 'code', 'message'] }),
    put(other, { ...namespace, metadata: { name: '<ns>-x' } }),
    del(other, undefined),
    untilDeleted(other),
  ),
  scenario(
    'a terminating namespace refuses new objects',
    post('/api/v1/namespaces', namespace, { only: ['kind'] }),
    post(`${other}/configmaps`, configMap('held', {}, { finalizers: ['example.com/hold'] }), { only: ['kind'] }),
    post(`${other}/configmaps`, configMap('free', {}), { only: ['kind'] }),
    del(other),
    get(`${other}/configmaps/held`, { until: { path: 'metadata.deletionTimestamp' } }),
    untilDeleted(`${other}/configmaps/free`),
    post(`${other}/configmaps`, configMap('late', {})),
    patch('merge', `${other}/configmaps/held`, { data: { a: 'b' } }, { only: ['data'] }),
    get(other, { until: { path: 'status.conditions[type=NamespaceFinalizersRemaining].status', is: 'True' } }),
    del(other),
    patch('merge', `${other}/configmaps/held`, { metadata: { finalizers: null } }, { only: ['kind'] }),
    untilDeleted(other),
  ),
  scenario(
    'namespaces that cannot be deleted',
    del('/api/v1/namespaces/default'),
    del('/api/v1/namespaces/kube-system'),
    del('/api/v1/namespaces/kube-public'),
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'Bad_Name' } }),
    get('/api/v1/namespaces/kube-node-lease', { only: ['kind', 'metadata.labels', 'spec', 'status'] }),
  ),
];
