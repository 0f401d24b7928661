import { describe, expect, test } from 'vitest';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { planRequest } from './request.ts';
import { Namespace } from '../objects.ts';
import { progressOf } from '../binding/progress.ts';
import { defaultSettings } from '../settings.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';

const DEVSANDBOX = 'appstudio.redhat.com/devsandbox';
const MARK = 'provisioner.appstudio.redhat.com/dt-provisioner';

function claim(
  name = 'staging',
  given: { mark?: string; phase?: string; targetName?: string; meta?: Partial<ObjectMeta> } = {},
): DeploymentTargetClaim {
  const { mark = DEVSANDBOX, phase = 'Pending', targetName = '', meta = {} } = given;
  return object(
    DeploymentTargetClaim,
    name,
    { spec: { deploymentTargetClassName: 'sandbox', ...(targetName && { targetName }) }, status: { phase } },
    { annotations: { [MARK]: mark }, ...meta },
  );
}

const ofClass = (parameters?: object, provisioner = DEVSANDBOX): DeploymentTargetClass =>
  object(DeploymentTargetClass, 'sandbox', { spec: { provisioner, parameters, reclaimPolicy: 'Delete' } });

const request = (name: string, dtc: string, meta: Partial<ObjectMeta> = {}, tierName = 'appstudio-env'): SpaceRequest =>
  object(SpaceRequest, name, { spec: { tierName } }, { labels: { 'appstudio.openshift.io/dtc': dtc }, ...meta });

const plan = (it: DeploymentTargetClaim, ...others: KubeObject[]): string[] =>
  shown(planIn([it, ...others], (view) => planRequest(view, it)));

describe('a pending claim', () => {
  test('gets one space request, with a name that depends on the claim alone', () => {
    const it = claim();
    const { steps } = planIn([it, ofClass()], (view) => planRequest(view, it));
    expect(steps).toMatchObject([
      {
        do: 'make',
        object: {
          metadata: {
            name: expect.stringMatching(/^staging-[0-9a-f]{5}$/),
            namespace: 'team',
            labels: { 'appstudio.openshift.io/dtc': 'staging' },
            annotations: { 'offshoot.dev/class': 'sandbox', 'dt.appstudio.redhat.com/reclaim-policy': 'Delete' },
          },
          spec: { tierName: 'appstudio-env', targetClusterRoles: [] },
        },
      },
    ]);
    expect(plan(it, ofClass())).toEqual(plan(it, ofClass()));
    expect(plan(it, ofClass())).not.toEqual(plan(claim('staging', { meta: { uid: 'another' } }), ofClass()));
  });

  const one = [expect.stringMatching(/^make SpaceRequest team\/staging-/)];
  test.each([
    ['that is marked with the name of its class', claim('staging', { mark: 'sandbox' }), [], one],
    ['whose named target does not exist', claim('staging', { targetName: 'random-dt' }), [], one],
    ['that has a request already', claim(), [request('other', 'staging')], []],
    ['that has a request of another tier', claim(), [request('other', 'staging', {}, 'base')], one],
    [
      'that has a request of an earlier claim of its name',
      claim(),
      [request('other', 'staging', { annotations: { 'dt.appstudio.redhat.com/claim-uid': 'before' } })],
      one,
    ],
    [
      'whose named target exists',
      claim('staging', { targetName: 'mine' }),
      [object(DeploymentTarget, 'mine', { spec: { kubernetesCredentials: {} } })],
      [],
    ],
    ['that is marked for another provisioner', claim('staging', { mark: 'other' }), [], []],
    ['that is bound', claim('staging', { phase: 'Bound' }), [], []],
    ['that is lost', claim('staging', { phase: 'Lost' }), [], []],
    ['that is being deleted', claim('staging', { meta: { deletionTimestamp: ago(1) } }), [], []],
    [
      'in a namespace that is being deleted',
      claim(),
      [object(Namespace, 'team', {}, { deletionTimestamp: ago(1) })],
      [],
    ],
  ] as const)('%s gets a space request if it needs one', (_what, it, others, expected) => {
    expect(plan(it, ofClass(), ...others)).toEqual(expected);
  });

  test('is ignored if its class has another provisioner', () => {
    expect(plan(claim(), ofClass({}, ''))).toEqual([]);
  });
});

