// A claim has one target and a target one claim, even if users change the references.
import { expect, test } from 'vitest';
import { claim, errorOf, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { running } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { BIND_COMPLETE } from '../names.ts';

const dtc = (w: ClaimWorld, name = 'test-dtc') => w.get(DeploymentTargetClaim, name);
const dt = (w: ClaimWorld, name = 'test-dt') => w.get(DeploymentTarget, name);

/** A bound claim, and a free target. */
async function bound(policy: 'Delete' | 'Retain' = 'Delete'): Promise<ClaimWorld> {
  const w = await running().have(targetClass(policy), target(), claim());
  await w.settle();
  await w.have(target('free'));
  await w.settle();
  expect([dtc(w)?.spec.targetName, dt(w, 'free')?.status?.phase]).toEqual(['test-dt', 'Available']);
  return w;
}

test('a bound claim gets its targetName back when it is cleared', async () => {
  const w = await bound();
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: '' } });
  await w.settle();
  expect([dtc(w)?.spec.targetName, dtc(w)?.status?.phase]).toEqual(['test-dt', 'Bound']);
});

test('a bound claim gets its targetName back when another target is reserved for it', async () => {
  const w = await bound();
  await w.patch(DeploymentTarget, 'free', { spec: { claimRef: 'test-dtc' } });
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: '' } });
  await w.settle();
  expect([dtc(w)?.spec.targetName, dt(w, 'free')?.status?.phase]).toEqual(['test-dt', 'Available']);
});

test('a bound claim that is changed to name another target does not get it, and recovers', async () => {
  const w = await bound();
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'free' } });
  await w.settle();
  expect(dtc(w)?.status?.phase).toBe('Lost');
  expect(errorOf(dtc(w))).toContain(
    'names DeploymentTarget free and is bound to test-dt: a claim has one target; set spec.targetName back to test-dt',
  );
  expect([dt(w, 'free')?.status?.phase, dt(w, 'free')?.spec.claimRef ?? '']).toEqual(['Available', '']);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'test-dt' } });
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
});

test('deleting a claim that was changed to name another target deletes its old target', async () => {
  const w = await bound();
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'free' } });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dtc(w), dt(w), dt(w, 'free')?.status?.phase]).toEqual([undefined, undefined, 'Available']);
});

test('deleting a claim that was changed to name another target waits for the release of its old target', async () => {
  const w = await bound('Retain');
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'nowhere' } });
  const order: string[] = [];
  w.api.intercept = ({ verb, kind, subresource = 'spec' }) => {
    if (verb === 'patch' && kind !== 'Event') order.push(`${kind} ${subresource}`);
  };
  await w.settle();
  order.length = 0;
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  expect([dtc(w), dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual([undefined, 'Released', '']);
  expect(order.lastIndexOf('DeploymentTarget spec')).toBeLessThan(order.lastIndexOf('DeploymentTargetClaim spec'));
});

test('a claim whose target is deleted before binding is complete becomes Lost, and is complete once it recovers', async () => {
  const w = await bound();
  await w.stop();
  await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { annotations: { [BIND_COMPLETE]: null } } });
  await w.delete(DeploymentTarget, 'test-dt');
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w)]).toEqual(['Lost', undefined]);
  await w.have(target('test-dt', { claimRef: 'test-dtc' }));
  await w.settle();
  expect([dtc(w)?.status?.phase, dtc(w)?.metadata.annotations?.[BIND_COMPLETE]]).toEqual(['Bound', 'true']);
});
