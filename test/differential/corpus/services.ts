// Services: cluster IPs, types and endpoints.
import { core, del, get, inGroup, patch, post, put, scenario } from '../scenario.ts';
import { pod } from './workload-bodies.ts';

const services = core('services');
const s = core('services', 's');
const service = (spec: object, name = 's'): object => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
const ports = [{ port: 80 }];

export const servicesCorpus = [
  scenario(
    'a service keeps its cluster IP',
    post(services, service({ selector: { app: 'x' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }] }), {
      keep: { ip: 'spec.clusterIP' },
    }),
    get(s),
    put(s, service({ selector: { app: 'y' }, ports })),
    put(s, service({ clusterIP: '10.0.0.250', selector: { app: 'y' }, ports })),
    patch('merge', s, { spec: { clusterIP: null } }),
    patch('merge', s, { spec: { clusterIP: 'None' } }),
    post(services, service({ clusterIP: '<ip>', ports }, 'twin')),
    patch('merge', s, { spec: { type: 'NodePort' } }),
    patch('merge', s, { spec: { type: 'ClusterIP' } }),
    patch('merge', s, { spec: { type: 'ExternalName', externalName: 'x.example.com', clusterIP: '' } }),
    del(s),
  ),
  scenario(
    'headless services and other types',
    post(services, service({ clusterIP: 'None', selector: { app: 'x' }, ports })),
    post(services, service({ type: 'ExternalName', externalName: 'x.example.com' }, 'e')),
    post(services, service({ type: 'LoadBalancer', ports }, 'l')),
    post(services, service({ ports: [{ port: 80, protocol: 'UDP' }], sessionAffinity: 'ClientIP' }, 'u')),
    post(services, service({ ports, externalIPs: ['192.168.5.5'], publishNotReadyAddresses: true }, 'x')),
  ),
  scenario(
    'endpoints follow ready pods',
    post(services, service({ selector: { app: 'x' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] }), {
      only: ['kind'],
    }),
    get(core('endpoints', 's'), { until: { code: 200 }, only: ['metadata.labels', 'metadata.annotations', 'subsets'] }),
    post(core('pods'), pod('p', {}, { labels: { app: 'x' } }), { only: ['kind'] }),
    get(core('endpoints', 's'), { until: { path: 'subsets[0].addresses[0].ip' }, only: ['subsets'] }),
    get(inGroup('discovery.k8s.io/v1', 'endpointslices'), {
      query: { labelSelector: 'kubernetes.io/service-name=s' },
      until: { path: 'items[0].endpoints[0].conditions.ready', is: true },
      only: [
        'items[0].metadata.labels',
        'items[0].metadata.generateName',
        'items[0].ports',
        'items[0].endpoints',
        'items[0].addressType',
        'items[0].metadata.ownerReferences',
      ],
    }),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
    get(core('endpoints', 's'), { until: { path: 'subsets', is: undefined }, only: ['subsets'] }),
    del(s, undefined, { only: ['kind'] }),
    get(core('endpoints', 's'), { until: { code: 404 } }),
  ),
];
