// Quotas and limit ranges: what they refuse, and what they fill in.
import { configMap, core, del, get, post, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const quota = (hard: object): object => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard },
});

export const quotas = [
  scenario(
    'a quota of objects',
    post(core('resourcequotas'), quota({ 'count/secrets': '1', pods: '1' })),
    get(core('resourcequotas', 'q'), { until: { path: 'status.used.pods', is: '0' }, only: ['status'] }),
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
    'a quota of resources',
    post(core('resourcequotas'), quota({ 'requests.cpu': '1', 'limits.memory': '1Gi' }), { only: ['kind'] }),
    get(core('resourcequotas', 'q'), { until: { path: 'status.used' }, only: ['status'] }),
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
];
