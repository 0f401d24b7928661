import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../kube/index.ts';
import type { Pod, Workload } from '../workloads.ts';
import type { DisruptionBudget } from './budgets.ts';
import { marked, markOf, podToDelete } from './mark.ts';
import { workloadKey, workloadRef } from './owners.ts';
import { isInEffect, unfinished } from './plan.ts';
import type { RestartPlan } from './plan.ts';
import { HASH, HEALTHY, NOW, plan, workload } from './testing/workloads.ts';
import type { WorkloadOptions } from './testing/workloads.ts';
import { parseWindow } from './window.ts';

const restarted = (name: string, options: WorkloadOptions = {}, hash = HASH): Workload =>
  marked(workload(name, options), hash, NOW - 60_000);

const names = ({ restart }: RestartPlan): string[] => restart.map((each) => each.workload.metadata.name);
const waits = ({ waiting }: RestartPlan): Record<string, string> =>
  Object.fromEntries(waiting.map((each) => [each.workload.name, each.waiting]));

describe('batches', () => {
  test('the first batch is as large as it may be, the others wait for the next', () => {
    const planned = plan(['c', 'a', 'b'].map((name) => workload(name)));
    expect(names(planned)).toEqual(['a', 'b']);
    expect(waits(planned)).toEqual({ c: 'the next batch' });
    expect(planned.progress).toEqual({ total: 3, done: 0 });
  });

  test('what belongs to the module comes first', () => {
    const planned = plan([
      workload('a'),
      workload('z', { namespace: 'kyma-system' }),
      workload('y', { labels: { 'kyma-project.io/module': 'telemetry' } }),
    ]);
    expect(names(planned)).toEqual(['z', 'y']);
  });

  test('the next batch waits until every workload of the last is healthy', () => {
    const going = restarted('a', { status: { ...HEALTHY, availableReplicas: 1 } });
    const planned = plan([going, restarted('b'), workload('c')], {}, ['a', 'b']);
    expect(names(planned)).toEqual([]);
    expect(planned.restarting).toMatchObject([{ workload: { name: 'a' }, waiting: '1 of 2 pods are available' }]);
    expect(waits(planned)).toEqual({ c: 'Deployment shop/a must be healthy first: 1 of 2 pods are available' });
    expect(planned.progress).toEqual({ total: 3, done: 1 });
    expect(names(plan([restarted('a'), restarted('b'), workload('c')], {}, ['a', 'b']))).toEqual(['c']);
  });

  test('a rollout that is stuck stops everything and says why; excluding it lets the others go on', () => {
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

  test('a workload that was restarted for this state is not restarted again, whatever its pods look like', () => {
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

  test('it is restarted for another state', () => {
    expect(names(plan([restarted('a', {}, 'h0')]))).toEqual(['a']);
  });

  test('a workload that was restarted for an earlier state and is up to date is not counted', () => {
    expect(plan([restarted('a', {}, 'h0')], {}, ['a'])).toMatchObject({ restart: [], progress: { total: 0, done: 0 } });
  });
});

describe('a workload waits, and holds up nobody', () => {
  test.each<[string, WorkloadOptions, string]>([
    [
      'while it is excluded',
      { annotations: { 'restarter.istio-operator.kyma-project.io/exclude': 'true' } },
      'it is excluded by annotation restarter.istio-operator.kyma-project.io/exclude',
    ],
    ['while it is paused', { spec: { paused: true } }, 'its rollout is paused'],
    [
      'when somebody deletes its pods by hand',
      { kind: 'StatefulSet', spec: { updateStrategy: { type: 'OnDelete' } } },
      'its update strategy is OnDelete: delete its pods',
    ],
    [
      'while it is not healthy: the pods that it has are better than none',
      { status: { readyReplicas: 1, availableReplicas: 1 } },
      'it is not healthy: 1 of 2 pods are available',
    ],
    [
      'until its maintenance window opens',
      { annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': 'Sat-Sun 00:00-04:00' } },
      'its maintenance window opens at 2026-01-03T00:00:00Z',
    ],
    [
      'when its maintenance window is none',
      { annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': 'at night' } },
      'annotation restarter.istio-operator.kyma-project.io/maintenance-window must be like "Sat-Sun 00:00-04:00", found "at night"',
    ],
  ])('%s', (_what, options, text) => {
    const planned = plan([workload('a', options), workload('b')]);
    expect(names(planned)).toEqual(['b']);
    expect(waits(planned)).toEqual({ a: text });
  });

  test('what it was not restarted for is not in effect while it may be healthy again, unless somebody is against it', () => {
    const unhealthy = plan([workload('a', { status: { readyReplicas: 1, availableReplicas: 1 } })]);
    expect([isInEffect(unhealthy), unfinished(unhealthy)]).toEqual([false, 0]);
    const paused = plan([workload('a', { spec: { paused: true } })]);
    expect(isInEffect(paused)).toBe(true);
  });

  test('for the end of a rollout that somebody else began: it is not done before', () => {
    const planned = plan([workload('a', { status: { updatedReplicas: 1 } }), workload('b')]);
    expect(names(planned)).toEqual(['b']);
    expect(planned.waiting).toMatchObject([{ waiting: '1 of 2 pods are new', on: 'rollouts' }]);
  });

  test('and the planner says when the first window opens', () => {
    const window = (text: string): WorkloadOptions => ({
      annotations: { 'restarter.istio-operator.kyma-project.io/maintenance-window': text },
    });
    const planned = plan([workload('a', window('Sat 00:00-04:00')), workload('b', window('20:00-21:00'))]);
    expect(planned.wakeAt).toBe(Date.parse('2026-01-01T20:00:00Z'));
  });

  test('a window for all is for those that have none of their own', () => {
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

  test('whose rollout is done is on its way while only pods from before the restart are outdated', () => {
    const planned = plan([restarted('a')], { outdated: outdated({}) });
    expect(planned).toMatchObject({ unchanged: [], restarting: [{ waiting: '1 old pods are still there' }] });
  });

  test('of which no outdated pod is ready needs a manual restart; after its restart such a pod is no finding', () => {
    const unhealthy = outdated({ isUnhealthy: true, newest: NOW });
    expect(plan([workload('a')], { outdated: unhealthy })).toMatchObject({
      restart: [],
      waiting: [{ waiting: 'it is not healthy: its outdated pods are not ready', on: 'people' }],
      progress: { total: 1, done: 0 },
    });
    expect(plan([restarted('a')], { outdated: unhealthy })).toMatchObject({ unchanged: [], progress: { done: 1 } });
  });

  test('that the server refuses to restart waits for its next try, and holds up nobody', () => {
    const refused = ({ name }: { name: string }) =>
      name === 'a' ? { message: 'the API server rejects it: no', retryAt: NOW + 5_000 } : undefined;
    const planned = plan([workload('a'), workload('b')], { refused });
    expect(names(planned)).toEqual(['b']);
    expect(planned).toMatchObject({ waiting: [{ waiting: 'the API server rejects it: no', on: 'time' }] });
    expect(planned.wakeAt).toBe(NOW + 5_000);
  });

  test('whose pods we delete waits while one is of this second: it could not be told from a new one', () => {
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

  test('hold a restart back while they allow no disruption', () => {
    const planned = plan([workload('a'), workload('b')], { budgets: [budget(0, 'a'), budget(1, 'b')] });
    expect(names(planned)).toEqual(['b']);
    expect(waits(planned)).toEqual({ a: 'PodDisruptionBudget shop/pdb-a allows no disruption' });
  });

  test('that are not counted yet are waited for', () => {
    const stale = budget(1, 'a', { metadata: { name: 'pdb-a', namespace: 'shop', generation: 2 } });
    expect(waits(plan([workload('a')], { budgets: [stale] }))['a']).toContain('is not counted yet');
  });

  test('that two workloads share let one of them restart at a time', () => {
    const shared = budget(1, 'x', { spec: { selector: { matchLabels: { tier: 'web' } } } });
    const web = { spec: { template: { metadata: { labels: { tier: 'web' } } } } };
    const planned = plan([workload('a', web), workload('b', web)], { budgets: [shared] });
    expect(names(planned)).toEqual(['a']);
    expect(waits(planned)['b']).toContain('is shared with a workload that is restarting');
  });

  test('do not concern a Deployment that adds pods before it takes any away', () => {
    const losing = (maxUnavailable: number | string, maxSurge: number | string = '25%'): WorkloadOptions => ({
      spec: { replicas: 2, strategy: { rollingUpdate: { maxUnavailable, maxSurge } } },
    });
    const restarted = (options: WorkloadOptions) =>
      names(plan([workload('a', options)], { budgets: [budget(0, 'a')] }));
    expect(restarted(losing('50%'))).toEqual([]);
    expect(restarted(losing(0))).toEqual(['a']);
    // A quarter of two pods is none.
    expect(restarted(losing('25%'))).toEqual(['a']);
    expect(restarted(losing('25%', 0))).toEqual([]);
  });

  test('of other namespaces, and those that select nothing, do not count', () => {
    const other = budget(0, 'a', { metadata: { name: 'x', namespace: 'other' } });
    const none = budget(0, 'a', { spec: {} });
    expect(names(plan([workload('a')], { budgets: [other, none] }))).toEqual(['a']);
  });
});

describe('the mark', () => {
  test.each(['Deployment', 'StatefulSet', 'DaemonSet'])('of a %s is in its template, beside what is there', (kind) => {
    const spec = { template: { metadata: { annotations: { a: 'b' }, labels: { app: 'x' } } } };
    const after = marked(workload('x', { kind, spec }), HASH, NOW);
    expect(after.spec?.template?.metadata).toEqual({
      labels: { app: 'x' },
      annotations: {
        a: 'b',
        'istio-operator.kyma-project.io/restartedAt': '2026-01-01T12:00:00Z',
        'istio-operator.kyma-project.io/restartedFor': HASH,
      },
    });
    expect(after.metadata).toEqual(workload('x', { kind, spec }).metadata);
    expect(markOf(after)).toEqual({ for: HASH, at: NOW });
  });

  test('of an Argo Rollout is on itself, and Argo is asked to restart its pods', () => {
    const after = marked(workload('x', { kind: 'Rollout' }), HASH, NOW);
    expect(after.spec).toMatchObject({ restartAt: '2026-01-01T12:00:00Z' });
    expect(after.spec?.template).toEqual(workload('x').spec?.template);
    expect(markOf(after)).toEqual({ for: HASH, at: NOW });
  });

  test('of a ReplicaSet says which pods are old: the oldest goes first, one at a time', () => {
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

  test('of a ReplicaSet whose pods were all replaced keeps them from being replaced forever', () => {
    const ref = workloadRef(workload('a', { kind: 'ReplicaSet' }));
    const when = { oldest: NOW, newest: NOW, bySetting: false, isUnhealthy: false };
    const outdated = new Map([[workloadKey(ref), { workload: ref, why: 'old image', pods: 1, ...when }]]);
    expect(plan([restarted('a', { kind: 'ReplicaSet' })], { outdated })).toMatchObject({
      replace: [],
      unchanged: [{ workload: { name: 'a' } }],
    });
  });
});