describe('a claim', () => {
  const progressFor = (it: DeploymentTargetClaim, ...others: KubeObject[]) =>
    planIn([it, ...others], (view) => progressOf(view, it, defaultSettings));

  test.each([
    [
      'its name does not fit into a label',
      claim('x'.repeat(64)),
      [ofClass()],
      'NameTooLong',
      'the name of the claim has 64 characters: use at most 63, so that it fits into labels',
    ],
    [
      'another target has the name of its target',
      claim(),
      [ofClass(), object(DeploymentTarget, 'staging-dt', { spec: { kubernetesCredentials: {} } })],
      'TargetNameTaken',
      'DeploymentTarget staging-dt exists already and is not for this claim: delete it, or set its claimRef to the claim',
    ],
    [
      'its class has invalid parameters',
      claim(),
      [ofClass({ maxTotal: 'three', provisioningDeadline: 'soon' })],
      'InvalidParameters',
      'DeploymentTargetClass sandbox: parameters.maxTotal must be a whole number of at least 0, not "three"; parameters.provisioningDeadline must be a duration of at least 1s, such as 12h or 7d, not "soon"',
    ],
    [
      'the quota of the namespace is used up',
      claim(),
      [ofClass({ maxPerNamespace: 1 }), claim('other', { phase: 'Bound' })],
      'QuotaExceeded',
      'DeploymentTargetClass sandbox allows no more claims: 1 of 1 in namespace team are taken; delete one, or wait',
    ],
    [
      'the total quota is used up',
      claim(),
      [ofClass({ maxTotal: 1 }), claim('other', { phase: 'Bound', meta: { namespace: 'elsewhere' } })],
      'QuotaExceeded',
      'DeploymentTargetClass sandbox allows no more claims: 1 of 1 are taken; delete one, or wait',
    ],
    [
      'older claims wait for the quota too',
      claim(),
      [ofClass({ maxTotal: 1 }), claim('other', { phase: 'Bound' }), claim('a'), claim('b'), claim('z')],
      'QuotaExceeded',
      'DeploymentTargetClass sandbox allows no more claims: 1 of 1 are taken, and 2 older claims wait; delete one, or wait',
    ],
    [
      'an older claim waits for the last of the quota',
      claim(),
      [ofClass({ maxPerNamespace: 1 }), claim('a')],
      'QuotaExceeded',
      'DeploymentTargetClass sandbox allows no more claims: 0 of 1 in namespace team are taken, and 1 older claim waits; delete one, or wait',
    ],
  ] as const)('reports that no request can be made: %s', (_what, it, others, reason, message) => {
    expect(plan(it, ...others)).toEqual([]);
    const { conditions, events, problem } = progressFor(it, ...others);
    expect(conditions).toEqual([{ type: 'Provisioned', status: 'False', reason, message }]);
    expect(events).toEqual([{ type: 'Warning', reason, note: message }]);
    expect(problem).toEqual({ reason: conditions[0]?.reason, message });
  });

  test('reports the message of a failed request', () => {
    const failing = {
      ...request('staging-12345', 'staging'),
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'UnableToProvision', message: 'no room' }] },
    };
    const { conditions, events, problem } = progressFor(claim(), ofClass(), failing);
    const message = 'SpaceRequest staging-12345: no room';
    expect(conditions).toEqual([{ type: 'Provisioned', status: 'False', reason: 'UnableToProvision', message }]);
    expect(events).toEqual([{ type: 'Warning', reason: 'UnableToProvision', note: message }]);
    expect(problem).toEqual({ reason: conditions[0]?.reason, message });
  });

  test('reports no problem before the deadline while the request is in progress', () => {
    const since = (seconds: number) => ({
      ...request('staging-12345', 'staging', { creationTimestamp: ago(seconds) }),
      status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Provisioning' }] },
    });
    const early = progressFor(claim(), ofClass({ provisioningDeadline: '2m' }), since(90));
    expect(early.conditions).toMatchObject([{ type: 'Provisioned', status: 'False', reason: 'Provisioning' }]);
    expect([early.problem, early.events, early.lookAgainMs]).toEqual([undefined, [], 30_000]);
    const late = progressFor(claim(), ofClass({ provisioningDeadline: '2m' }), since(120));
    expect(late.problem?.message).toBe(
      'appstudio.redhat.com/devsandbox did not create a target in time; SpaceRequest staging-12345',
    );
    expect(late.conditions).toMatchObject([{ reason: 'DeadlineExceeded' }]);
  });

  test('reports the same problem in only one Event', () => {
    const quota = [ofClass({ maxTotal: 0 })];
    const first = claim();
    const progress = progressFor(first, ...quota);
    const second = {
      ...first,
      status: { phase: 'Pending', conditions: [{ ...progress.conditions[0]!, lastTransitionTime: ago(0) }] },
    };
    expect(progressFor(second, ...quota).events).toEqual([]);
  });
});

test('only the oldest of the claims that wait for quota gets a request', () => {
  const claims = [3, 1, 2].map((age) => claim(`c${age}`, { meta: { creationTimestamp: ago(age) } }));
  const quota = ofClass({ maxPerNamespace: 1 });
  const served = claims.filter((it) => plan(it, quota, ...claims).length > 0);
  expect(served.map(({ metadata }) => metadata.name)).toEqual(['c3']);
  const holder = claims.map((it) => plan(it, quota, ...claims, request('r', 'c1')));
  expect(holder).toEqual([[], [], []]);
});
