// Lists: label and field selectors, pages, and the versions that they may be asked for.
import { configMap, core, del, get, post, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const maps = core('configmaps');
const make = (name: string, labels: object): ReturnType<typeof post> =>
  post(maps, configMap(name, {}, { labels }), { only: ['kind'] });
const select = (labelSelector: string): ReturnType<typeof get> =>
  get(maps, { query: { labelSelector }, only: ['kind', 'items[*].metadata.name'] });
const fields = (path: string, fieldSelector: string): ReturnType<typeof get> =>
  get(path, { query: { fieldSelector }, only: ['kind', 'message', 'items[*].metadata.name'] });

export const selectors = [
  scenario(
    'label selectors',
    make('a', { app: 'one', tier: 'web' }),
    make('b', { app: 'two', tier: 'db' }),
    make('c', { app: 'three' }),
    make('d', { tier: '' }),
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
    make('five', { n: '5' }),
    make('ten', { n: '10' }),
    make('word', { n: 'x' }),
    select('n>5'),
    select('n<10'),
    select('n>4,n<6'),
    get(maps, { query: { labelSelector: 'n>x' } }),
  ),
  scenario(
    'field selectors',
    make('a', {}),
    make('b', {}),
    post(core('pods'), pod('p', { nodeName: 'nowhere' }), { only: ['kind'] }),
    fields(maps, 'metadata.name=a'),
    fields(maps, 'metadata.name!=a,metadata.name!=kube-root-ca.crt'),
    fields(maps, 'metadata.namespace=<ns>,metadata.name==b'),
    fields(maps, 'metadata.namespace=other'),
    fields(maps, 'metadata.labels=x'),
    fields(core('pods'), 'spec.nodeName=nowhere'),
    fields(core('pods'), 'spec.nodeName!=nowhere'),
    fields(core('pods'), 'status.phase=Pending'),
    fields(core('pods'), 'status.phase!=Pending'),
    fields(core('pods'), 'spec.restartPolicy=Always,spec.schedulerName=default-scheduler'),
    fields(core('pods'), 'spec.serviceAccountName=default'),
    fields(core('pods'), 'status.podIP=1.2.3.4'),
    fields('/api/v1/namespaces', 'metadata.name=<ns>'),
    fields('/api/v1/namespaces', 'metadata.name=<ns>,status.phase=Active'),
    fields('/api/v1/namespaces', 'metadata.name=<ns>,status.phase=Terminating'),
    fields('/api/v1/nodes', 'metadata.name=none'),
    fields('/api/v1/nodes', 'spec.unschedulable=true'),
    fields(core('secrets'), 'type=Opaque'),
    fields(core('services'), 'spec.type=ClusterIP'),
    fields('/apis/apps/v1/namespaces/<ns>/deployments', 'spec.replicas=1'),
    fields('/apis/apps/v1/namespaces/<ns>/replicasets', 'status.replicas=0'),
    fields('/apis/batch/v1/namespaces/<ns>/jobs', 'status.successful=1'),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
  ),
  scenario(
    'pages',
    ...['a', 'b', 'c', 'd', 'e'].map((name) => make(name, { paged: 'yes' })),
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
    make('f', { paged: 'yes' }),
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
    'versions of lists',
    post(maps, configMap('a', {}), { keep: { version: 'metadata.resourceVersion' }, only: ['kind'] }),
    make('b', { x: 'y' }),
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
    'lists over all namespaces and the shape of lists',
    post(maps, configMap('only-<ns>', { a: 'b' }), { only: ['kind'] }),
    get('/api/v1/configmaps', { query: { fieldSelector: 'metadata.name=only-<ns>' } }),
    get(core('secrets')),
    get(core('pods')),
    get('/apis/apps/v1/namespaces/<ns>/deployments'),
    get('/apis/coordination.k8s.io/v1/namespaces/<ns>/leases'),
  ),
];
