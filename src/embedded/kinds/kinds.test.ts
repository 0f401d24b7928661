// The expected values were compared with the responses of kube-apiserver 1.36.4.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiObject, Resource } from '../resource.ts';
import { errorsText } from '../schema/field-error.ts';
import {
  builtinResources,
  convertObject,
  decodeObject,
  prepareForCreate,
  prepareForUpdate,
  raisesGeneration,
  setDefaults,
  validate,
} from './index.ts';

function resource(kind: string, group?: string, version?: string): Resource {
  return builtinResources().find(
    (item) => item.kind === kind && (group ?? item.group) === item.group && (version ?? item.version) === item.version,
  )!;
}

function created(kind: string, content: ApiObject, name = 'x'): ApiObject {
  const kindResource = resource(kind);
  const metadata = {
    name,
    ...(kindResource.namespaced && { namespace: 'default' }),
    uid: 'u1',
    ...(content['metadata'] as object),
  };
  const decoded = decodeObject(kindResource, { ...content, metadata });
  expect(decoded.problem).toBeUndefined();
  return prepareForCreate(kindResource, setDefaults(kindResource, decoded.value as ApiObject));
}

function problems(kind: string, content: ApiObject, name?: string): string {
  return errorsText(validate(resource(kind), created(kind, content, name)));
}

const container = { name: 'a', image: 'nginx:1.2' };
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } };
const deployment = { spec: { selector: { matchLabels: { app: 'x' } }, template } };

