// Workloads and their pods.
import { core, del, get, untilDeleted, inGroup, patch, post, scenario } from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const deployments = inGroup('apps/v1', 'deployments');
const d = `${deployments}/d`;
const pods = { query: { labelSelector: 'app=d' } };

export const workloads = [
  scenario(
    'defaults on creation',
    post(deployments, deployment('d', { replicas: 0 })),
    post(inGroup('apps/v1', 'statefulsets'), {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's' },
      spec: {
        replicas: 0,
        serviceName: 's',
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }),
    post(inGroup('apps/v1', 'daemonsets'), {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 's' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { nodeSelector: { no: 'where' }, containers: [{ name: 'c', image: 'i:latest' }] },
        },
      },
    }),
    post(inGroup('apps/v1', 'replicasets'), {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'r' },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: 'c' } },
        template: { metadata: { labels: { a: 'c' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(inGroup('batch/v1', 'jobs'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(
      core('pods'),
      pod('p', {
        schedulerName: 'nobody',
        securityContext: { runAsNonRoot: true, runAsUser: 1000 },
        containers: [
          {
            name: 'c',
            image: 'registry.example.com/app@sha256:0123456789012345678901234567890123456789012345678901234567890123',
            ports: [{ containerPort: 80 }],
            env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
            resources: { limits: { cpu: '0.5', memory: '1024Mi' } },
            livenessProbe: { httpGet: { path: '/x', port: 80 } },
            readinessProbe: { exec: { command: ['true'] } },
            lifecycle: { preStop: { httpGet: { port: 'web' } } },
            volumeMounts: [{ name: 'v', mountPath: '/v' }],
          },
        ],
        initContainers: [{ name: 'init', image: 'i' }],
        volumes: [
          { name: 'v', configMap: { name: 'x' } },
          { name: 's', secret: { secretName: 'x' } },
          { name: 'h', hostPath: { path: '/tmp' } },
          { name: 'e', emptyDir: {} },
        ],
      }),
    ),
  ),
  scenario(
    'a Deployment becomes available',
    post(deployments, deployment('d', { replicas: 2 }), { only: ['kind'] }),
    get(d, {
      until: { path: 'status.conditions[type=Progressing].reason', is: 'NewReplicaSetAvailable' },
      only: ['metadata.annotations', 'metadata.generation', 'status'],
    }),
    get(inGroup('apps/v1', 'replicasets'), {
      ...pods,
      only: [
        'items[*].metadata.annotations',
        'items[*].metadata.labels',
        'items[*].metadata.ownerReferences',
        'items[*].spec',
        'items[*].status',
      ],
    }),
    get(core('pods'), {
      ...pods,
      only: [
        'items[*].metadata.labels',
        'items[*].metadata.generateName',
        'items[*].metadata.ownerReferences',
        'items[*].spec.containers[*].image',
        'items[*].status.phase',
        'items[*].spec.tolerations',
      ],
    }),
    patch('merge', `${d}/scale`, { spec: { replicas: 1 } }, { only: ['spec'] }),
    get(d, {
      until: { path: 'status.replicas', is: 1 },
      only: ['status.readyReplicas', 'status.availableReplicas', 'status.updatedReplicas'],
    }),
    del(d, { propagationPolicy: 'Foreground' }, { only: ['metadata.finalizers'] }),
    untilDeleted(d),
    get(core('pods'), { ...pods, only: ['items[*].metadata.labels'] }),
  ),
  scenario(
    'a rollout replaces pods and keeps its history',
    post(deployments, deployment('d', { replicas: 1 }), { only: ['kind'] }),
    get(d, {
      until: { path: 'status.conditions[type=Progressing].reason', is: 'NewReplicaSetAvailable' },
      only: ['status.observedGeneration'],
    }),
    patch(
      'strategic',
      d,
      { spec: { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } } },
      { only: ['metadata.generation'] },
    ),
    get(inGroup('apps/v1', 'replicasets'), { ...pods, until: { path: 'items[1].metadata.name' }, only: ['kind'] }),
    get(d, {
      until: { path: 'metadata.annotations["deployment.kubernetes.io/revision"]', is: '2' },
      only: ['metadata.annotations'],
    }),
    get(d, {
      until: { path: 'status.conditions[type=Progressing].reason', is: 'NewReplicaSetAvailable' },
      only: ['status.conditions', 'status.replicas', 'status.updatedReplicas', 'status.observedGeneration'],
    }),
    del(d, { propagationPolicy: 'Background' }, { only: ['kind', 'status'] }),
    untilDeleted(d),
  ),
  scenario(
    'a Deployment that makes no progress reports it',
    post(
      deployments,
      deployment('d', { replicas: 1, progressDeadlineSeconds: 1 }, {}, { 'offshoot.dev/simulate': 'never-ready' }),
      { only: ['kind'] },
    ),
    get(d, { until: { path: 'status.conditions[type=Progressing].status', is: 'False' }, only: ['status.conditions'] }),
    patch('merge', d, { spec: { paused: true } }, { only: ['spec.paused'] }),
    del(d, undefined, { only: ['kind'] }),
  ),
  scenario(
    'jobs complete and fail',
    ...[
      ['good', undefined],
      ['bad', { 'offshoot.dev/simulate': 'fail' }],
    ].map(([name, annotations]) =>
      post(inGroup('batch/v1', 'jobs'), {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name },
        spec: {
          backoffLimit: 0,
          template: {
            metadata: { annotations },
            spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
          },
        },
      }),
    ),
    get(inGroup('batch/v1', 'jobs', 'good'), {
      until: { path: 'status.conditions[type=Complete].status', is: 'True' },
      only: ['status', 'metadata.labels', 'spec.selector', 'spec.template.metadata'],
    }),
    get(inGroup('batch/v1', 'jobs', 'bad'), {
      until: { path: 'status.conditions[type=Failed].status', is: 'True' },
      only: ['status'],
    }),
    get(core('pods'), {
      query: { labelSelector: 'job-name=good' },
      only: [
        'items[*].metadata.labels',
        'items[*].metadata.generateName',
        'items[*].metadata.ownerReferences',
        'items[*].status.phase',
      ],
    }),
    del(inGroup('batch/v1', 'jobs', 'good'), undefined, { only: ['kind'] }),
    del(inGroup('batch/v1', 'jobs', 'bad'), { propagationPolicy: 'Background' }, { only: ['kind'] }),
    untilDeleted(inGroup('batch/v1', 'jobs', 'bad')),
  ),
  scenario(
    'stateful sets number their pods',
    post(
      inGroup('apps/v1', 'statefulsets'),
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name: 's' },
        spec: {
          replicas: 2,
          serviceName: 's',
          selector: { matchLabels: { app: 's' } },
          template: { metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      { only: ['kind'] },
    ),
    get(inGroup('apps/v1', 'statefulsets', 's'), {
      until: { path: 'status.readyReplicas', is: 2 },
      only: ['status.replicas', 'status.currentReplicas', 'status.observedGeneration', 'status.collisionCount'],
    }),
    get(core('pods'), {
      query: { labelSelector: 'app=s' },
      only: [
        'items[*].metadata.name',
        'items[*].metadata.labels',
        'items[*].metadata.generateName',
        'items[*].spec.hostname',
        'items[*].spec.subdomain',
      ],
    }),
    patch('merge', inGroup('apps/v1', 'statefulsets', 's', 'scale'), { spec: { replicas: 1 } }, { only: ['spec'] }),
    untilDeleted(core('pods', 's-1')),
    del(inGroup('apps/v1', 'statefulsets', 's'), undefined, { only: ['kind'] }),
    untilDeleted(core('pods', 's-0')),
  ),
  scenario(
    'daemon sets run on every node',
    post(
      inGroup('apps/v1', 'daemonsets'),
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 's' },
        spec: {
          selector: { matchLabels: { app: 's' } },
          template: { metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        },
      },
      { only: ['kind'] },
    ),
    get(inGroup('apps/v1', 'daemonsets', 's'), {
      until: { path: 'status.numberAvailable', is: 1 },
      only: ['status', 'metadata.annotations'],
    }),
    get(core('pods'), {
      query: { labelSelector: 'app=s' },
      only: [
        'items[*].metadata.labels',
        'items[*].metadata.generateName',
        'items[*].spec.tolerations',
        'items[*].spec.affinity',
      ],
    }),
    del(inGroup('apps/v1', 'daemonsets', 's'), undefined, { only: ['kind'] }),
    untilDeleted(inGroup('apps/v1', 'daemonsets', 's')),
  ),
  scenario(
    'a pod without an owner',
    post(core('pods'), pod('p'), {
      only: [
        'spec.serviceAccountName',
        'spec.volumes[0].projected',
        'spec.containers[0].volumeMounts',
        'spec.tolerations',
        'spec.priority',
        'spec.preemptionPolicy',
        'spec.enableServiceLinks',
        'status.qosClass',
        'status.phase',
      ],
    }),
    get(core('pods', 'p'), { until: { path: 'status.conditions[type=Ready].status', is: 'True' }, only: ['status'] }),
    get(core('pods', 'p', 'log'), { only: ['kind'] }),
    patch(
      'merge',
      core('pods', 'p'),
      { metadata: { labels: { x: 'y' } } },
      { only: ['metadata.labels', 'metadata.generation'] },
    ),
    patch(
      'strategic',
      core('pods', 'p'),
      { spec: { containers: [{ name: 'c', image: 'i:2' }] } },
      { only: ['spec.containers[0].image', 'metadata.generation'] },
    ),
    patch(
      'strategic',
      core('pods', 'p'),
      { spec: { containers: [{ name: 'c', command: ['x'] }] } },
      { only: ['code', 'reason', 'details.causes[0].field'] },
    ),
    del(core('pods', 'p'), undefined, { only: ['metadata.deletionGracePeriodSeconds'] }),
    untilDeleted(core('pods', 'p')),
  ),
];
