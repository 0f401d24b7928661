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

/** All that the tier makes of the space, as if it were there. */
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
  test('gets the namespace of its tier and all that is in it', () => {
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

  test('is provisioned once all of it is there, and not before', () => {
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
      'a namespace of somebody else by the name',
      SPEC,
      [object(Namespace, 'jane-env')],
      'UnableToProvision: namespace jane-env exists already and does not belong to the space',
      'cluster-assigned',
    ],
  ] as const)('%s', (_what, spec, others, condition, state) => {
    const planned = plan(space(spec), ...others);
    expect(conditionsIn(planned)).toEqual([`Ready=False ${condition}`]);
    expect(shown(planned)).toEqual([`edit Space offshoot-system/jane {"metadata":{"labels":{"${STATE}":"${state}"}}}`]);
  });

  test('carries the name of its parent', () => {
    const it = space({ ...SPEC, parentSpace: 'root' });
    expect(shown(plan(it, ...allOf(it))).at(-1)).toContain('"toolchain.dev.openshift.com/parent-space":"root"');
  });

  test('that was made from another state of its tier is updated first', () => {
    const it = space(SPEC, ready, { labels: { ...settled, [HASH]: 'old' } });
    const planned = plan(it, ...allOf(it));
    expect([conditionsIn(planned), planned.requeueAfterMs]).toEqual([['Ready=False Updating'], 1000]);
    const next = space(SPEC, ready, { labels: settled });
    expect(conditionsIn(plan(next, ...allOf(next)))).toEqual(['Ready=True Provisioned']);
  });

  test('writes nothing into a namespace that is going, and waits for the name', () => {
    const it = space(SPEC);
    const going = object(Namespace, 'jane-env', {}, { labels: OF, deletionTimestamp: ago(5) });
    const planned = plan(it, going);
    expect(conditionsIn(planned)).toEqual(['Ready=False Provisioning']);
    expect(shown(planned).filter((line) => line.startsWith('own'))).toEqual([]);
  });

  test.each([
    ['is gone', []],
    ['is going', [object(Namespace, 'jane-env', {}, { labels: OF, deletionTimestamp: ago(5) })]],
  ])('makes no empty namespace in place of one that %s, and says so', (_what, left) => {
    const it = space(SPEC, ready, { labels: settled });
    const planned = plan(it, ...allOf(it).filter(({ kind }) => kind !== 'Namespace'), ...left);
    const told = 'Ready=False UnableToProvision: namespace jane-env was deleted, with all that was in it';
    expect([shown(planned), conditionsIn(planned)]).toEqual([[], [told]]);
  });

  test('that should be elsewhere leaves first', () => {
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

describe('a space that is going', () => {
  const going = { deletionTimestamp: ago(100) };
  const namespace = (name: string, meta: Partial<ObjectMeta> = {}) =>
    object(Namespace, name, {}, { labels: OF, ...meta });

  test('takes its namespaces with it one at a time, and goes when they are gone', () => {
    const it = space(SPEC, ready, going);
    const first = plan(it, namespace('jane-a'), namespace('jane-b'));
    expect([shown(first), conditionsIn(first), first.finished]).toEqual([
      ['remove Namespace jane-a'],
      ['Ready=False Terminating'],
      undefined,
    ]);
    expect(plan(it)).toEqual({ finished: true });
  });

  test('that never was anywhere goes at once', () => {
    expect(plan(space({ tierName: 'appstudio-env' }, undefined, going))).toEqual({ finished: true });
  });

  test('from a cluster that nobody knows says so, unless nothing was made there', () => {
    const spec = { ...SPEC, targetCluster: 'lost' };
    expect(conditionsIn(plan(space(spec, { targetCluster: 'lost' }, going)))).toEqual([
      "Ready=False UnableToTerminate: cannot delete NSTemplateSet: unknown target member cluster: 'lost'",
    ]);
    expect(plan(space(spec, undefined, going))).toEqual({ finished: true });
  });

  test.each([
    [60, 'Ready=False Terminating', 1],
    [61, 'Ready=False UnableToTerminate: NSTemplateSet deletion has not completed in over 1 minute', undefined],
  ])('after %d s of waiting for a namespace says %s', (seconds, condition, requeueAfterMs) => {
    const planned = plan(space(SPEC, ready, going), namespace('jane-env', { deletionTimestamp: ago(seconds) }));
    expect([conditionsIn(planned), planned.requeueAfterMs]).toEqual([[condition], requeueAfterMs]);
  });
});

test('what a space leaves open is filled in: its tier first, then its cluster', () => {
  const fill = (spec: object, meta = {}) => shown(planCompletion(space(spec, undefined, meta), defaultSettings));
  const of = 'edit Space offshoot-system/jane';
  expect(fill({})).toEqual([`${of} {"spec":{"tierName":"appstudio-env"}}`]);
  expect(fill({ tierName: 'x' })).toEqual([`${of} {"spec":{"targetCluster":"local"}}`]);
  expect(fill({ tierName: 'x', targetClusterRoles: ['none-has-it'] })).toEqual([]);
  expect(fill(SPEC)).toEqual([]);
  expect(fill({}, { deletionTimestamp: ago(1) })).toEqual([]);
});

test('a requested name becomes part of the name of the namespace', () => {
  const it = space(SPEC, undefined, { annotations: { 'dt.appstudio.redhat.com/requested-namespace': 'staging' } });
  expect(tier.namespaces(it, new Map()).map(({ namespace }) => namespace.metadata.name)).toEqual(['jane-staging']);
});
