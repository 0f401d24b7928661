// The claimRef of a bound target is cleared by hand: the uid on the target still identifies its claim.
import { describe, expect, test } from 'vitest';
import { target } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, boundToNamespace, dt, dtc, objectsLeft, phases } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { planClaimDeletion } from '../binding/claim-deletion.ts';
import { BIND_COMPLETE, CLAIM_UID, NAMESPACE_PROVISIONER } from '../names.ts';
import { defaultSettings } from '../settings.ts';
import { ago, object, planIn } from '../testing/planning.ts';

const clear = (w: ClaimWorld, name = 'test-dt') => w.patch(DeploymentTarget, name, { spec: { claimRef: '' } });

async function forceDelete(w: ClaimWorld): Promise<void> {
  await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
}

test.each([
  ['the name in the claim stays', {}],
  ['the name in the claim is cleared too', { targetName: '' }],
])('a cleared claimRef is written again while the claim exists, and %s', async (_what, spec) => {
  const w = await bound();
  await w.stop();
  await clear(w);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec });
  await w.settle();
  expect(phases(w)).toEqual(['Bound', 'Bound']);
  expect([dt(w)?.spec.claimRef, dtc(w)?.spec.targetName]).toEqual(['test-dtc', 'test-dt']);
});

test('a target with a cleared claimRef is released if its claim names another target', async () => {
  const w = await bound();
  await w.have(target('other'));
  await w.stop();
  await clear(w);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'other' } });
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase, dt(w, 'other')?.status?.phase]).toEqual([
    'Bound',
    'Released',
    'Bound',
  ]);
});

test.each(['Delete', 'Retain'] as const)(
  'a target with a cleared claimRef is left alone when another claim that names it is deleted (%s)',
  (reclaimPolicy) => {
    const ofClass = object(DeploymentTargetClass, 'room', {
      spec: { provisioner: NAMESPACE_PROVISIONER, reclaimPolicy },
    });
    const spec = { deploymentTargetClassName: 'room', targetName: 'dev-dt' };
    const held = (uid: string) =>
      object(
        DeploymentTarget,
        'dev-dt',
        { spec: target('', { deploymentTargetClassName: 'room' }).spec, status: { phase: 'Bound' } },
        { annotations: { [CLAIM_UID]: uid } },
      );
    const metadata = { deletionTimestamp: ago(5), annotations: { [BIND_COMPLETE]: 'true' } };
    const other = object(DeploymentTargetClaim, 'other', { spec }, metadata);
    const plan = (of: DeploymentTarget) =>
      planIn([ofClass, of, other], (view) => planClaimDeletion(view, other, defaultSettings));
    expect([plan(held('uid-of-dev')).finished, plan(held('uid-of-other')).finished]).toEqual([true, undefined]);
  },
);

describe.each([
  ['the controllers run', async () => {}],
  ['the controllers are down', (w: ClaimWorld) => w.stop()],
])('deleting a claim with a cleared claimRef, while %s', (_when, before) => {
  test.each([
    ['normally', (w: ClaimWorld) => w.delete(DeploymentTargetClaim, 'test-dtc')],
    ['by force', forceDelete],
  ])('with Delete deletes target, namespace and credentials (%s)', async (_how, end) => {
    const w = await boundToNamespace('Delete');
    await before(w);
    await clear(w, 'test-dtc-dt');
    await end(w);
    await w.settle();
    expect([dtc(w), objectsLeft(w)]).toEqual([undefined, [0, 0, 0]]);
  });

  test('with Retain releases the target and removes the uid of the claim', async () => {
    const w = await boundToNamespace('Retain');
    await before(w);
    await clear(w, 'test-dtc-dt');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    const { status, metadata } = dt(w, 'test-dtc-dt')!;
    expect([dtc(w), status?.phase, metadata.annotations?.[CLAIM_UID], objectsLeft(w)]).toEqual([
      undefined,
      'Released',
      undefined,
      [1, 1, 1],
    ]);
  });
});
