import { describe, expect, test } from 'vitest';
import { Space } from '../../api/spaces.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { Namespace } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import { ago, conditionsIn, object, planIn, shown } from '../testing/planning.ts';
import { planCompletion } from './completion.ts';
import { planSpace } from './space.ts';
import { tierHash, tierNamed } from './tiers.ts';

const STATE = 'toolchain.dev.openshift.com/state';
const HASH = 'toolchain.dev.openshift.com/appstudio-env-tier-hash';
const OF = { 'toolchain.dev.openshift.com/space': 'jane' };
const tier = tierNamed('appstudio-env')!;
const SPEC = { tierName: 'appstudio-env', targetCluster: 'local' };

const space = (spec: object = SPEC, status?: object, meta: Partial<ObjectMeta> = {}): Space =>
  object(Space, 'jane', { spec, ...(status && { status }) }, { namespace: 'offshoot-system', ...meta });

/** All objects that the tier makes for the space, as if they existed. */
function allOf(it: Space): KubeObject[] {
  return tier
    .namespaces(it, new Map())
    .flatMap(({ namespace, contents }) => [namespace, ...contents.map((each) => each.object)]);
}

const plan = (it: Space, ...others: KubeObject[]) =>
  planIn([it, ...others], (view) => planSpace(view, it, defaultSettings));

const settled = { [HASH]: tierHash(tier.namespaces(space(), new Map())), [STATE]: 'cluster-assigned' };
const ready = {
  targetCluster: 'local',
  provisionedNamespaces: [{ name: 'jane-env', type: 'default' }],
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Provisioned',
      message: '',
      lastTransitionTime: ago(9),
      lastUpdatedTime: ago(9),
    },
  ],
};

describe('a space', () => {
  test('gets the namespace of its tier with all its contents', () => {
    const planned = plan(space());
    expect(shown(planned)).toEqual([
      `edit Space offshoot-system/jane {"metadata":{"labels":{"${STATE}":"cluster-assigned"}}}`,
      'own Namespace jane-env',
      'own ServiceAccount jane-env/namespace-manager',
      'own RoleBinding jane-env/namespace-manager',
      'own Role jane-env/additional-argocd-read',
      'own RoleBinding jane-env/additional-argocd-read',
      'own ResourceQuota jane-env/compute-deploy',
      'own ResourceQuota jane-env/compute-build',
      'own ResourceQuota jane-env/storage',
      'own LimitRange jane-env/resource-limits',
      'own NetworkPolicy jane-env/allow-same-namespace',
      'own NetworkPolicy jane-env/allow-from-openshift-ingress',
      'own NetworkPolicy jane-env/allow-from-openshift-monitoring',
      'own NetworkPolicy jane-env/allow-from-codeready-workspaces-operator',
      'own NetworkPolicy jane-env/allow-from-olm-namespaces',
      'own NetworkPolicy jane-env/allow-from-console-namespaces',
    ]);
    expect(conditionsIn(planned)).toEqual(['Ready=False Provisioning']);
    expect(planned.requeueAfterMs).toBe(1000);
  });

  test('is Provisioned once all of its objects exist, and not before', () => {
    const it = space();
    const all = allOf(it);
    for (const missing of all) {
      expect(conditionsIn(plan(it, ...all.filter((each) => each !== missing)))).toEqual(['Ready=False Provisioning']);
    }
    const planned = plan(it, ...all);
    expect(conditionsIn(planned)).toEqual(['Ready=True Provisioned']);
    expect(planned.status).toMatchObject({
      targetCluster: 'local',
      provisionedNamespaces: [{ name: 'jane-env', type: 'default' }],
    });
    expect(shown(planned).at(-1)).toContain(HASH);
  });

  test.each([
    ['no tier', { targetCluster: 'local' }, [], 'ProvisioningPending: unspecified tier name', 'pending'],
    [
      'no cluster',
      { tierName: 'appstudio-env' },
      [],
      'ProvisioningPending: unspecified target member cluster',
      'pending',
    ],
    [
      'an unknown cluster',
      { ...SPEC, targetCluster: 'unknown' },
      [],
      "UnableToProvision: unknown target member cluster 'unknown'",
      'cluster-assigned',
    ],
    [
      'an unknown tier',
      { ...SPEC, tierName: 'gold' },
      [],
      'UnableToProvision: nstemplatetiers.toolchain.dev.openshift.com "gold" not found',
      'cluster-assigned',
    ],
    [
      'a namespace of that name that is not ours',
      SPEC,
      [object(Namespace, 'jane-env')],
      'UnableToProvision: namespace jane-env exists already and does not belong to the space',
      'cluster-assigned',
    ],
  ] as const)('reports %s', (_what, spec, others, condition, state) => {
    const planned = plan(space(spec), ...others);
    expect(conditionsIn(planned)).toEqual([`Ready=False ${condition}`]);
    expect(shown(planned)).toEqual([`edit Space offshoot-system/jane {"metadata":{"labels":{"${STATE}":"${state}"}}}`]);
  });

  test('has a label with the name of its parent', () => {
    const it = space({ ...SPEC, parentSpace: 'root' });
    expect(shown(plan(it, ...allOf(it))).at(-1)).toContain('"toolchain.dev.openshift.com/parent-space":"root"');
  });

  test('that was made from an older version of its tier is updated first', () => {
    const it = space(SPEC, ready, { labels: { ...settled, [HASH]: 'old' } });
    const planned = plan(it, ...allOf(it));
    expect([conditionsIn(planned), planned.requeueAfterMs]).toEqual([['Ready=False Updating'], 1000]);
    const next = space(SPEC, ready, { labels: settled });
    expect(conditionsIn(plan(next, ...allOf(next)))).toEqual(['Ready=True Provisioned']);
  });

  test('writes nothing into a namespace that is being deleted, and waits until its name is free', () => {
    const it = space(SPEC);
    const deleting = object(Namespace, 'jane-env', {}, { labels: OF, deletionTimestamp: ago(5) });
    const planned = plan(it, deleting);
    expect(conditionsIn(planned)).toEqual(['Ready=False Provisioning']);
    expect(shown(planned).filter((line) => line.startsWith('own'))).toEqual([]);
  });

  test.each([
    ['is gone', []],
    ['is being deleted', [object(Namespace, 'jane-env', {}, { labels: OF, deletionTimestamp: ago(5) })]],
  ])('does not replace a namespace that %s with an empty one, and reports it', (_what, left) => {
    const it = space(SPEC, ready, { labels: settled });
    const planned = plan(it, ...allOf(it).filter(({ kind }) => kind !== 'Namespace'), ...left);
    const condition = 'Ready=False UnableToProvision: namespace jane-env was deleted, with all that was in it';
    expect([shown(planned), conditionsIn(planned)]).toEqual([[], [condition]]);
  });

  test('that moves to another cluster deletes its namespaces first', () => {
    const it = space({ tierName: 'appstudio-env' }, ready, { labels: settled });
    const leaving = plan(it, object(Namespace, 'jane-env', {}, { labels: OF }));
    expect([shown(leaving), conditionsIn(leaving)]).toEqual([
      ['remove Namespace jane-env'],
      ['Ready=False Retargeting'],
    ]);
    expect(plan(it).status).not.toHaveProperty('targetCluster');
    const lost = space(SPEC, { targetCluster: 'elsewhere' });
    expect(conditionsIn(plan(lost))).toEqual([
      "Ready=False UnableToRetarget: cannot delete NSTemplateSet: unknown target member cluster: 'elsewhere'",
    ]);
  });
});

