import { expect, test } from 'vitest';
import { FakeClient } from '../../../test/support/fake-client.ts';
import { DynamicEnv } from '../../api/dynamicenv.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { Lease } from '../../kube/lease.ts';
import type { AnyKind, KubeObject } from '../../kube/objects.ts';
import { microTime } from '../../kube/times.ts';
import { partsOf } from '../run/parts.ts';
import { unpainted } from '../terminal/colour.ts';
import { SUBJECTS } from './objects.ts';
import { observe } from './read.ts';
import type { Observed } from './read.ts';
import { reportOf } from './report.ts';
import type { StatusReport } from './report.ts';
import { statusLines } from './status.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const parts = partsOf();
const toolchain = parts.find(({ name }) => name === 'targets')!.other!;
const definitions = new Set(parts.flatMap(({ resources }) => resources.map(({ crd }) => crd.metadata.name)));

function lease(name: string, holderIdentity: string, renewedAt: number): Observed['leases'][number] {
  const spec = {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: microTime(NOW - 3_600_000),
    renewTime: microTime(renewedAt),
  };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name, namespace: 'offshoot' }, spec };
}

function deployment(controllers: string, ready: number, ...args: string[]): Observed['deployments'][number] {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'offshoot',
      namespace: 'offshoot',
      labels: { 'app.kubernetes.io/version': '1.0.0', 'app.kubernetes.io/managed-by': 'Helm' },
    },
    spec: {
      replicas: 2,
      template: { spec: { containers: [{ args: ['run', `--controllers=${controllers}`, ...args] }] } },
    },
    status: { readyReplicas: ready },
  };
}

function environment(name: string, stalled?: string): DynamicEnv {
  const state = stalled === undefined ? 'ready' : 'degraded';
  const conditions = [
    { type: 'Stalled', status: stalled === undefined ? 'False' : 'True', reason: 'x', message: stalled ?? '' },
    { type: 'Ready', status: stalled === undefined ? 'True' : 'False', reason: 'x', message: '' },
  ];
  const metadata = { name, namespace: 'shop', generation: 1 };
  const status = { state, observedGeneration: 1, subsetsStatus: {}, conditions };
  return {
    apiVersion: 'riskified.com/v1alpha1',
    kind: 'DynamicEnv',
    metadata,
    spec: {},
    status,
  } as unknown as DynamicEnv;
}

function report(changes: Partial<Observed>): StatusReport {
  const observed: Observed = {
    deployments: [deployment('environments', 2)],
    pods: [],
    leases: [lease('dynamic-environment-lock', 'offshoot-1', NOW - 2_000)],
    definitions,
    webhooks: [],
    objects: new Map([[DynamicEnv.kind, [environment('a'), environment('b')]]]),
    unread: [],
    ...changes,
  };
  return reportOf({ observed, parts, subjects: SUBJECTS, version: '1.0.0', now: NOW });
}

const lines = (each: StatusReport): string => statusLines(each, unpainted, NOW).join('\n');

test('reportOf shows a healthy installation on one screen', () => {
  expect(lines(report({}))).toBe(`Offshoot 1.0.0 in namespace offshoot, managed by Helm: 2 of 2 replicas ready

PART           STATE     LEADER       SINCE    OBJECTS
environments   running   offshoot-1   60m      2 environments (2 ready)
targets        off       <none>       <none>   <none>
routing        off       <none>       <none>   <none>
mesh           off       <none>       <none>   <none>

Everything is healthy.`);
});

test('reportOf says how parts run without a Deployment', () => {
  const first = (each: StatusReport): string => lines(each).split('\n')[0]!;
  expect(first(report({ deployments: [] }))).toBe(
    'Offshoot 1.0.0; no Deployment of it is in this cluster: the leaders below were started otherwise, such as with "offshoot up"',
  );
  expect(first(report({ deployments: [], leases: [] }))).toBe('Offshoot 1.0.0; no Deployment of it is in this cluster');
});

test('reportOf shows problems with their reason and advice', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'offshoot-1', namespace: 'offshoot' },
    status: {
      containerStatuses: [
        {
          name: 'offshoot',
          ready: false,
          restartCount: 7,
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 5m0s' } },
        },
      ],
    },
  };
  const found = report({
    deployments: [deployment('environments,targets', 0)],
    pods: [pod],
    leases: [lease('dynamic-environment-lock', 'offshoot-1', NOW - 60_000)],
    definitions: new Set(['dynamicenvs.riskified.com']),
    objects: new Map([[DynamicEnv.kind, [environment('a'), environment('b', 'no base')]]]),
    unread: ['routingrules: forbidden'],
  });
  expect(found.parts.map(({ name, state }) => [name, state])).toEqual([
    ['environments', 'stopped'],
    ['targets', 'stopped'],
    ['routing', 'off'],
    ['mesh', 'off'],
  ]);
  const text = lines(found);
  for (const line of [
    'error: Deployment offshoot/offshoot: 0 of 2 replicas are ready',
    'error: pod offshoot/offshoot-1: container offshoot: CrashLoopBackOff: back-off 5m0s',
    'error: part environments: it has no leader, so nothing is reconciled: offshoot-1 did until 2026-01-01T23:59:00',
    'error: part targets: the cluster does not know deploymenttargets.appstudio.redhat.com, ',
    'warning: environment shop/b: no base\n    offshoot env describe b -n shop',
    'Could not be read:\n  routingrules: forbidden',
  ]) {
    expect(text).toContain(line);
  }
});

