// The life cycle of an object: create, read, replace, delete, and refused requests.
import { configMap, core, del, get, inGroup, post, put, scenario } from '../scenario.ts';

const maps = core('configmaps');
const named = (name: string): string => core('configmaps', name);

export const objects = [
  scenario(
    'create, read, replace and delete a ConfigMap',
    post(maps, configMap('a', { one: '1' }), { keep: { version: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    get(named('a')),
    put(named('a'), configMap('a', { one: '2' }, { resourceVersion: '<version>' })),
    put(named('a'), configMap('a', { one: '3' })),
    put(named('a'), configMap('a', { one: '3' }, { labels: { app: 'x' }, annotations: { note: 'y' } })),
    get(maps, { query: { fieldSelector: 'metadata.name=a' } }),
    del(named('a')),
    get(named('a')),
  ),
  scenario(
    'conflicting writes are refused',
    post(maps, configMap('a', { one: '1' }), { keep: { version: 'metadata.resourceVersion' } }),
    post(maps, configMap('a', { one: '1' })),
    put(named('a'), configMap('a', { one: '2' })),
    put(named('a'), configMap('a', { one: '3' }, { resourceVersion: '<version>' })),
    put(named('a'), configMap('a', { one: '3' }, { resourceVersion: 'nonsense' })),
    put(named('a'), configMap('a', { one: '3' }, { uid: '00000000-0000-0000-0000-000000000000' })),
    post(maps, configMap('b', { one: '1' }, { resourceVersion: '<version>' })),
    put(named('missing'), configMap('missing', {}, { resourceVersion: '<version>' })),
    put(named('missing'), configMap('missing', {}, { uid: '00000000-0000-0000-0000-000000000000' })),
  ),
  scenario(
    'invalid names',
    post(maps, configMap('Upper', {})),
    post(maps, configMap('a_b', {})),
    post(maps, configMap('-a', {})),
    post(maps, configMap('a'.repeat(254), {})),
    post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
    post(maps, { apiVersion: 'v1', kind: 'ConfigMap' }),
    put(named('a'), configMap('b', {})),
    put(named('a'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }),
    post(maps, configMap('a', {}, { namespace: 'other' })),
    put(named('a'), configMap('a', {}, { namespace: 'other' })),
    post(maps, configMap('a', {}, { namespace: '<ns>' })),
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a.b' } }),
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a'.repeat(64) } }),
    post(core('services'), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: '1abc' },
      spec: { ports: [{ port: 80 }] },
    }),
  ),
  scenario(
    'generated names',
    post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-' } }),
    post(
      maps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'Gen-' } },
      { only: ['reason', 'details.kind'] },
    ),
    post(maps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'gen-', name: 'given' } }),
    post(
      maps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'a'.repeat(80) } },
      { only: ['kind', 'metadata.generateName'] },
    ),
  ),
  scenario(
    'fields that only the server sets',
    post(
      maps,
      configMap(
        'a',
        {},
        {
          uid: '11111111-2222-3333-4444-555555555555',
          creationTimestamp: '2001-01-01T00:00:00Z',
          deletionTimestamp: '2001-01-01T00:00:00Z',
          deletionGracePeriodSeconds: 5,
          selfLink: '/x',
        },
      ),
    ),
    get(named('a')),
    put(named('a'), configMap('a', {}, { creationTimestamp: '2001-01-01T00:00:00Z' })),
  ),
  scenario(
    'invalid metadata',
    post(maps, configMap('a', {}, { labels: { 'bad key': 'x' } })),
    post(maps, configMap('a', {}, { labels: { a: 'bad value!' } })),
    post(maps, configMap('a', {}, { labels: { a: 'x'.repeat(64) } })),
    post(maps, configMap('a', {}, { labels: { '/a': 'x', 'a/b/c': 'x' } }), { only: ['code', 'reason'] }),
    post(maps, configMap('a', {}, { annotations: { 'bad key!': 'x' } })),
    post(maps, configMap('a', {}, { finalizers: ['nodomain'] })),
    post(maps, configMap('a', {}, { finalizers: ['bad domain/x'] })),
    post(maps, configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: '', uid: 'u' }] })),
    post(maps, configMap('a', {}, { ownerReferences: [{ apiVersion: '', kind: 'Pod', name: 'x', uid: '' }] })),
    post(
      maps,
      configMap(
        'a',
        {},
        {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '1', controller: true },
            { apiVersion: 'v1', kind: 'Pod', name: 'y', uid: '2', controller: true },
          ],
        },
      ),
    ),
    post(maps, configMap('a', {}, { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: '1' }] })),
    post(maps, configMap('a', {}, { labels: { n: 1 } })),
    post(maps, configMap('a', {}, { annotations: { n: true } })),
    post(maps, configMap('a', {}, { labels: null, annotations: null, finalizers: null })),
  ),
  scenario(
    'immutable ConfigMaps and Secrets',
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } }),
    put(core('secrets', 's'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, type: 'example.com/x' }),
    put(core('secrets', 's'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      immutable: true,
      data: { a: 'Yg==' },
    }),
    put(core('secrets', 's'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      immutable: true,
      data: { a: 'Yw==' },
    }),
    put(core('secrets', 's'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'Yg==' } }),
    post(maps, { ...configMap('m', { a: 'b' }), immutable: true }),
    put(named('m'), { ...configMap('m', { a: 'c' }), immutable: true }),
    put(named('m'), configMap('m', { a: 'b' })),
    del(named('m')),
  ),
  scenario(
    'kinds of other groups',
    post(inGroup('coordination.k8s.io/v1', 'leases'), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: '2024-01-01T00:00:00.123456Z' },
    }),
    get(inGroup('coordination.k8s.io/v1', 'leases')),
    post(inGroup('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: {
        rules: [
          {
            host: 'a.example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
        ],
      },
    }),
    post(inGroup('networking.k8s.io/v1', 'networkpolicies'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'n' },
      spec: {
        podSelector: {},
        ingress: [{ from: [{ podSelector: { matchLabels: { a: 'b' } } }], ports: [{ port: 80 }] }],
      },
    }),
    post(inGroup('policy/v1', 'poddisruptionbudgets'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p' },
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
    }),
    post(inGroup('autoscaling/v2', 'horizontalpodautoscalers'), {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    }),
    post(inGroup('batch/v1', 'cronjobs'), {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'busybox' }] } } },
        },
      },
    }),
  ),
  scenario(
    'events in both API groups',
    post(core('events'), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: '<ns>', name: 'p', apiVersion: 'v1' },
      reason: 'Why',
      message: 'because',
      type: 'Normal',
      count: 2,
      source: { component: 'me' },
    }),
    get(core('events', 'e')),
    get(inGroup('events.k8s.io/v1', 'events', 'e')),
    get(core('events'), { query: { fieldSelector: 'involvedObject.name=p,reason=Why' } }),
    get(core('events'), { query: { fieldSelector: 'involvedObject.name=q' } }),
    post(inGroup('events.k8s.io/v1', 'events'), {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'f' },
      eventTime: '2024-01-01T00:00:00.123456Z',
      regarding: { kind: 'Pod', namespace: '<ns>', name: 'p', apiVersion: 'v1' },
      reason: 'Why',
      note: 'because',
      action: 'Doing',
      type: 'Normal',
      reportingController: 'example.com/me',
      reportingInstance: 'me-1',
    }),
    get(core('events', 'f')),
  ),
  scenario(
    'big integers in built-in kinds',
    post(maps, configMap('a', {}, { annotations: { big: '9007199254740993' } })),
    post(
      inGroup('coordination.k8s.io/v1', 'leases'),
      '{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l","generation":9007199254740993},"spec":{"leaseTransitions":2147483648}}',
    ),
    post(
      core('pods'),
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big"},"spec":{"activeDeadlineSeconds":9007199254740993,"containers":[{"name":"c","image":"i"}]}}',
    ),
    post(
      core('pods'),
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bigger"},"spec":{"securityContext":{"runAsUser":1.5},"containers":[{"name":"c","image":"i"}]}}',
    ),
    post(
      core('pods'),
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bigger"},"spec":{"terminationGracePeriodSeconds":99999999999999999999,"containers":[{"name":"c","image":"i"}]}}',
    ),
    post(
      core('pods'),
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"ok"},"spec":{"terminationGracePeriodSeconds":9007199254740993,"containers":[{"name":"c","image":"i"}]}}',
      { only: ['spec.terminationGracePeriodSeconds'] },
    ),
  ),
];