describe('a space that is being deleted', () => {
  const deleting = { deletionTimestamp: ago(100) };
  const namespace = (name: string, meta: Partial<ObjectMeta> = {}) =>
    object(Namespace, name, {}, { labels: OF, ...meta });

  test('deletes its namespaces one at a time, and finishes when they are gone', () => {
    const it = space(SPEC, ready, deleting);
    const first = plan(it, namespace('jane-a'), namespace('jane-b'));
    expect([shown(first), conditionsIn(first), first.finished]).toEqual([
      ['remove Namespace jane-a'],
      ['Ready=False Terminating'],
      undefined,
    ]);
    expect(plan(it)).toEqual({ finished: true });
  });

  test('that never had a cluster finishes at once', () => {
    expect(plan(space({ tierName: 'appstudio-env' }, undefined, deleting))).toEqual({ finished: true });
  });

  test('reports an unknown cluster, unless nothing was made there', () => {
    const spec = { ...SPEC, targetCluster: 'lost' };
    expect(conditionsIn(plan(space(spec, { targetCluster: 'lost' }, deleting)))).toEqual([
      "Ready=False UnableToTerminate: cannot delete NSTemplateSet: unknown target member cluster: 'lost'",
    ]);
    expect(plan(space(spec, undefined, deleting))).toEqual({ finished: true });
  });

  test.each([
    [60, 'Ready=False Terminating', 1],
    [61, 'Ready=False UnableToTerminate: NSTemplateSet deletion has not completed in over 1 minute', undefined],
  ])('after %d s of waiting for a namespace reports %s', (seconds, condition, requeueAfterMs) => {
    const planned = plan(space(SPEC, ready, deleting), namespace('jane-env', { deletionTimestamp: ago(seconds) }));
    expect([conditionsIn(planned), planned.requeueAfterMs]).toEqual([[condition], requeueAfterMs]);
  });
});

test('planCompletion sets a missing tier first, then a missing cluster', () => {
  const fill = (spec: object, meta = {}) => shown(planCompletion(space(spec, undefined, meta), defaultSettings));
  const of = 'edit Space offshoot-system/jane';
  expect(fill({})).toEqual([`${of} {"spec":{"tierName":"appstudio-env"}}`]);
  expect(fill({ tierName: 'x' })).toEqual([`${of} {"spec":{"targetCluster":"local"}}`]);
  expect(fill({ tierName: 'x', targetClusterRoles: ['none-has-it'] })).toEqual([]);
  expect(fill(SPEC)).toEqual([]);
  expect(fill({}, { deletionTimestamp: ago(1) })).toEqual([]);
});

test('a tier uses the requested name as part of the name of the namespace', () => {
  const it = space(SPEC, undefined, { annotations: { 'dt.appstudio.redhat.com/requested-namespace': 'staging' } });
  expect(tier.namespaces(it, new Map()).map(({ namespace }) => namespace.metadata.name)).toEqual(['jane-staging']);
});
