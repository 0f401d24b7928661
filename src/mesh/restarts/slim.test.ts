// Decisions about the cached form of an object must be the same as about the whole object.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rolloutOf } from '../workloads/rollout.ts';
import { isInjected } from '../workloads/workloads.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import { Budgets } from './budgets.ts';
import type { DisruptionBudget } from './budgets.ts';
import { sidecarPredicate } from './desired-state.ts';
import { lastRestart } from './restart-annotations.ts';
import { ownerOf } from './owners.ts';
import { olderThanFilter, sidecarOfNoMesh, withoutSidecar } from './sidecars.ts';
import { slimBudget, slimPod, slimReplicaSet, slimWorkload } from './slim.ts';
import { HASH, HEALTHY, plan } from './testing/workloads.ts';

const IMAGE = 'docker.io/istio/proxyv2:1.31.0-distroless';
const RESOURCES = { requests: { cpu: '10m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi' } };
const PREFIX = 'istio-operator.kyma-project.io';
const TIMES = ['2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z'];

/** Fields that no decision depends on. */
const junk = {
  managedFields: [{ manager: 'somebody', fieldsV1: { 'f:spec': {} } }],
  finalizers: ['example.com/f'],
  generateName: 'p-',
};
const volumes = { volumes: [{ name: 'v', emptyDir: {} }], nodeName: 'n', tolerations: [{ operator: 'Exists' }] };

const some = <T>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const flag = fc.boolean();

const pods: fc.Arbitrary<Pod> = fc
  .record({
    image: some(IMAGE, 'docker.io/istio/proxyv2:1.30.0-distroless', undefined),
    cpu: some('10m', '0.01', '20m'),
    native: flag,
    init: some('istio-init', 'istio-validation', 'mine'),
    annotations: fc.record(
      {
        'sidecar.istio.io/status': some('{"version":"1"}'),
        'sidecar.istio.io/proxyImage': some(IMAGE),
        'prometheus.io/path': some('/stats/prometheus', '/metrics'),
        'prometheus.io/port': some('15020', '8080'),
        'example.com/note': some('x'.repeat(500)),
      },
      { requiredKeys: [] },
    ),
    labels: fc.record(
      {
        app: some('istiod', 'shop'),
        istio: some('ingressgateway'),
        'sidecar.istio.io/inject': some('false'),
        'pod-template-hash': some('1'),
      },
      { requiredKeys: [] },
    ),
    phase: some('Running', 'Pending', 'Succeeded'),
    conditions: fc.array(fc.record({ type: some('Ready', 'PodScheduled'), status: some('True', 'False') })),
    isDeleted: flag,
    hostNetwork: flag,
    created: some(...TIMES),
    owner: some('ReplicaSet', 'StatefulSet', undefined),
  })
  .map(
    ({ image, cpu, native, init, annotations, labels, phase, conditions, isDeleted, hostNetwork, created, owner }) => {
      const resources = { ...RESOURCES, requests: { ...RESOURCES.requests, cpu } };
      const sidecar = image === undefined ? [] : [{ name: 'istio-proxy', image, resources, env: [{ name: 'A' }] }];
      return {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          ...junk,
          name: 'p',
          namespace: 'shop',
          creationTimestamp: created,
          labels,
          annotations,
          ...(isDeleted && { deletionTimestamp: TIMES[1]! }),
          ...(owner && {
            ownerReferences: [{ apiVersion: 'apps/v1', kind: owner, name: 'o', uid: 'u', controller: true }],
          }),
        },
        spec: {
          ...volumes,
          ...(hostNetwork && { hostNetwork }),
          containers: [{ name: 'app', image: 'app', resources }, ...(native ? [] : sidecar)],
          initContainers: [{ name: init }, ...(native ? sidecar : [])],
        },
        status: { phase, conditions, podIP: '10.0.0.1' },
      } as Pod;
    },
  );

describe('slimPod', () => {
  const filter = { apiVersion: 'networking.istio.io/v1alpha3', kind: 'EnvoyFilter' };
  const metadata = { name: 'f', annotations: { 'istios.operator.kyma-project.io/updatedAt': '2026-01-01T11:00:00Z' } };
  const predicates = [
    ...[true, false].map((cniEnabled) =>
      sidecarPredicate({
        image: IMAGE,
        resources: RESOURCES,
        cniEnabled,
        statusPort: 15_020,
        filters: [],
        spec: { config: { telemetry: { metrics: { prometheusMerge: cniEnabled } } } },
        before: {},
      }),
    ),
    olderThanFilter({ ...filter, metadata }),
    sidecarOfNoMesh,
    withoutSidecar(() => ({ 'istio-injection': 'enabled' })),
  ];

  test('gives the same result with every predicate', () => {
    fc.assert(
      fc.property(pods, (pod) => {
        const slim = slimPod(pod);
        expect(predicates.map((predicate) => predicate(slim))).toEqual(predicates.map((predicate) => predicate(pod)));
        expect(isInjected(slim)).toBe(isInjected(pod));
        expect(ownerOf(slim, () => undefined)).toEqual(ownerOf(pod, () => undefined));
      }),
    );
  });

  test('drops all other fields', () => {
    fc.assert(
      fc.property(pods, (pod) => {
        expect(JSON.stringify(slimPod(pod))).not.toMatch(
          /managedFields|volumes|podIP|example\.com|"env"|template-hash/,
        );
      }),
    );
  });
});