test('reportOf says that a part waits for an operator that does some of its work', async () => {
  const client = new FakeClient();
  for (const name of [toolchain.lease, 'other']) await client.create(Lease, lease(name, 'the host operator', NOW));
  const { leases } = await observe(client, []);
  expect(leases.map(({ metadata }) => metadata.name)).toEqual([toolchain.lease]);
  const held = { deployments: [deployment('targets', 2)], leases };
  const problem = 'error: part targets: it has no leader, so nothing is reconciled\n    ';
  expect(lines(report(held))).toContain(
    `${problem}it waits for the host operator (Lease offshoot/${toolchain.lease}): stop that, or leave the work to it with --space-controllers=false`,
  );
  const logs = `${problem}look at the pods above and their logs`;
  expect(lines(report({ ...held, leases: [] }))).toContain(logs);
  const apart = deployment('targets', 0, toolchain.flag);
  expect(lines(report({ ...held, deployments: [apart] }))).toContain(logs);
});

test('reportOf reports what does not work although its state or phase does not say so', () => {
  const object = (
    { kind, group, version }: AnyKind,
    name: string,
    status: object,
    unmet: Readonly<Record<string, readonly [reason: string, message: string]>>,
  ): KubeObject => {
    const conditions = Object.entries(unmet).map(([type, [reason, message]]) => {
      return { type, status: 'False', reason, message };
    });
    const metadata = { name, namespace: 'shop', generation: 1 };
    return {
      apiVersion: `${group}/${version}`,
      kind,
      metadata,
      spec: {},
      status: { ...status, conditions },
    } as KubeObject;
  };
  const processing = { state: 'processing', observedGeneration: 1, subsetsStatus: {} };
  const found = report({
    deployments: [deployment('environments,targets', 2)],
    leases: [
      lease('dynamic-environment-lock', 'offshoot-1', NOW - 2_000),
      lease(parts.find(({ name }) => name === 'targets')!.lease, 'offshoot-1', NOW - 2_000),
    ],
    objects: new Map([
      [
        DynamicEnv.kind,
        [
          object(DynamicEnv, 'starting', processing, {
            Ready: ['Processing', 'shop/cart: initializing'],
            WorkloadsReady: ['NotRunning', 'shop/cart: initializing'],
            Routed: ['WaitingForWorkloads', 'shop/cart: not routed yet'],
          }),
          object(DynamicEnv, 'no-image', processing, {
            Ready: ['Processing', 'shop/cart: initializing'],
            WorkloadsReady: ['ImagePullBackOff', 'shop/cart: initializing (ImagePullBackOff: container app)'],
            Routed: ['NotAnswered', 'shop/cart: requests fail: no pod of the clone is ready'],
          }),
          object(DynamicEnv, 'crashing', processing, {
            Ready: ['Processing', 'shop/cart: initializing'],
            WorkloadsReady: ['CrashLoopBackOff', 'shop/cart: initializing (CrashLoopBackOff: container app)'],
            Routed: ['WaitingForWorkloads', 'shop/cart: not routed yet'],
          }),
        ],
      ],
      [
        DeploymentTargetClaim.kind,
        [
          object(DeploymentTargetClaim, 'waiting', { phase: 'Pending' }, { Ready: ['Pending', ''] }),
          object(
            DeploymentTargetClaim,
            'emptied',
            { phase: 'Bound' },
            { Ready: ['NamespaceNotFound', 'namespace a is gone, with all that was in it'] },
          ),
        ],
      ],
      [
        DeploymentTarget.kind,
        [
          object(DeploymentTarget, 'free', { phase: 'Available' }, { Ready: ['SecretNotFound', 'not yet'] }),
          object(
            DeploymentTarget,
            'keyless',
            { phase: 'Bound' },
            { Ready: ['SecretNotFound', 'the Secret access with the credentials does not exist'] },
          ),
        ],
      ],
    ]),
  });
  expect(found.problems.map(({ about, message }) => `${about}: ${message}`)).toEqual([
    'environment shop/no-image: shop/cart: requests fail: no pod of the clone is ready',
    'environment shop/crashing: shop/cart: initializing (CrashLoopBackOff: container app)',
    'claim shop/emptied: NamespaceNotFound: namespace a is gone, with all that was in it',
    'target shop/keyless: SecretNotFound: the Secret access with the credentials does not exist',
  ]);
});

test('reportOf warns about objects of a part that nobody is seen to run, and limits the names', () => {
  const many = Array.from({ length: 8 }, (_, at) => environment(`e${at}`, 'no base'));
  const found = report({ deployments: [], leases: [], objects: new Map([[DynamicEnv.kind, many]]) });
  expect(found.problems[0]).toMatchObject({
    about: 'part environments',
    message:
      'it is not known whether a controller manages 8 environments: there is neither a Lease nor a Deployment for them',
  });
  expect(found.parts.map(({ state }) => state)).toEqual(['unknown', 'off', 'off', 'off']);
  expect(found.problems.at(-1)).toMatchObject({ about: 'environments', message: '3 more are not healthy' });
  expect(found.problems).toHaveLength(7);
});