describe('builtinResources', () => {
  test('have a schema and printer columns', () => {
    for (const { schema, columns } of builtinResources()) {
      expect(schema.properties).toHaveProperty('metadata');
      expect(columns.length).toBeGreaterThan(0);
    }
  });

  test('have names that are unique within a group and version', () => {
    const names = builtinResources().map(({ group, version, plural }) => `${group}/${version}/${plural}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('decodeObject', () => {
  test('drops unknown fields, nulls, and zero values where they equal no value', () => {
    const { value, unknownFields } = decodeObject(resource('Pod'), {
      metadata: { labels: {}, name: 'x' },
      spec: {
        hostNetwork: false,
        automountServiceAccountToken: false,
        nope: 1,
        nodeName: null,
        containers: [{ name: 'a', env: [{ name: 'A', value: '' }], extra: true, resources: { limits: { cpu: 0.5 } } }],
      },
    });
    expect(value).toEqual({
      metadata: { name: 'x' },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'a', env: [{ name: 'A' }], resources: { limits: { cpu: '500m' } } }],
      },
    });
    expect(unknownFields).toEqual(['spec.nope', 'spec.containers[0].extra']);
  });

  test.each([
    [
      'Deployment',
      { spec: { replicas: 'three' } },
      'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    ],
    [
      'Pod',
      { spec: { containers: [{ name: 1 }] } },
      'json: cannot unmarshal number into Go struct field Container.spec.containers.name of type string',
    ],
    [
      'Pod',
      { spec: { containers: 'x' } },
      'json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    ['Secret', { data: { a: '%%' } }, 'illegal base64 data at input byte 0'],
    [
      'Pod',
      { spec: { containers: [{ resources: { limits: { cpu: 'abc' } } }] } },
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])('refuses %s with %j like Kubernetes', (kind, object, text) => {
    expect(decodeObject(resource(kind), object).problem).toBe(
      `${kind} in version "v1" cannot be handled as a ${kind}: ${text}`,
    );
  });

  test('is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        const first = decodeObject(resource('Pod'), { metadata: {}, spec });
        if (first.problem !== undefined) return;
        expect(decodeObject(resource('Pod'), first.value as ApiObject)).toEqual({
          value: first.value,
          unknownFields: [],
        });
      }),
    );
  });
});

describe('defaults', () => {
  test('are set in a deployment', () => {
    expect(created('Deployment', deployment)).toMatchObject({
      spec: {
        replicas: 1,
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
        template: {
          spec: {
            restartPolicy: 'Always',
            dnsPolicy: 'ClusterFirst',
            schedulerName: 'default-scheduler',
            securityContext: {},
            terminationGracePeriodSeconds: 30,
            containers: [
              {
                ...container,
                imagePullPolicy: 'IfNotPresent',
                resources: {},
                terminationMessagePath: '/dev/termination-log',
                terminationMessagePolicy: 'File',
              },
            ],
          },
        },
      },
      status: {},
    });
  });

  test('are set in a pod: fields of admission plugins, requests from limits, and the QoS class', () => {
    const pod = created('Pod', {
      spec: {
        containers: [
          {
            name: 'a',
            image: 'nginx',
            resources: { limits: { cpu: 1, memory: '1Gi' } },
            readinessProbe: { httpGet: { port: 80 } },
          },
        ],
      },
    });
    expect(pod).toMatchObject({
      spec: {
        serviceAccountName: 'default',
        enableServiceLinks: true,
        priority: 0,
        tolerations: [{ key: 'node.kubernetes.io/not-ready' }, { key: 'node.kubernetes.io/unreachable' }],
        containers: [
          {
            imagePullPolicy: 'Always',
            resources: { requests: { cpu: '1', memory: '1Gi' } },
            readinessProbe: { httpGet: { path: '/', scheme: 'HTTP' }, periodSeconds: 10, failureThreshold: 3 },
          },
        ],
      },
      status: { phase: 'Pending', qosClass: 'Guaranteed' },
    });
  });

  test('are set in a service, a secret, a job and a network policy', () => {
    expect(created('Service', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } })).toMatchObject({
      spec: {
        type: 'ClusterIP',
        clusterIPs: ['None'],
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ports: [{ protocol: 'TCP', targetPort: 80 }],
      },
      status: { loadBalancer: {} },
    });
    expect(created('Secret', { stringData: { a: 'hello' }, data: { b: 'aGk=' } })).toMatchObject({
      type: 'Opaque',
      data: { a: 'aGVsbG8=', b: 'aGk=' },
    });
    expect(created('Secret', { stringData: { a: 'hello' } })).not.toHaveProperty('stringData');
    expect(
      created('Job', { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } }),
    ).toMatchObject({
      metadata: { labels: { 'job-name': 'x' } },
      spec: {
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } },
      },
    });
    expect(created('NetworkPolicy', { spec: { egress: [{ ports: [{ port: 53 }] }] } })).toMatchObject({
      spec: { policyTypes: ['Ingress', 'Egress'], egress: [{ ports: [{ protocol: 'TCP' }] }] },
    });
  });

  test('are idempotent', () => {
    for (const [kind, content] of [
      ['Deployment', deployment],
      ['Service', { spec: { ports: [{ port: 1 }] } }],
      ['Pod', { spec: template.spec }],
    ] as const) {
      const once = created(kind, content);
      expect(setDefaults(resource(kind), once)).toEqual(once);
    }
  });
});

describe('validate', () => {
  test.each<[string, ApiObject, string]>([
    [
      'Deployment',
      { spec: { ...deployment.spec, template: { ...template, metadata: { labels: { b: 'c', app: 'y' } } } } },
      'spec.template.metadata.labels: Invalid value: {"app":"y","b":"c"}: `selector` does not match template `labels`',
    ],
    [
      'Deployment',
      {
        spec: {
          template: { metadata: template.metadata, spec: { containers: [{ name: 'a' }], restartPolicy: 'Never' } },
        },
      },
      '[spec.selector: Required value, spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`, spec.template.spec.containers[0].image: Required value, spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"]',
    ],
    [
      'Deployment',
      { spec: { ...deployment.spec, replicas: -1, strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
      '[spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0]',
    ],
    ['Pod', { spec: { containers: [] } }, 'spec.containers: Required value'],
    [
      'Pod',
      {
        spec: {
          containers: [
            {
              ...container,
              ports: [{ containerPort: 99999 }],
              resources: { limits: { cpu: 1 }, requests: { cpu: 2 } },
            },
          ],
        },
      },
      '[spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive, spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1]',
    ],
    [
      'Pod',
      { spec: { containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }] } },
      'spec.containers[0].volumeMounts[0].name: Not found: "v"',
    ],
    ['Service', { spec: {} }, 'spec.ports: Required value'],
    ['Secret', { type: 'kubernetes.io/tls' }, '[data[tls.crt]: Required value, data[tls.key]: Required value]'],
    [
      'CronJob',
      {
        spec: {
          schedule: '@often',
          jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
        },
      },
      'spec.schedule: Invalid value: "@often": unrecognized descriptor: @often',
    ],
    ['Ingress', { spec: {} }, 'spec: Invalid value: null: either `defaultBackend` or `rules` must be specified'],
    [
      'ConfigMap',
      { metadata: { ownerReferences: [{ kind: 'Pod' }] } },
      '[metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty, metadata.ownerReferences.name: Invalid value: "": must not be empty, metadata.ownerReferences.uid: Invalid value: "": must not be empty]',
    ],
  ])('refuses an invalid %s (%#)', (kind, content, text) => {
    expect(problems(kind, content)).toBe(text);
  });

  test('refuses invalid names', () => {
    expect(problems('ConfigMap', {}, 'Bad_Name')).toBe(
      `metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
    );
    expect(problems('Namespace', {}, 'a.b')).toBe('metadata.name: Invalid value: "a.b": must not contain dots');
  });

  test.each<[string, ApiObject, ApiObject, string]>([
    [
      'Deployment',
      deployment,
      {
        spec: {
          selector: { matchLabels: { app: 'z' } },
          template: { ...template, metadata: { labels: { app: 'z' } } },
        },
      },
      'spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable',
    ],
    [
      'ConfigMap',
      { immutable: true, data: { a: 'b' } },
      { immutable: true, data: { a: 'c' } },
      'data: Forbidden: field is immutable when `immutable` is set',
    ],
    [
      'RoleBinding',
      { roleRef: { kind: 'Role', name: 'a' } },
      { roleRef: { kind: 'Role', name: 'z' } },
      'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"z"}: cannot change roleRef',
    ],
    [
      'Service',
      { spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } },
      { spec: { clusterIP: '10.0.0.2', ports: [{ port: 80 }] } },
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ],
  ])('refuses a change of an immutable field of %s (%#)', (kind, before, after, text) => {
    const kindResource = resource(kind);
    const old = created(kind, { kind, ...before });
    const next = prepareForUpdate(kindResource, created(kind, { kind, ...after }), old);
    expect(errorsText(validate(kindResource, next, old))).toBe(text);
  });
});

describe('updates', () => {
  test('keep the allocated addresses and ports of a service', () => {
    const old = created('Service', {
      spec: { type: 'NodePort', clusterIP: '10.0.0.1', ports: [{ port: 80, nodePort: 30000 }] },
    });
    const next = setDefaults(resource('Service'), { spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    expect(prepareForUpdate(resource('Service'), next, old)).toMatchObject({
      spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80, nodePort: 30000 }] },
    });
  });

  test('raise the generation with the spec, and for a deployment also with its annotations', () => {
    const old = created('Deployment', deployment);
    const kindResource = resource('Deployment');
    expect(raisesGeneration(kindResource, { ...old, status: { replicas: 1 } }, old)).toBe(false);
    expect(raisesGeneration(kindResource, { ...old, metadata: { name: 'x', annotations: { a: 'b' } } }, old)).toBe(
      true,
    );
    expect(raisesGeneration(kindResource, { ...old, spec: {} }, old)).toBe(true);
    expect(raisesGeneration(resource('ConfigMap'), { data: { a: 'b' } }, {})).toBe(false);
  });
});

describe('convertObject', () => {
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'x' },
    involvedObject: { kind: 'Pod', name: 'p' },
    message: 'm',
    reason: 'R',
    source: { component: 'c' },
    count: 2,
    reportingComponent: 'r',
  };

  test('converts an event between both API groups', () => {
    const other = convertObject(event, 'events.k8s.io/v1');
    expect(other).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'p' },
      note: 'm',
      deprecatedCount: 2,
      reportingController: 'r',
    });
    expect(convertObject(other, 'v1')).toEqual({ ...event, reportingInstance: '' });
  });

  test('keeps the v2 fields of an autoscaler in its v1 annotations', () => {
    const cpu = {
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
    };
    const pods = { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } } };
    const second = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'x' },
      spec: { maxReplicas: 3, metrics: [cpu, pods], behavior: { scaleUp: { selectPolicy: 'Min' } } },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    };
    const first = convertObject(second, 'autoscaling/v1');
    expect(first).toMatchObject({ spec: { targetCPUUtilizationPercentage: 50 } });
    expect(convertObject(first, 'autoscaling/v2')).toEqual(second);
  });
});
