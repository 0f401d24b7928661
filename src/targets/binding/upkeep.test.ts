// The checks of a claim that is or was bound: for each check a world in which it decides, and its verdict.
import { expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { Secret } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { boundClaim, decide, upkeepChecks } from './upkeep.ts';
import type { UpkeepCheck } from './upkeep.ts';

const CLAIM_UID = 'dt.appstudio.redhat.com/claim-uid';
const PROVISIONER = 'provisioner.appstudio.redhat.com/dt-provisioner';
const COMPLETE = { 'dt.appstudio.redhat.com/bind-complete': 'true' };
const LOCKED = { annotations: { [CLAIM_UID]: 'uid-of-claim' } };

const claim = (spec: object = {}, phase = 'Bound', annotations: Record<string, string> = {}): DeploymentTargetClaim =>
  object(
    DeploymentTargetClaim,
    'claim',
    { spec: { deploymentTargetClassName: 'local', targetName: 'dt', ...spec }, status: { phase } },
    { annotations: { ...COMPLETE, ...annotations } },
  );
const target = (
  claimRef: string,
  { phase = 'Bound', name = 'dt', ...meta }: Partial<ObjectMeta> & { phase?: string } = {},
): DeploymentTarget =>
  object(
    DeploymentTarget,
    name,
    {
      spec: {
        deploymentTargetClassName: 'local',
        kubernetesCredentials: { defaultNamespace: 'x', apiURL: 'https://x', clusterCredentialsSecret: 'x' },
        claimRef,
      },
      status: { phase },
    },
    meta,
  );
const ofClass = object(DeploymentTargetClass, 'local', { spec: { provisioner: 'someone', reclaimPolicy: 'Delete' } });
const unnamed = { targetName: '' };

interface World {
  readonly decides: UpkeepCheck;
  readonly where: string;
  readonly it?: DeploymentTargetClaim;
  readonly others: readonly KubeObject[];
  readonly settings?: Partial<Settings>;
  readonly phase: string | undefined;
  readonly reason?: string;
  readonly steps?: readonly string[];
}

const worlds: readonly World[] = [
  {
    decides: 'severalTargetsReferToIt',
    where: 'a claim names no target and two refer to it',
    it: claim(unnamed),
    others: [target('claim'), target('claim', { name: 'second' })],
    phase: undefined,
    reason: 'SeveralTargets',
  },
  { decides: 'targetIsGone', where: 'no target has the name', others: [], phase: 'Lost', reason: 'Lost' },
  {
    decides: 'targetBelongsToAnother',
    where: 'the target refers to another claim',
    others: [target('other')],
    phase: 'Lost',
    reason: 'ClaimMisbound',
  },
  {
    decides: 'boundToAnotherTarget',
    where: 'the claim was changed to name a second target',
    others: [target('', { phase: 'Available' }), target('claim', { name: 'first', ...LOCKED })],
    phase: 'Lost',
    reason: 'ClaimMisbound',
  },
  {
    decides: 'lostTargetIsNotItsOwn',
    where: 'a target of the same name was recreated and refers to no claim',
    it: claim({}, 'Lost'),
    others: [target('', { phase: 'Available' })],
    phase: 'Lost',
    reason: 'Lost',
  },
  {
    decides: 'targetIsNotLocked',
    where: 'a target of the same name was recreated and the name is enough',
    it: claim({}, 'Lost'),
    others: [target('', { phase: 'Available' })],
    settings: { lostHeals: 'name' },
    phase: undefined,
    steps: [
      'edit DeploymentTarget team/dt {"metadata":{"annotations":{"dt.appstudio.redhat.com/claim-uid":"uid-of-claim"}},"spec":{"claimRef":"claim"}}',
    ],
  },
  {
    decides: 'targetCannotBeUsed',
    where: 'the target is being deleted',
    others: [target('claim', { ...LOCKED, deletionTimestamp: ago(5) })],
    phase: undefined,
    reason: 'TargetDeleting',
  },
  {
    decides: 'targetCannotBeUsed',
    where: 'the target is released',
    others: [target('claim', { ...LOCKED, phase: 'Released' })],
    phase: undefined,
    reason: 'TargetReleased',
  },
  {
    decides: 'annotationComesBeforeTheName',
    where: 'the class has another provisioner, and the targetName of the claim was cleared',
    it: claim(unnamed, 'Bound', { [PROVISIONER]: 'before' }),
    others: [target('claim', LOCKED)],
    phase: undefined,
    steps: [
      'edit DeploymentTargetClaim team/claim {"metadata":{"annotations":{"provisioner.appstudio.redhat.com/dt-provisioner":"someone"}}}',
    ],
  },
  {
    decides: 'targetIsNotLocked',
    where: 'the claimRef of the target was cleared',
    others: [target('', LOCKED)],
    phase: undefined,
    steps: ['edit DeploymentTarget team/dt {"spec":{"claimRef":"claim"}}'],
  },
  {
    decides: 'stillBound',
    where: 'the targetName of the claim was cleared',
    it: claim(unnamed),
    others: [target('claim', LOCKED)],
    phase: 'Bound',
    steps: [
      'edit DeploymentTargetClaim team/claim {"metadata":{"annotations":{"dt.appstudio.redhat.com/bound-by-controller":"true"}},"spec":{"targetName":"dt"}}',
    ],
  },
  {
    decides: 'stillBound',
    where: 'the namespace behind the target is gone',
    others: [
      target('claim', {
        annotations: {
          ...LOCKED.annotations,
          'provisioner.appstudio.redhat.com/provisioned-by': 'offshoot.dev/namespace',
        },
      }),
    ],
    phase: 'Bound',
    reason: 'NamespaceNotFound',
  },
  { decides: 'stillBound', where: 'nothing is wrong', others: [target('claim', LOCKED)], phase: 'Bound' },
];

test.each(worlds)(
  'the check $decides decides when $where',
  ({ decides, it = claim(), others, settings, phase, reason, steps = [] }) => {
    const all = { ...defaultSettings, ...settings };
    const { check, verdict } = planIn([it, ofClass, object(Secret, 'x'), ...others], (view) =>
      decide(boundClaim(view, it, all)),
    );
    expect(check).toBe(decides);
    expect(verdict.phase).toBe(phase);
    expect((verdict.problem ?? verdict.unready)?.reason).toBe(reason);
    expect(shown({ steps: verdict.steps ?? [] })).toEqual(steps);
  },
);

test('each check decides in one of these worlds', () => {
  const inWorlds = new Set(worlds.map(({ decides }) => decides));
  expect([...inWorlds].sort()).toEqual(Object.keys(upkeepChecks).sort());
});
