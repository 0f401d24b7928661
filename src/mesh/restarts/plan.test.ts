import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/index.ts';
import type { Pod, Workload } from '../workloads/workloads.ts';
import type { DisruptionBudget } from './budgets.ts';
import { withRestart, lastRestart, podToDelete } from './restart-annotations.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { isInEffect, unfinished } from './plan.ts';
import type { RestartPlan } from './plan.ts';
import { HASH, HEALTHY, NOW, plan, workload } from './testing/workloads.ts';
import type { WorkloadOptions } from './testing/workloads.ts';
import { parseWindow } from './window.ts';

const restarted = (name: string, options: WorkloadOptions = {}, hash = HASH): Workload =>
  withRestart(workload(name, options), hash, NOW - 60_000);

const names = ({ restart }: RestartPlan): string[] => restart.map((each) => each.workload.metadata.name);
const waits = ({ waiting }: RestartPlan): Record<string, string> =>
  Object.fromEntries(waiting.map((each) => [each.workload.name, each.waiting]));

describe('a batch', () => {
  test('has the maximum size, and the other workloads wait for the next one', () => {
    const planned = plan(['c', 'a', 'b'].map((name) => workload(name)));
    expect(names(planned)).toEqual(['a', 'b']);
    expect(waits(planned)).toEqual({ c: 'the next batch' });
    expect(planned.progress).toEqual({ total: 3, done: 0 });
  });

  test('starts with workloads of the module', () => {
    const planned = plan([
      workload('a'),
      workload('z', { namespace: 'kyma-system' }),
      workload('y', { labels: { 'kyma-project.io/module': 'telemetry' } }),
    ]);
    expect(names(planned)).toEqual(['z', 'y']);
  });

  test('waits until every workload of the previous batch is healthy', () => {
    const going = restarted('a', { status: { ...HEALTHY, availableReplicas: 1 } });
    const planned = plan([going, restarted('b'), workload('c')], {}, ['a', 'b']);
    expect(names(planned)).toEqual([]);
    expect(planned.restarting).toMatchObject([{ workload: { name: 'a' }, waiting: '1 of 2 pods are available' }]);
    expect(waits(planned)).toEqual({ c: 'Deployment shop/a must be healthy first: 1 of 2 pods are available' });
    expect(planned.progress).toEqual({ total: 3, done: 1 });
    expect(names(plan([restarted('a'), restarted('b'), workload('c')], {}, ['a', 'b']))).toEqual(['c']);
  });

  test('waits for a rollout that is stuck and says why, unless the workload is excluded', () => {
    const status = {
      ...HEALTHY,
      updatedReplicas: 1,
      conditions: [{ type: 'Progressing', status: 'False', message: 'ReplicaSet "a-2" has timed out progressing.' }],
    };
    const planned = plan([restarted('a', { status }), workload('b')]);
    expect(waits(planned)).toEqual({
      b: 'Deployment shop/a must be healthy first: ReplicaSet "a-2" has timed out progressing.',
    });
    const annotations = { 'restarter.istio-operator.kyma-project.io/exclude': 'true' };
    expect(names(plan([restarted('a', { status, annotations }), workload('b')]))).toEqual(['b']);
  });

  test('does not contain a workload that was already restarted for this state, whatever its pods look like', () => {
    const planned = plan([restarted('a'), workload('b')]);
    expect(names(planned)).toEqual(['b']);
    expect(planned.unchanged).toMatchObject([
      {
        workload: { name: 'a' },
        why: 'old image',
        waiting: 'it was restarted for this at 2026-01-01T11:59:00Z, and something else changes its pods',
      },
    ]);
  });

  test('contains a workload that was restarted for another state', () => {
    expect(names(plan([restarted('a', {}, 'h0')]))).toEqual(['a']);
  });

  test('does not count a workload that was restarted for an earlier state and is up to date', () => {
    expect(plan([restarted('a', {}, 'h0')], {}, ['a'])).toMatchObject({ restart: [], progress: { total: 0, done: 0 } });
  });
});

