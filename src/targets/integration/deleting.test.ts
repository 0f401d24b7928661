// The deletion of claims and targets, in every state that they may be in.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { dt, dtc, phases, running } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import * as names from '../names.ts';

const { DEVSANDBOX, PROVISIONED_BY } = names;

describe('deleting', () => {
  test('adds no finalizer to an object that is being deleted', async () => {
    const finalizer = { finalizers: ['somebody/else'] };
    const w = await running().have(
      targetClass('Delete'),
      target('test-dt', {}, finalizer),
      claim('test-dtc', {}, finalizer),
    );
    await w.delete(DeploymentTarget, 'test-dt');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    for (const each of [dtc(w), dt(w)]) expect(each?.metadata.finalizers).toEqual(['somebody/else']);
  });

  test('with Delete keeps the claimRef, by which the space request is found', async () => {
    const annotations = { [PROVISIONED_BY]: DEVSANDBOX };
    const w = await running().have(targetClass('Delete'), target('test-dt', {}, { annotations }), claim());
    await w.have(spaceRequest('sr', { 'appstudio.openshift.io/dtc': 'test-dtc' }));
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect([dt(w)?.spec.claimRef, dt(w)?.status?.phase]).toEqual(['test-dtc', 'Bound']);
    expect(w.get(SpaceRequest, 'sr')?.metadata.deletionTimestamp).toBeDefined();
  });

  test.each([
    ['is not Failed after two minutes', 120_000, 'Available'],
    ['is Failed after more than two minutes', 121_000, 'Failed'],
  ])('a target with a stuck space request: it %s', async (_when, ms, phase) => {
    const annotations = { [PROVISIONED_BY]: DEVSANDBOX };
    const w = await running().have(targetClass('Delete'), target('test-dt', {}, { annotations }));
    const conditions = [{ type: 'Ready', status: 'False', reason: 'UnableToTerminate' }];
    await w.have({ ...spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }), status: { conditions } });
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    const since = Date.parse(w.get(SpaceRequest, 'sr')!.metadata.deletionTimestamp!);
    w.clock.setWall(new Date(since + ms - w.clock.monotonic()).toISOString());
    await w.patch(SpaceRequest, 'sr', { metadata: { labels: { touched: 'true' } } });
    await w.settle();
    expect(dt(w)?.status?.phase).toBe(phase);
  });

  test('leaves a space request of another tier alone, even if it has the label', async () => {
    const annotations = { [PROVISIONED_BY]: DEVSANDBOX };
    const w = await running().have(targetClass('Delete'), target('test-dt', {}, { annotations }));
    const foreign = spaceRequest('foreign', { 'appstudio.openshift.io/dt': 'test-dt' });
    await w.have({ ...foreign, spec: { tierName: 'gold' } } as SpaceRequest);
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect([dt(w), w.get(SpaceRequest, 'foreign')?.metadata.deletionTimestamp]).toEqual([undefined, undefined]);
  });

  test.each([
    ['not yet reconciled', async () => {}],
    ['pending', async (w: ClaimWorld) => void (await w.settle())],
    [
      'lost',
      async (w: ClaimWorld) => {
        await w.have(target('test-dt', { claimRef: 'test-dtc' }));
        await w.settle();
        await w.delete(DeploymentTarget, 'test-dt');
        await w.settle();
        expect(dtc(w)?.status?.phase).toBe('Lost');
      },
    ],
    [
      'contested',
      async (w: ClaimWorld) => {
        await w.have(claim('other'), target('test-dt', { claimRef: 'other' }));
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'test-dt' } });
        await w.settle();
        expect(errorOf(dtc(w))).toContain('already claimed');
      },
    ],
  ])('works for a claim that is %s', async (_what, before) => {
    const w = await running().have(targetClass('Delete'), claim());
    await before(w);
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect(dt(w)?.metadata.deletionTimestamp).toBeUndefined();
  });

  test.each([
    ['Delete', 'Retain', true],
    ['Retain', 'Delete', false],
  ] as const)(
    'uses the policy of the class of the claim (%s), not that of the target (%s)',
    async (ofClaim, ofTarget, isGone) => {
      const annotations = { [PROVISIONED_BY]: DEVSANDBOX };
      const w = await running().have(
        targetClass(ofClaim),
        targetClass(ofTarget, 'other'),
        target('test-dt', { claimRef: 'test-dtc', deploymentTargetClassName: 'other' }, { annotations }),
        spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }),
        claim('test-dtc', { targetName: 'test-dt' }),
      );
      await w.settle();
      expect(phases(w)).toEqual(['Bound', 'Bound']);
      await w.delete(DeploymentTargetClaim, 'test-dtc');
      await w.settle();
      expect(w.get(SpaceRequest, 'sr')?.metadata.deletionTimestamp !== undefined).toBe(isGone);
      expect([dtc(w) === undefined, dt(w)?.metadata.deletionTimestamp !== undefined]).toEqual([!isGone, isGone]);
    },
  );

  test('all claims and targets at once works', async () => {
    const w = await running().have(
      targetClass('Delete'),
      target(),
      claim(),
      claim('waits'),
      target('free-dt', { claimRef: 'x' }),
    );
    await w.settle();
    for (const name of ['test-dtc', 'waits']) await w.delete(DeploymentTargetClaim, name);
    for (const name of ['test-dt', 'free-dt']) if (dt(w, name)) await w.delete(DeploymentTarget, name);
    await w.settle();
    expect([w.api.all(DeploymentTargetClaim).size, w.api.all(DeploymentTarget).size]).toEqual([0, 0]);
  });
});