const workloads: fc.Arbitrary<Workload> = fc
  .record({
    kind: some('Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Rollout'),
    replicas: some(1, 2, undefined),
    paused: some(true, undefined),
    strategy: some(undefined, { type: 'Recreate' }, { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }),
    updateStrategy: some(undefined, { type: 'OnDelete' }, { rollingUpdate: { partition: 1 } }),
    mark: some(undefined, HASH, 'other'),
    annotations: fc.record(
      {
        'restarter.istio-operator.kyma-project.io/exclude': some('true', 'false'),
        'restarter.istio-operator.kyma-project.io/maintenance-window': some('Sat 00:00-04:00', 'at night'),
        'example.com/note': some('mine'),
      },
      { requiredKeys: [] },
    ),
    status: fc.record(
      {
        readyReplicas: some(1, 2),
        updatedReplicas: some(1, 2),
        availableReplicas: some(1, 2),
        observedGeneration: some(1, 2),
        numberAvailable: some(0, 1),
        desiredNumberScheduled: some(1),
        updatedNumberScheduled: some(0, 1),
        phase: some('Degraded', 'Healthy'),
        conditions: some([{ type: 'Progressing', status: 'False', message: 'stuck' }]),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ kind, mark, annotations, status, ...spec }) => {
    const restartAnnotations = mark && { [`${PREFIX}/restartedFor`]: mark, [`${PREFIX}/restartedAt`]: TIMES[1]! };
    const isOnItself = kind === 'ReplicaSet' || kind === 'Rollout';
    const template = {
      metadata: { labels: { app: 'a' }, annotations: isOnItself ? {} : { ...restartAnnotations } },
      spec: { containers: [{ name: 'app', image: 'app' }] },
    };
    return {
      apiVersion: 'apps/v1',
      kind,
      metadata: {
        ...junk,
        name: 'a',
        namespace: 'shop',
        generation: 1,
        annotations: { ...annotations, ...(isOnItself && restartAnnotations) },
      },
      spec: { ...spec, selector: { matchLabels: { app: 'a' } }, template },
      status: { ...HEALTHY, ...status },
    } as Workload;
  });

const budget: DisruptionBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { ...junk, name: 'b', namespace: 'shop', generation: 1 },
  spec: { selector: { matchLabels: { app: 'a' } } },
  status: { disruptionsAllowed: 0, observedGeneration: 1 },
};

describe('slimWorkload', () => {
  test('gives the same plan and the same use of budgets', () => {
    fc.assert(
      fc.property(workloads, flag, (workload, isCurrent) => {
        const slim = slimWorkload(workload);
        expect([rolloutOf(slim), lastRestart(slim)]).toEqual([rolloutOf(workload), lastRestart(workload)]);
        const texts = (each: Workload, budgets: readonly DisruptionBudget[]) => {
          const { restart, replace, ...rest } = plan([each], { budgets }, isCurrent ? ['a'] : []);
          return { ...rest, restart: restart.map(({ why }) => why), replace: replace.length };
        };
        expect(texts(slim, [slimBudget(budget)])).toEqual(texts(workload, [budget]));
        expect(new Budgets([slimBudget(budget)]).spend(slim)).toBe(new Budgets([budget]).spend(workload));
        expect(JSON.stringify([slim, slimBudget(budget)])).not.toMatch(
          /managedFields|example\.com|"selector":.*"image"/,
        );
      }),
    );
  });

  test('is not used for a ReplicaSet with an owner, of which only the metadata is kept', () => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'a', uid: 'u', controller: true }];
    const [set] = fc.sample(workloads, 1);
    const owned = { ...set!, kind: 'ReplicaSet', metadata: { ...set!.metadata, ownerReferences } };
    expect(slimReplicaSet(owned)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: 'a', namespace: 'shop', generation: 1, ownerReferences },
    });
    expect(slimReplicaSet({ ...owned, metadata: set!.metadata })).toEqual(
      slimWorkload({ ...owned, metadata: set!.metadata }),
    );
  });
});
