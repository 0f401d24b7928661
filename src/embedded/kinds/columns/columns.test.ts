// The expected values were compared with the tables of kube-apiserver 1.36.4.
import { describe, expect, test } from 'vitest';
import type { ApiObject } from '../../resource.ts';
import { columnsOf } from './index.ts';
import { humanDuration, selectorText } from './text.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const creationTimestamp = '2026-01-01T00:00:00Z';

function row(group: string, kind: string, object: ApiObject): Record<string, unknown> {
  const metadata = { name: 'x', creationTimestamp, ...(object['metadata'] as object) };
  return Object.fromEntries(
    columnsOf(group, kind).map(({ name, value }) => [name, value({ ...object, metadata }, now)]),
  );
}

function pod(status: ApiObject, spec: ApiObject = {}, metadata: ApiObject = {}): Record<string, unknown> {
  return row('', 'Pod', { metadata, spec: { containers: [{ name: 'a' }], ...spec }, status });
}

describe('pod columns', () => {
  test('show a running pod with restarts', () => {
    const status = {
      phase: 'Running',
      podIPs: [{ ip: '10.0.0.1' }],
      containerStatuses: [
        {
          name: 'a',
          ready: true,
          restartCount: 2,
          state: { running: {} },
          lastState: { terminated: { finishedAt: '2026-01-01T00:05:00Z' } },
        },
      ],
    };
    expect(pod(status, { nodeName: 'n1' })).toEqual({
      Name: 'x',
      Ready: '1/1',
      Status: 'Running',
      Restarts: '2 (5m ago)',
      Age: '10m',
      IP: '10.0.0.1',
      Node: 'n1',
      'Nominated Node': '<none>',
      'Readiness Gates': '<none>',
    });
  });

  test.each<[string, ApiObject, ApiObject, string, string]>([
    ['pending', { phase: 'Pending' }, {}, 'Pending', '0/1'],
    [
      'crashing',
      { phase: 'Running', containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
      {},
      'CrashLoopBackOff',
      '0/1',
    ],
    [
      'initialising',
      {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'i', state: { terminated: { exitCode: 0 } } },
          { name: 'j', state: { running: {} } },
        ],
      },
      { initContainers: [{ name: 'i' }, { name: 'j' }] },
      'Init:1/2',
      '0/1',
    ],
    [
      'failed to initialise',
      { phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { terminated: { exitCode: 3 } } }] },
      { initContainers: [{ name: 'i' }] },
      'Init:ExitCode:3',
      '0/1',
    ],
    [
      'with a sidecar',
      {
        phase: 'Running',
        initContainerStatuses: [{ name: 'i', started: true, ready: true, state: { running: {} } }],
        containerStatuses: [{ ready: true, state: { running: {} } }],
      },
      { initContainers: [{ name: 'i', restartPolicy: 'Always' }] },
      'Running',
      '2/2',
    ],
    [
      'completed',
      { phase: 'Succeeded', containerStatuses: [{ state: { terminated: { exitCode: 0, reason: 'Completed' } } }] },
      {},
      'Completed',
      '0/1',
    ],
    [
      'killed',
      { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 137, signal: 9 } } }] },
      {},
      'Signal:9',
      '0/1',
    ],
    ['evicted', { phase: 'Failed', reason: 'Evicted' }, {}, 'Evicted', '0/1'],
  ])('show the status and readiness of a pod (%s)', (_name, status, spec, text, ready) => {
    expect(pod(status, spec)).toMatchObject({ Status: text, Ready: ready });
  });

  test('show a pod that is being deleted as Terminating', () => {
    expect(pod({ phase: 'Running' }, {}, { deletionTimestamp: creationTimestamp })).toMatchObject({
      Status: 'Terminating',
    });
  });
});

describe('columns of other kinds', () => {
  test('show the replicas, containers and selector of a deployment', () => {
    const spec = {
      replicas: 3,
      selector: { matchLabels: { b: '2', a: '1' } },
      template: {
        spec: {
          containers: [
            { name: 'a', image: 'i' },
            { name: 'b', image: 'j' },
          ],
        },
      },
    };
    expect(row('apps', 'Deployment', { spec, status: { readyReplicas: 1, updatedReplicas: 2 } })).toMatchObject({
      Ready: '1/3',
      'Up-to-date': 2,
      Available: 0,
      Containers: 'a,b',
      Images: 'i,j',
      Selector: 'a=1,b=2',
    });
  });

  test('show the addresses and ports of a service', () => {
    const spec = {
      type: 'LoadBalancer',
      clusterIPs: ['10.0.0.1'],
      ports: [{ port: 80, nodePort: 30123, protocol: 'TCP' }],
    };
    expect(row('', 'Service', { spec })).toMatchObject({
      'Cluster-IP': '10.0.0.1',
      'External-IP': '<pending>',
      'Port(s)': '80:30123/TCP',
      Selector: '<none>',
    });
  });

  test('shorten long lists and say how many items are left out', () => {
    const endpoints = [1, 2, 3, 4].map((last) => ({ addresses: [`10.0.0.${last}`] }));
    expect(row('discovery.k8s.io', 'EndpointSlice', { endpoints, ports: [{ name: 'web' }] })).toMatchObject({
      Ports: 'web',
      Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
    });
    expect(
      row('networking.k8s.io', 'Ingress', {
        spec: { rules: ['a', 'b', 'c', 'd', 'e'].map((host) => ({ host })), tls: [{}] },
      }),
    ).toMatchObject({
      Hosts: 'a,b,c + 2 more...',
      Ports: '80, 443',
    });
  });

  test('are the same for events of both API groups', () => {
    const about = { kind: 'Pod', name: 'p' };
    const expected = { 'Last Seen': '5m', Reason: 'R', Object: 'pod/p', Message: 'm' };
    expect(
      row('', 'Event', { involvedObject: about, reason: 'R', message: ' m ', lastTimestamp: '2026-01-01T00:05:00Z' }),
    ).toMatchObject(expected);
    expect(
      row('events.k8s.io', 'Event', {
        regarding: about,
        reason: 'R',
        note: 'm',
        eventTime: '2026-01-01T00:05:00.000000Z',
      }),
    ).toMatchObject(expected);
  });
});

test.each([
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [599, '9m59s'],
  [600, '10m'],
  [179 * 60, '179m'],
  [3 * 3600 + 60, '3h1m'],
  [47 * 3600, '47h'],
  [49 * 3600, '2d1h'],
  [8 * 86_400, '8d'],
  [800 * 86_400, '2y70d'],
  [-5, '<invalid>'],
])('humanDuration prints %i seconds as %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text);
});

test('selectorText prints a selector in the notation of kubectl', () => {
  const matchExpressions = [
    { key: 'z', operator: 'In', values: ['b', 'a'] },
    { key: 'c', operator: 'DoesNotExist' },
  ];
  expect(selectorText({ matchLabels: { m: '1' }, matchExpressions })).toBe('!c,m=1,z in (a,b)');
});