describe('a workload waits without blocking others', () => {
  test.each<[string, WorkloadOptions, string]>([
    [
      'while it is excluded',
      { annotations: { 'restarter.istio-operator.kyma-project.io/exclude': 'true' } },
      'it is excluded by annotation restarter.istio-operator.kyma-project.io/exclude',
    ],
    ['while it is paused', { spec: { paused: true } }, 'its rollout is paused'],
    [
      'if its update strategy is OnDelete',
      { kind: 'StatefulSet', spec: { updateStrategy: { type: 'OnDelete' } } },
      'its update strategy is OnDelete: delete its pods',
    ],
    [
      'while it is not healthy',
      { status: { readyReplicas: 1, availableReplicas: 1 } },
      'it is not healthy: 1 of 2 pods are available',
    ],
    [
      'until its maintenance window opens',
      { annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': 'Sat-Sun 00:00-04:00' } },
      'its maintenance window opens at 2026-01-03T00:00:00Z',
    ],
    [
      'if its maintenance window is invalid',
      { annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': 'at night' } },
      'annotation restarter.istio-operator.kyma-project.io/maintenance-window must be like "Sat-Sun 00:00-04:00", found "at night"',
    ],
  ])('%s', (_what, options, text) => {
    const planned = plan([workload('a', options), workload('b')]);
    expect(names(planned)).toEqual(['b']);
    expect(waits(planned)).toEqual({ a: text });
  });

  test('while it is unhealthy, and then the goal is not in effect; if it is paused, it is', () => {
    const unhealthy = plan([workload('a', { status: { readyReplicas: 1, availableReplicas: 1 } })]);
    expect([isInEffect(unhealthy), unfinished(unhealthy)]).toEqual([false, 0]);
    const paused = plan([workload('a', { spec: { paused: true } })]);
    expect(isInEffect(paused)).toBe(true);
  });

  test('for a rollout that somebody else started', () => {
    const planned = plan([workload('a', { status: { updatedReplicas: 1 } }), workload('b')]);
    expect(names(planned)).toEqual(['b']);
    expect(planned.waiting).toMatchObject([{ waiting: '1 of 2 pods are new', on: 'rollouts' }]);
  });

  test('until its window opens, and wakeAt is the earliest of these times', () => {
    const window = (text: string): WorkloadOptions => ({
      annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': text },
    });
    const planned = plan([workload('a', window('Sat 00:00-04:00')), workload('b', window('20:00-21:00'))]);
    expect(planned.wakeAt).toBe(Date.parse('2026-01-01T20:00:00Z'));
  });

  test('for the global window if it has none of its own', () => {
    const own = workload('b', {
      annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': '11:00-13:00' },
    });
    const window = parseWindow('Sat 00:00-04:00')!;
    expect(names(plan([workload('a'), own], { window }))).toEqual(['b']);
  });
});

describe('a workload', () => {
  const ref = (kind = 'Deployment') => workloadRef(workload('a', { kind }));
  const outdated = (changes: object, kind?: string) =>
    new Map([
      [
        workloadKey(ref(kind)),
        {
          workload: ref(kind),
          why: 'x',
          pods: 1,
          oldest: 0,
          newest: 0,
          bySetting: false,
          isUnhealthy: false,
          ...changes,
        },
      ],
    ]);

  test('that was restarted for a changed setting is up to date, whatever its pods look like', () => {
    const planned = plan([restarted('a')], { outdated: outdated({ bySetting: true, newest: NOW }) });
    expect(planned).toMatchObject({ restart: [], unchanged: [], progress: { total: 1, done: 1 } });
  });

  test('is still restarting if its rollout is done but pods from before the restart remain', () => {
    const planned = plan([restarted('a')], { outdated: outdated({}) });
    expect(planned).toMatchObject({ unchanged: [], restarting: [{ waiting: '1 old pods are still there' }] });
  });

  test('needs a manual restart if no outdated pod is ready, but not after a restart', () => {
    const unhealthy = outdated({ isUnhealthy: true, newest: NOW });
    expect(plan([workload('a')], { outdated: unhealthy })).toMatchObject({
      restart: [],
      waiting: [{ waiting: 'it is not healthy: its outdated pods are not ready', on: 'people' }],
      progress: { total: 1, done: 0 },
    });
    expect(plan([restarted('a')], { outdated: unhealthy })).toMatchObject({ unchanged: [], progress: { done: 1 } });
  });

  test('that the server refuses to restart waits for its next retry, and blocks no other', () => {
    const refused = ({ name }: { name: string }) =>
      name === 'a' ? { message: 'the API server rejects it: no', retryAt: NOW + 5_000 } : undefined;
    const planned = plan([workload('a'), workload('b')], { refused });
    expect(names(planned)).toEqual(['b']);
    expect(planned).toMatchObject({ waiting: [{ waiting: 'the API server rejects it: no', on: 'time' }] });
    expect(planned.wakeAt).toBe(NOW + 5_000);
  });

  test('whose pods are deleted waits while a pod was created in this second, as it would look new', () => {
    const planned = plan([workload('a', { kind: 'ReplicaSet' })], {
      outdated: outdated({ newest: NOW }, 'ReplicaSet'),
    });
    expect(waits(planned)).toEqual({ a: 'its pods were just created' });
    expect(planned.wakeAt).toBe(NOW + 1_000);
  });
});

describe('PodDisruptionBudgets', () => {
  const budget = (allowed: number, app: string, rest: Partial<DisruptionBudget> = {}): DisruptionBudget => ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: `pdb-${app}`, namespace: 'shop', generation: 1 },
    spec: { selector: { matchLabels: { app } } },
    status: { disruptionsAllowed: allowed, observedGeneration: 1 },
    ...rest,
  });

  test('block a restart while they allow no disruption', () => {
    const planned = plan([workload('a'), workload('b')], { budgets: [budget(0, 'a'), budget(1, 'b')] });
    expect(names(planned)).toEqual(['b']);
    expect(waits(planned)).toEqual({ a: 'PodDisruptionBudget shop/pdb-a allows no disruption' });
  });

  test('block a restart while their status is outdated', () => {
    const stale = budget(1, 'a', { metadata: { name: 'pdb-a', namespace: 'shop', generation: 2 } });
    expect(waits(plan([workload('a')], { budgets: [stale] }))['a']).toContain('is not counted yet');
  });

  test('allow only one of two workloads with a shared budget to restart at a time', () => {
    const shared = budget(1, 'x', { spec: { selector: { matchLabels: { tier: 'web' } } } });
    const web = { spec: { template: { metadata: { labels: { tier: 'web' } } } } };
    const planned = plan([workload('a', web), workload('b', web)], { budgets: [shared] });
    expect(names(planned)).toEqual(['a']);
    expect(waits(planned)['b']).toContain('is shared with a workload that is restarting');
  });

  test('do not block a Deployment that adds new pods before it removes old ones', () => {
    const losing = (maxUnavailable: number | string, maxSurge: number | string = '25%'): WorkloadOptions => ({
      spec: { replicas: 2, strategy: { rollingUpdate: { maxUnavailable, maxSurge } } },
    });
    const restarted = (options: WorkloadOptions) =>
      names(plan([workload('a', options)], { budgets: [budget(0, 'a')] }));
    expect(restarted(losing('50%'))).toEqual([]);
    expect(restarted(losing(0))).toEqual(['a']);
    // A quarter of two pods is rounded down to none.
    expect(restarted(losing('25%'))).toEqual(['a']);
    expect(restarted(losing('25%', 0))).toEqual([]);
  });

  test('are ignored in other namespaces, and if they select nothing', () => {
    const other = budget(0, 'a', { metadata: { name: 'x', namespace: 'other' } });
    const none = budget(0, 'a', { spec: {} });
    expect(names(plan([workload('a')], { budgets: [other, none] }))).toEqual(['a']);
  });
});

