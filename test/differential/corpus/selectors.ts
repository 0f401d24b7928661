// Lists: label and field selectors, pagination and resource versions.
import { configMap, core, del, get, post, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const maps = core('configmaps');
const create = (name: string, labels: object): ReturnType<typeof post> =>
  post(maps, configMap(name, {}, { labels }), { only: ['kind'] });
const select = (labelSelector: string): ReturnType<typeof get> =>
  get(maps, { query: { labelSelector }, only: ['kind', 'items[*].metadata.name'] });
const selectFields = (path: string, fieldSelector: string): ReturnType<typeof get> =>
  get(path, { query: { fieldSelector }, only: ['kind', 'message', 'items[*].metadata.name'] });

export const selectors = [
  scenario(
    'label selectors',
    create('a', { app: 'one', tier: 'web' }),
    create('b', { app: 'two', tier: 'db' }),
    create('c', { app: 'three' }),
    create('d', { tier: '' }),
    ...[
      'app=one',
      'app==one',
      'app!=one',
      'app',
      '!app',
      'app in (one,two)',
      'app notin (one, two)',
      'tier=',
      'tier',
      '!tier',
      'app in (one),tier=web',
      'app=one,tier=db',
      'app,tier',
      'app!=one,tier',
      'app in (one,)',
      'tier notin (web)',
      'app>1',
      ' app = one ',
      'missing!=x',
      'example.com/x=y',
    ].map(select),
  ),
  scenario(
    'numbers in label selectors',
    create('five', { n: '5' }),
    create('ten', { n: '10' }),
    create('word', { n: 'x' }),
    select('n>5'),
    select('n<10'),
    select('n>4,n<6'),
    get(maps, { query: { labelSelector: 'n>x' } }),
  ),
  scenario(
    'field selectors',
    create('a', {}),
    create('b', {}),
    post(core('pods'), pod('p', { nodeName: 'nowhere' }), { only: ['kind'] }),
    selectFields(maps, 'metadata.name=a'),
    selectFields(maps, 'metadata.name!=a,metadata.name!=kube-root-ca.crt'),
    selectFields(maps, 'metadata.namespace=<ns>,metadata.name==b'),
    selectFields(maps, 'metadata.namespace=other'),
    selectFields(maps, 'metadata.labels=x'),
    selectFields(core('pods'), 'spec.nodeName=nowhere'),
    selectFields(core('pods'), 'spec.nodeName!=nowhere'),
    selectFields(core('pods'), 'status.phase=Pending'),
    selectFields(core('pods'), 'status.phase!=Pending'),
    selectFields(core('pods'), 'spec.restartPolicy=Always,spec.schedulerName=default-scheduler'),
    selectFields(core('pods'), 'spec.serviceAccountName=default'),
    selectFields(core('pods'), 'status.podIP=1.2.3.4'),
    selectFields('/api/v1/namespaces', 'metadata.name=<ns>'),
    selectFields('/api/v1/namespaces', 'metadata.name=<ns>,status.phase=Active'),
    selectFields('/api/v1/namespaces', 'metadata.name=<ns>,status.phase=Terminating'),
    selectFields('/api/v1/nodes', 'metadata.name=none'),
    selectFields('/api/v1/nodes', 'spec.unschedulable=true'),
    selectFields(core('secrets'), 'type=Opaque'),
    selectFields(core('services'), 'spec.type=ClusterIP'),
    selectFields('/apis/apps/v1/namespaces/<ns>/deployments', 'spec.replicas=1'),
    selectFields('/apis/apps/v1/namespaces/<ns>/replicasets', 'status.replicas=0'),
    selectFields('/apis/batch/v1/namespaces/<ns>/jobs', 'status.successful=1'),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
  ),
  scenario(
    'paginated lists',
    ...['a', 'b', 'c', 'd', 'e'].map((name) => create(name, { paged: 'yes' })),
    get(maps, {
      query: { limit: '2', labelSelector: 'paged' },
      only: ['metadata', 'items[*].metadata.name'],
      keep: { next: 'metadata.continue' },
    }),
    get(maps, {
      query: { limit: '2', labelSelector: 'paged', continue: '<next>' },
      only: ['metadata', 'items[*].metadata.name'],
      keep: { last: 'metadata.continue' },
    }),
    create('f', { paged: 'yes' }),
    get(maps, {
      query: { limit: '2', labelSelector: 'paged', continue: '<last>' },
      only: ['metadata', 'items[*].metadata.name'],
    }),
    get(maps, { query: { limit: '2' }, only: ['metadata.remainingItemCount', 'metadata.continue'] }),
    get(maps, { query: { limit: '500' }, only: ['metadata.remainingItemCount', 'metadata.continue'] }),
    get(maps, { query: { limit: '2', continue: '<next>', resourceVersion: '1' } }),
    get(maps, { query: { limit: '0' }, only: ['metadata.continue'] }),
  ),
  scenario(
    'resource versions of lists',
    post(maps, configMap('a', {}), { keep: { version: 'metadata.resourceVersion' }, only: ['kind'] }),
    create('b', { x: 'y' }),
    get(maps, { query: { resourceVersion: '0' }, only: ['kind'] }),
    get(maps, { query: { resourceVersion: '<version>', resourceVersionMatch: 'NotOlderThan' }, only: ['kind'] }),
    get(maps, {
      query: { resourceVersion: '<version>', resourceVersionMatch: 'Exact' },
      only: ['kind', 'items[*].metadata.name'],
    }),
    get(maps, {
      query: { resourceVersion: '<version>', limit: '10', resourceVersionMatch: 'Exact' },
      only: ['kind', 'items[*].metadata.name'],
    }),
    get(core('configmaps', 'a'), { query: { resourceVersion: '0' }, only: ['kind'] }),
    get(core('configmaps', 'a'), { query: { resourceVersion: '<version>' }, only: ['kind'] }),
    get(core('configmaps', 'a'), {
      query: { resourceVersion: '999999999999' },
      only: ['code', 'reason', 'details.causes', 'details.retryAfterSeconds'],
    }),
    get(core('configmaps', 'a'), { query: { resourceVersion: 'odd' } }),
  ),
  scenario(
    'lists across all namespaces',
    post(maps, configMap('only-<ns>', { a: 'b' }), { only: ['kind'] }),
    get('/api/v1/configmaps', { query: { fieldSelector: 'metadata.name=only-<ns>' } }),
    get(core('secrets')),
    get(core('pods')),
    get('/apis/apps/v1/namespaces/<ns>/deployments'),
    get('/apis/coordination.k8s.io/v1/namespaces/<ns>/leases'),
  ),
];
