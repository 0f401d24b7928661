// Somebody clears the reference of a target that is bound: the uid on it still tells whose it is.
import { describe, expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, dt, dtc, phases, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { CLAIM_UID } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';

const clear = (w: ClaimWorld, name = 'test-dt') => w.patch(DeploymentTarget, name, { spec: { claimRef: '' } });

async function force(w: ClaimWorld): Promise<void> {
  await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
}

test.each([
  ['the name in the claim stays', {}],
  ['the name in the claim is cleared too', { targetName: '' }],
])('it is written again while the claim is there, and %s', async (_what, spec) => {
  const w = await bound();
  await w.stop();
  await clear(w);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { spec });
  await w.settle();
  expect(phases(w)).toEqual(['Bound', 'Bound']);
  expect([dt(w)?.spec.claimRef, dtc(w)?.spec.targetName]).toEqual(['test-dtc', 'test-dt']);
});

test('a target is let go where its claim names another one by now', async () => {
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

describe.each([
  ['the controllers run', async () => {}],
  ['the controllers are down', (w: ClaimWorld) => w.stop()],
])('and deletes the claim, while %s', (_when, before) => {
  /** A claim with a namespace of the cluster for a place. */
  async function placed(policy: 'Delete' | 'Retain'): Promise<ClaimWorld> {
    const w = await runningWithoutSpaces().have(targetClass(policy, 'room', 'offshoot.dev/namespace'));
    await w.have(claim('test-dtc', { deploymentTargetClassName: 'room' }));
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Bound');
    return w;
  }
  const left = (w: ClaimWorld) => [DeploymentTarget, Namespace, Secret].map((kind) => w.api.all(kind).size);

  test.each([
    ['in order', (w: ClaimWorld) => w.delete(DeploymentTargetClaim, 'test-dtc')],
    ['by force', force],
  ])('Delete is carried out: target, namespace and credentials go (%s)', async (_how, end) => {
    const w = await placed('Delete');
    await before(w);
    await clear(w, 'test-dtc-dt');
    await end(w);
    await w.settle();
    expect([dtc(w), left(w)]).toEqual([undefined, [0, 0, 0]]);
  });

  test('Retain is carried out: the target is released and keeps no trace of the claim', async () => {
    const w = await placed('Retain');
    await before(w);
    await clear(w, 'test-dtc-dt');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    const { status, metadata } = dt(w, 'test-dtc-dt')!;
    expect([dtc(w), status?.phase, metadata.annotations?.[CLAIM_UID], left(w)]).toEqual([
      undefined,
      'Released',
      undefined,
      [1, 1, 1],
    ]);
  });
});