describe('the restart annotations', () => {
  test.each(['Deployment', 'StatefulSet', 'DaemonSet'])('of a %s are added to its pod template', (kind) => {
    const spec = { template: { metadata: { annotations: { a: 'b' }, labels: { app: 'x' } } } };
    const after = withRestart(workload('x', { kind, spec }), HASH, NOW);
    expect(after.spec?.template?.metadata).toEqual({
      labels: { app: 'x' },
      annotations: {
        a: 'b',
        'istio-operator.kyma-project.io/restartedAt': '2026-01-01T12:00:00Z',
        'istio-operator.kyma-project.io/restartedFor': HASH,
      },
    });
    expect(after.metadata).toEqual(workload('x', { kind, spec }).metadata);
    expect(lastRestart(after)).toEqual({ for: HASH, at: NOW });
  });

  test('of an Argo Rollout are on the Rollout, with a request for Argo to restart its pods', () => {
    const after = withRestart(workload('x', { kind: 'Rollout' }), HASH, NOW);
    expect(after.spec).toMatchObject({ restartAt: '2026-01-01T12:00:00Z' });
    expect(after.spec?.template).toEqual(workload('x').spec?.template);
    expect(lastRestart(after)).toEqual({ for: HASH, at: NOW });
  });

  test('of a ReplicaSet determine which pods are old; the oldest is deleted first, one at a time', () => {
    const set = { kind: 'ReplicaSet' };
    expect(plan([restarted('a', set)]).replace).toHaveLength(1);
    const unready = restarted('a', { ...set, status: { readyReplicas: 1 } });
    expect(plan([unready])).toMatchObject({ replace: [], restarting: [{ waiting: '1 of 2 pods are ready' }] });
    const pod = (name: string, creationTimestamp: string): Pod => {
      return { apiVersion: 'v1', kind: 'Pod', metadata: { name, creationTimestamp } } satisfies KubeObject;
    };
    const pods = [
      pod('new', '2026-01-01T12:00:01Z'),
      pod('second', '2026-01-01T11:00:00Z'),
      pod('first', '2026-01-01T10:00:00Z'),
    ];
    expect(podToDelete({ for: HASH, at: NOW }, pods)?.metadata.name).toBe('first');
    expect(podToDelete({ for: HASH, at: NOW }, [pods[0]!])).toBeUndefined();
  });

  test('of a ReplicaSet prevent its pods from being replaced forever', () => {
    const ref = workloadRef(workload('a', { kind: 'ReplicaSet' }));
    const when = { oldest: NOW, newest: NOW, bySetting: false, isUnhealthy: false };
    const outdated = new Map([[workloadKey(ref), { workload: ref, why: 'old image', pods: 1, ...when }]]);
    expect(plan([restarted('a', { kind: 'ReplicaSet' })], { outdated })).toMatchObject({
      replace: [],
      unchanged: [{ workload: { name: 'a' } }],
    });
  });
});
