// Quotas and limit ranges: what they refuse, and which defaults they set.
import { configMap, core, del, get, post, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const quota = (hard: object): object => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard },
});

/** Waits until a new quota is enforced: no quota here allows a service. */
const quotaIsEnforced = post(
  core('services'),
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
  { query: { dryRun: 'All' }, until: { code: 403 } },
);

export const quotas = [
  scenario(
    'a quota for object counts',
    post(core('resourcequotas'), quota({ 'count/secrets': '1', pods: '1', services: '0' })),
    get(core('resourcequotas', 'q'), { until: { path: 'status.used.pods', is: '0' }, only: ['status'] }),
    quotaIsEnforced,
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } }, { only: ['kind'] }),
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } }),
    post(core('configmaps'), configMap('a', {}), { only: ['kind'] }),
    post(core('pods'), pod('p'), { only: ['kind'] }),
    post(core('pods'), pod('q')),
    get(core('resourcequotas', 'q'), { only: ['status'] }),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
    get(core('resourcequotas', 'q'), { until: { path: 'status.used.pods', is: '0' }, only: ['status'] }),
    post(core('resourcequotas'), { ...quota({ pods: '-1' }), metadata: { name: 'bad' } }),
    post(core('resourcequotas'), { ...quota({ 'odd thing': '1' }), metadata: { name: 'bad' } }),
  ),
  scenario(
    'a quota for compute resources',
    post(core('resourcequotas'), quota({ 'requests.cpu': '1', 'limits.memory': '1Gi', services: '0' }), {
      only: ['kind'],
    }),
    get(core('resourcequotas', 'q'), { until: { path: 'status.used' }, only: ['status'] }),
    quotaIsEnforced,
    post(core('pods'), pod('p')),
    post(
      core('pods'),
      pod('p', {
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' }, limits: { memory: '512Mi' } } }],
      }),
      { only: ['kind'] },
    ),
    post(
      core('pods'),
      pod('q', {
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '600m' }, limits: { memory: '100Mi' } } }],
      }),
    ),
    get(core('resourcequotas', 'q'), { only: ['status'] }),
  ),
  scenario(
    'limit ranges',
    post(core('limitranges'), {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'l' },
      spec: {
        limits: [
          {
            type: 'Container',
            default: { cpu: '500m' },
            defaultRequest: { cpu: '100m' },
            max: { cpu: '1' },
            min: { cpu: '50m' },
          },
        ],
      },
    }),
    post(core('pods'), pod('p', { schedulerName: 'nobody' }), {
      until: { path: 'spec.containers[0].resources.limits' },
      only: ['spec.containers[0].resources', 'metadata.annotations'],
    }),
    post(core('pods'), pod('q', { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '2' } } }] })),
    post(core('pods'), pod('q', { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '10m' } } }] })),
    post(core('limitranges'), {
      apiVersion: 'v1',
      kind: 'LimitRange',
      metadata: { name: 'bad' },
      spec: { limits: [{ type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } }] },
    }),
  ),
  scenario(
    'priorities of pods',
    post('/apis/scheduling.k8s.io/v1/priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: '<ns>' },
      value: 7,
      preemptionPolicy: 'Never',
    }),
    ...[
      { priorityClassName: '<ns>' },
      { priorityClassName: '<ns>', priority: 7 },
      { priorityClassName: '<ns>', priority: 8 },
      { priorityClassName: '<ns>-missing' },
      { priority: 3 },
      {},
    ].map((spec) =>
      post(core('pods'), pod('p', spec), {
        query: { dryRun: 'All' },
        // The real server sees a new class with a delay.
        ...(spec.priorityClassName === '<ns>' && spec.priority === undefined && { until: { code: 201 } }),
        only: ['message', 'spec.priority', 'spec.priorityClassName', 'spec.preemptionPolicy'],
      }),
    ),
    post(core('pods'), pod('p', { priorityClassName: 'system-cluster-critical' }), {
      query: { dryRun: 'All' },
      only: ['message', 'spec.priority', 'spec.preemptionPolicy'],
    }),
    del('/apis/scheduling.k8s.io/v1/priorityclasses/<ns>', undefined, { only: ['status'] }),
  ),
];
