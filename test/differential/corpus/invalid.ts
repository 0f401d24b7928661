// Well-formed objects that are invalid: exact messages and causes.
import { core, inGroup, post, put, scenario } from '../scenario.ts';
import { deployment, pod } from './workload-bodies.ts';

const deployments = inGroup('apps/v1', 'deployments');
const service = (name: string, spec: object): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec,
});

export const invalid = [
  scenario(
    'invalid pods',
    post(core('pods'), { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }),
    post(core('pods'), pod('p', { containers: [] })),
    post(core('pods'), pod('p', { containers: [{ name: 'c' }] })),
    post(core('pods'), pod('p', { containers: [{ image: 'i' }] })),
    post(core('pods'), pod('p', { containers: [{ name: 'Bad_Name', image: 'i' }] })),
    post(
      core('pods'),
      pod('p', {
        containers: [
          { name: 'c', image: 'i' },
          { name: 'c', image: 'i' },
        ],
      }),
    ),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: ' i' }] })),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Perhaps' }] })),
    post(core('pods'), pod('p', { restartPolicy: 'Sometimes' })),
    post(core('pods'), pod('p', { dnsPolicy: 'Sometimes' })),
    post(core('pods'), pod('p', { terminationGracePeriodSeconds: -1 })),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 0 }] }] })),
    post(
      core('pods'),
      pod('p', { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 70000, protocol: 'X' }] }] }),
    ),
    post(
      core('pods'),
      pod('p', { containers: [{ name: 'c', image: 'i', ports: [{ name: 'toolongportname1', containerPort: 1 }] }] }),
    ),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', env: [{ name: '' }] }] })),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', env: [{ name: 'a=b' }] }] })),
    post(
      core('pods'),
      pod('p', {
        containers: [
          {
            name: 'c',
            image: 'i',
            env: [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          },
        ],
      }),
    ),
    post(
      core('pods'),
      pod('p', { containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }),
    ),
    post(core('pods'), pod('p', { volumes: [{ name: 'v' }, { name: 'v', emptyDir: {} }] }), {
      only: ['code', 'reason', 'details.causes'],
    }),
    post(core('pods'), pod('p', { volumes: [{ name: 'v', emptyDir: {}, configMap: { name: 'x' } }] })),
    post(
      core('pods'),
      pod('p', {
        containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }],
      }),
    ),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '-1' } } }] })),
    post(core('pods'), pod('p', { containers: [{ name: 'c', image: 'i', readinessProbe: {} }] })),
    post(
      core('pods'),
      pod('p', { containers: [{ name: 'c', image: 'i', livenessProbe: { httpGet: { path: '', port: 80 } } }] }),
      { only: ['code', 'reason', 'message'] },
    ),
    post(core('pods'), pod('p', { nodeSelector: { 'bad key': 'x' } })),
    post(core('pods'), pod('p', { tolerations: [{ key: 'a', operator: 'Exists', value: 'x' }] })),
    post(core('pods'), pod('p', { serviceAccountName: 'missing' })),
    post(core('pods'), pod('p', { hostname: 'Bad_Host' })),
    post(core('pods'), pod('p', { activeDeadlineSeconds: 0 })),
    post(core('pods'), pod('p', { priorityClassName: 'missing' })),
  ),
  scenario(
    'immutable fields of pods',
    post(core('pods'), pod('p', {}), { only: ['spec.containers[0].image'] }),
    put(core('pods', 'p'), pod('p', { containers: [{ name: 'c', image: 'i', args: ['x'] }] }), {
      only: ['code', 'reason', 'details.causes[0].field', 'details.causes[0].reason'],
    }),
  ),
  scenario(
    'invalid deployments',
    post(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } }),
    post(deployments, deployment('d', { replicas: -1 })),
    post(deployments, deployment('d', { selector: undefined })),
    post(deployments, deployment('d', { selector: {} })),
    post(deployments, deployment('d', { selector: { matchLabels: { app: 'other' } } })),
    post(deployments, deployment('d', { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } })),
    post(
      deployments,
      deployment('d', { selector: { matchExpressions: [{ key: 'app', operator: 'Near', values: ['x'] }] } }),
    ),
    post(deployments, deployment('d', { strategy: { type: 'Sideways' } })),
    post(deployments, deployment('d', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } })),
    post(deployments, deployment('d', { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } })),
    post(deployments, deployment('d', { strategy: { rollingUpdate: { maxSurge: '10x' } } })),
    post(deployments, deployment('d', { minReadySeconds: 700, progressDeadlineSeconds: 600 })),
    post(deployments, deployment('d', { revisionHistoryLimit: -1 })),
    post(
      deployments,
      deployment('d', {
        template: {
          metadata: { labels: { app: 'd' } },
          spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
        },
      }),
    ),
    post(deployments, deployment('d', { template: { metadata: { labels: { app: 'd' } }, spec: { containers: [] } } })),
    post(deployments, deployment('d', { replicas: 0 }), { only: ['kind'] }),
    put(
      `${deployments}/d`,
      deployment('d', {
        selector: { matchLabels: { app: 'x' } },
        template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      }),
    ),
  ),
  scenario(
    'invalid services',
    post(core('services'), service('s', {})),
    post(core('services'), service('s', { ports: [] })),
    post(core('services'), service('s', { ports: [{ port: 0 }] })),
    post(core('services'), service('s', { ports: [{ port: 80 }, { port: 81 }] })),
    post(
      core('services'),
      service('s', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'a', port: 81 },
        ],
      }),
    ),
    post(
      core('services'),
      service('s', {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      }),
    ),
    post(core('services'), service('s', { ports: [{ port: 80, protocol: 'HTTP' }] })),
    post(core('services'), service('s', { ports: [{ port: 80, targetPort: 'Not A Port' }] })),
    post(core('services'), service('s', { ports: [{ port: 80, targetPort: 100000 }] })),
    post(core('services'), service('s', { type: 'Odd', ports: [{ port: 80 }] })),
    post(core('services'), service('s', { sessionAffinity: 'Odd', ports: [{ port: 80 }] })),
    post(core('services'), service('s', { type: 'ExternalName' })),
    post(core('services'), service('s', { type: 'ExternalName', externalName: 'Bad_Name' })),
    post(core('services'), service('s', { clusterIP: '1.2.3.4', ports: [{ port: 80 }] })),
    post(core('services'), service('s', { clusterIP: 'nonsense', ports: [{ port: 80 }] }), {
      only: ['code', 'reason'],
    }),
    post(core('services'), service('s', { selector: { 'bad key': 'x' }, ports: [{ port: 80 }] })),
    post(core('services'), service('s', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] })),
  ),
  scenario(
    'invalid ConfigMaps and Secrets',
    post(core('configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c' },
      data: { 'bad key': 'x' },
    }),
    post(core('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { '': 'x' } }),
    post(core('configmaps'), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { '..': 'x' } }),
    post(core('configmaps'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'c' },
      data: { a: 'x' },
      binaryData: { a: 'eA==' },
    }),
    post(core('secrets'), { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { 'bad key': 'eA==' } }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/tls',
      data: {},
    }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/dockerconfigjson',
      data: {},
    }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': '{' },
    }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/basic-auth',
      data: {},
    }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/ssh-auth',
      data: {},
    }),
    post(core('secrets'), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's' },
      type: 'kubernetes.io/service-account-token',
    }),
  ),
  scenario(
    'invalid roles and bindings',
    post(inGroup('rbac.authorization.k8s.io/v1', 'roles'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['pods'] }],
    }),
    post(inGroup('rbac.authorization.k8s.io/v1', 'roles'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ verbs: ['get'] }],
    }),
    post(inGroup('rbac.authorization.k8s.io/v1', 'roles'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'r' },
      rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    }),
    post(inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Odd', name: 'x' },
    }),
    post(inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
      subjects: [
        { kind: 'Odd', name: 'x' },
        { kind: 'ServiceAccount', name: 'x' },
      ],
    }),
    post(inGroup('rbac.authorization.k8s.io/v1', 'rolebindings'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
      subjects: [{ kind: 'User', name: 'x' }],
    }),
    put(inGroup('rbac.authorization.k8s.io/v1', 'rolebindings', 'b'), {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'y' },
    }),
  ),
  scenario(
    'invalid objects of other kinds',
    post(inGroup('batch/v1', 'jobs'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } },
    }),
    post(inGroup('batch/v1', 'jobs'), {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: {
        completions: -1,
        backoffLimit: -1,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(inGroup('batch/v1', 'cronjobs'), {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: {
        schedule: 'never',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    }),
    post(inGroup('batch/v1', 'cronjobs'), {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'c' },
      spec: {
        schedule: '* * * * *',
        concurrencyPolicy: 'Odd',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    }),
    post(inGroup('apps/v1', 'statefulsets'), {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 's' },
      spec: {
        podManagementPolicy: 'Odd',
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(inGroup('apps/v1', 'daemonsets'), {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 's' },
      spec: {
        updateStrategy: { type: 'Odd' },
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    }),
    post(inGroup('policy/v1', 'poddisruptionbudgets'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p' },
      spec: { minAvailable: 1, maxUnavailable: 1 },
    }),
    post(inGroup('policy/v1', 'poddisruptionbudgets'), {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'p' },
      spec: { minAvailable: '150%' },
    }),
    post(inGroup('autoscaling/v2', 'horizontalpodautoscalers'), {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { minReplicas: 5, maxReplicas: 3, scaleTargetRef: { kind: '', name: '' } },
    }),
    post(inGroup('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: {},
    }),
    post(inGroup('networking.k8s.io/v1', 'ingresses'), {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'i' },
      spec: { rules: [{ host: 'Bad_Host', http: { paths: [{ path: 'x', backend: {} }] } }] },
    }),
    post(inGroup('coordination.k8s.io/v1', 'leases'), {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'l' },
      spec: { leaseDurationSeconds: -1, leaseTransitions: -1 },
    }),
  ),
];
