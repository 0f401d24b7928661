// Responses as tables and as metadata only, for several kinds.
import {
  configMap,
  core,
  del,
  get,
  inGroup,
  metadataListType,
  metadataType,
  patch,
  post,
  scenario,
  tableType,
} from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const accept = tableType;

export const tables = [
  scenario(
    'tables of configuration',
    post(core('configmaps'), configMap('a', { k: 'v', l: 'w' }), { accept }),
    get(core('configmaps', 'a'), { accept }),
    get(core('configmaps'), { accept, query: { fieldSelector: 'metadata.name=a' } }),
    get(core('configmaps'), { accept, query: { fieldSelector: 'metadata.name=a', includeObject: 'None' } }),
    get(core('configmaps'), { accept, query: { fieldSelector: 'metadata.name=a', includeObject: 'Object' } }),
    get(core('configmaps'), { accept, query: { fieldSelector: 'metadata.name=none' } }),
    get(core('configmaps'), { accept, query: { includeObject: 'Odd' } }),
    post(
      core('secrets'),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } },
      { accept },
    ),
    get(core('serviceaccounts'), { accept }),
    get('/api/v1/namespaces/<ns>', { accept }),
    get(core('configmaps', 'missing'), { accept }),
    patch('merge', core('configmaps', 'a'), { data: { m: 'x' } }, { accept }),
    del(core('configmaps', 'a'), undefined, { accept }),
  ),
  scenario(
    'tables of workloads',
    post(core('pods'), pod('p', { nodeName: 'nowhere' }, { labels: { x: 'y' } }), { accept }),
    get(core('pods'), { accept }),
    post(inGroup('apps/v1', 'deployments'), deployment('d', { replicas: 0 }), { accept }),
    get(inGroup('apps/v1', 'deployments', 'd'), {
      until: { path: 'status.observedGeneration', is: 1 },
      only: ['kind'],
    }),
    get(inGroup('apps/v1', 'deployments'), { accept }),
    get(inGroup('apps/v1', 'replicasets'), { accept }),
    post(
      inGroup('apps/v1', 'statefulsets'),
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 's' },
        spec: {
          replicas: 0,
          serviceName: 's',
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      { accept },
    ),
    post(
      inGroup('apps/v1', 'daemonsets'),
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 's' },
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: {
            metadata: { labels: { a: 'b' } },
            spec: { nodeSelector: { no: 'where' }, containers: [{ name: 'c', image: 'i' }] },
          },
        },
      },
      { accept },
    ),
    post(
      inGroup('batch/v1', 'jobs'),
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j' },
        spec: {
          suspend: true,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      { accept, only: ['columnDefinitions', 'rows[0].cells'] },
    ),
    post(
      inGroup('batch/v1', 'cronjobs'),
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'c' },
        spec: {
          schedule: '0 0 1 1 *',
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
          },
        },
      },
      { accept },
    ),
    del(core('pods', 'p'), { gracePeriodSeconds: 0 }, { only: ['kind'] }),
  ),
  scenario(
    'tables of services and other kinds',
    post(
      core('services'),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { selector: { a: 'b' }, ports: [{ port: 80 }] },
      },
      { accept },
    ),
    post(
      core('services'),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'e' },
        spec: { type: 'ExternalName', externalName: 'x.example.com' },
      },
      { accept },
    ),
    post(
      core('services'),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'n' },
        spec: {
          type: 'NodePort',
          ports: [
            { port: 80, name: 'a' },
            { port: 81, name: 'b', protocol: 'UDP' },
          ],
        },
      },
      { accept, only: ['columnDefinitions'] },
    ),
    get(core('endpoints', 's'), { until: { code: 200 }, accept }),
    get(inGroup('networking.k8s.io/v1', 'ingresses'), { accept }),
    get(inGroup('networking.k8s.io/v1', 'networkpolicies'), { accept }),
    get(inGroup('policy/v1', 'poddisruptionbudgets'), { accept }),
    get(inGroup('autoscaling/v2', 'horizontalpodautoscalers'), { accept }),
    get(inGroup('rbac.authorization.k8s.io/v1', 'roles'), { accept }),
    get(inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'), { accept }),
    get(inGroup('coordination.k8s.io/v1', 'leases'), { accept }),
    get(inGroup('discovery.k8s.io/v1', 'endpointslices'), { accept, only: ['columnDefinitions'] }),
    get(core('resourcequotas'), { accept }),
    get(core('limitranges'), { accept }),
    get(core('events'), { accept, only: ['columnDefinitions'] }),
    get('/api/v1/nodes', { accept, only: ['columnDefinitions'] }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterroles', { accept, query: { fieldSelector: 'metadata.name=none' } }),
    get('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      accept,
      query: { fieldSelector: 'metadata.name=none' },
    }),
    get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      accept,
      query: { fieldSelector: 'metadata.name=none' },
    }),
    get('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      accept,
      query: { fieldSelector: 'metadata.name=none' },
    }),
    get('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
      accept,
      query: { fieldSelector: 'metadata.name=none' },
    }),
  ),
  scenario(
    'metadata only',
    post(core('configmaps'), configMap('a', { k: 'v' }, { labels: { x: 'y' } }), { accept: metadataType }),
    get(core('configmaps', 'a'), { accept: metadataType }),
    get(core('configmaps'), { accept: metadataListType, query: { labelSelector: 'x=y' } }),
    get(core('configmaps'), { accept: metadataType, query: { labelSelector: 'x=y' }, only: ['kind', 'code'] }),
    get(core('configmaps', 'a'), { accept: 'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io' }),
    get(core('configmaps', 'a'), { accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' }),
    patch('merge', core('configmaps', 'a'), { metadata: { labels: { z: '1' } } }, { accept: metadataType }),
  ),
];
