// The claimRef of a bound target is changed by hand to another claim, where no webhook refuses it: nothing is reclaimed
// while the claim of the target exists.
import { describe, expect, test } from 'vitest';
import { claim } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { boundToNamespace, conditionOf, dt, dtc, objectsLeft } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { CLAIM_UID } from '../names.ts';

const TARGET = 'test-dtc-dt';
const refer = (w: ClaimWorld, claimRef: string) => w.patch(DeploymentTarget, TARGET, { spec: { claimRef } });
const readyOf = (w: ClaimWorld) => dt(w, TARGET)?.status?.conditions?.find(({ type }) => type === 'Ready');

describe.each(['Delete', 'Retain'] as const)('with the policy %s', (policy) => {
  test.each([
    ['a claim that does not exist', async () => {}],
    ['another claim', (w: ClaimWorld) => w.have(claim('other', { deploymentTargetClassName: '' }))],
  ])('a target that refers to %s is kept with its namespace, and says what to do', async (_what, before) => {
    const w = await boundToNamespace(policy);
    await before(w);
    const { uid } = dtc(w)!.metadata;
    await refer(w, 'other');
    await w.settle();
    const { status, metadata } = dt(w, TARGET)!;
    expect([status?.phase, metadata.deletionTimestamp, metadata.annotations?.[CLAIM_UID]]).toEqual([
      'Bound',
      undefined,
      uid,
    ]);
    expect(objectsLeft(w)).toEqual([1, 1, 1]);
    expect(readyOf(w)).toMatchObject({
      status: 'False',
      reason: 'ClaimMisbound',
      message:
        'spec.claimRef is "other", but the target is bound to DeploymentTargetClaim test-dtc, which exists: set spec.claimRef to "test-dtc", or delete that claim to release the target',
    });
    expect([dtc(w)?.status?.phase, conditionOf(w, 'Ready')?.reason]).toEqual(['Lost', 'ClaimMisbound']);
  });

  test('both are bound again when the claimRef is set back', async () => {
    const w = await boundToNamespace(policy);
    await refer(w, 'other');
    await w.settle();
    await refer(w, 'test-dtc');
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w, TARGET)?.status?.phase]).toEqual(['Bound', 'Bound']);
    expect([conditionOf(w, 'Ready')?.status, readyOf(w)?.status]).toEqual(['True', 'True']);
  });
});

test('the target is reclaimed when its claim is gone', async () => {
  const w = await boundToNamespace('Delete');
  await refer(w, 'other');
  await w.settle();
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dtc(w), objectsLeft(w)]).toEqual([undefined, [0, 0, 0]]);
});
