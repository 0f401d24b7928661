import { describe, expect, onTestFinished, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import { defineKind } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import {
  CLAIM_FINALIZER,
  MAKE_AVAILABLE,
  PROVISIONED_BY,
  RECLAIM_POLICY,
  TARGET_FINALIZER,
  TOOLCHAIN_FINALIZER,
} from '../names.ts';
import { targets } from '../index.ts';
import { running } from '../../../test/support/running-claims.ts';

const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
const dt = (w: ClaimWorld) => w.get(DeploymentTarget, 'test-dt');
const sr = (w: ClaimWorld) => w.get(SpaceRequest, 'sr');
const SANDBOX = { [PROVISIONED_BY]: 'appstudio.redhat.com/devsandbox' };
const stuck = { conditions: [{ type: 'Ready', status: 'True', reason: 'UnableToTerminate' }] };

/** A target that is being deleted, with its space request. */
async function deletedTarget(policy: 'Delete' | 'Retain', status?: unknown): Promise<ClaimWorld> {
  const w = await running().have(targetClass(policy), target('test-dt', {}, { annotations: SANDBOX }));
  await w.have({ ...spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }), status });
  await w.settle();
  await w.delete(DeploymentTarget, 'test-dt');
  await w.settle();
  return w;
}

describe('a target', () => {
  test('gets its finalizer, its phase, and the reclaim policy of its class', async () => {
    const w = await running().have(targetClass('Delete'), target());
    await w.settle();
    expect(dt(w)?.metadata.finalizers).toEqual([TARGET_FINALIZER]);
    expect(dt(w)?.metadata.annotations).toEqual({ [RECLAIM_POLICY]: 'Delete' });
    expect([dt(w)?.status?.phase, errorOf(dt(w))]).toEqual(['Available', '']);
  });

  test('whose class does not exist becomes Available without an error', async () => {
    const w = await running().have(target());
    await w.settle();
    expect([dt(w)?.status?.phase, errorOf(dt(w))]).toEqual(['Available', '']);
  });

  test('that is reserved for a claim which does not exist yet keeps the reservation', async () => {
    const w = await running().have(targetClass('Retain'), target('test-dt', { claimRef: 'future' }));
    await w.settle();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Available', 'future']);
  });

  test('is released when its claim is gone without its finalizer', async () => {
    const w = await running().have(targetClass('Retain'), {
      ...target('test-dt', { claimRef: 'gone' }),
      status: { phase: 'Bound' },
    });
    await w.settle();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Released', '']);
  });

  test('emits an Event for each new phase, whichever controller set it', async () => {
    const w = await running().have(targetClass('Retain'), target());
    await w.settle();
    await w.have(claim());
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    const about = [...w.api.all(Event).values()].filter(
      (each) => (each['regarding'] as KubeObject).kind === 'DeploymentTarget',
    );
    expect(about.map((each) => each['reason'])).toEqual(['Available', 'SecretNotFound', 'Bound', 'Released']);
  });

  test('that was made for a claim is deleted when the claim is gone and the class says Delete', async () => {
    const w = await running().have(targetClass('Delete'), {
      ...target('test-dt', { claimRef: 'gone' }, { annotations: SANDBOX }),
      status: { phase: 'Bound' },
    });
    await w.settle();
    expect(dt(w)).toBeUndefined();
  });

  test('that is released can be made available again by hand', async () => {
    const w = await running().have(targetClass('Retain'), { ...target(), status: { phase: 'Released' } }, claim());
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Released');
    await w.patch(DeploymentTarget, 'test-dt', { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
    await w.settle();
    expect(dt(w)?.metadata.annotations).not.toHaveProperty(MAKE_AVAILABLE);
    expect(dt(w)?.status?.phase).toBe('Available');
  });

  test('that is made available while its claim is being deleted becomes Available once that is gone', async () => {
    const slow = running({}, ['reclaimer']);
    await slow.have(
      targetClass('Retain'),
      claim('test-dtc', {}, { finalizers: [CLAIM_FINALIZER, 'example.com/hold'] }),
    );
    await slow.delete(DeploymentTargetClaim, 'test-dtc');
    const asked = target('test-dt', { claimRef: 'test-dtc' }, { annotations: { [MAKE_AVAILABLE]: 'true' } });
    await slow.have({ ...asked, status: { phase: 'Released' } });
    await slow.settle();
    expect(dt(slow)?.metadata.annotations).toHaveProperty(MAKE_AVAILABLE);
    expect(dt(slow)?.status?.phase).toBe('Released');
    await slow.stop();

    const w = slow.with(targets().filter(({ name }) => ['binder', 'reclaimer'].includes(name)));
    onTestFinished(() => w.stop());
    await w.settle();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Available', '']);
    expect(dt(w)?.metadata.annotations).not.toHaveProperty(MAKE_AVAILABLE);
  });

  test('is made available in the end when the process stops before the status is written', async () => {
    const w = await running().have(targetClass('Retain'), { ...target(), status: { phase: 'Released' } });
    await w.settle();
    w.api.intercept = ({ subresource }) => {
      if (subresource === 'status') throw new Error('the process has ended');
    };
    await w.patch(DeploymentTarget, 'test-dt', { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Released');
    await w.stop();
    w.api.intercept = () => {};
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Available');
    expect(dt(w)?.metadata.annotations).not.toHaveProperty(MAKE_AVAILABLE);
  });

  test('that is released and gets a new claimRef by hand is left to that claim', async () => {
    const handed = { ...target('test-dt', { claimRef: 'test-dtc' }), status: { phase: 'Released' } };
    const w = await running().have(targetClass('Retain'), handed, claim('test-dtc', { targetName: 'test-dt' }));
    await w.settle();
    expect(dt(w)?.spec.claimRef).toBe('test-dtc');
  });
});

describe('deleting a target', () => {
  test('waits for its space request, becomes Failed when that is stuck for two minutes, and still waits', async () => {
    const w = await deletedTarget('Delete', stuck);
    expect(sr(w)?.metadata).toMatchObject({
      finalizers: [TOOLCHAIN_FINALIZER],
      deletionTimestamp: expect.anything() as string,
    });
    expect(dt(w)?.status?.phase).toBe('Available');
    await w.clock.advance(110_000);
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Available');
    await w.clock.advance(60_000);
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Failed');
    await w.patch(SpaceRequest, 'sr', { metadata: { finalizers: [] } });
    await w.settle();
    expect(dt(w)).toBeUndefined();
  });

  test('deletes a space request that has no status', async () => {
    const w = await deletedTarget('Delete');
    expect(sr(w)?.metadata.deletionTimestamp).toBeDefined();
  });

  test('with Retain finishes at once and keeps the space request', async () => {
    const w = await deletedTarget('Retain');
    expect([dt(w), sr(w)?.metadata.deletionTimestamp]).toEqual([undefined, undefined]);
    expect(sr(w)).toBeDefined();
  });

  test('without a space request finishes at once', async () => {
    const w = await running().have(targetClass('Delete'), target());
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dt(w)).toBeUndefined();
  });

  test('works without the class: its policy is recorded on the target', async () => {
    const w = await running().have(targetClass('Delete'), target('test-dt', {}, { annotations: SANDBOX }));
    await w.have(spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }));
    await w.settle();
    await w.delete(DeploymentTargetClass, 'test-sandbox-class');
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(sr(w)?.metadata.deletionTimestamp).toBeDefined();
  });

  test('that was created by hand without a class finishes at once', async () => {
    const w = await running().have(target('test-dt', { deploymentTargetClassName: '' }));
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dt(w)).toBeUndefined();
  });

  test('of another provisioner does not wait for a space request with its label', async () => {
    const annotations = { [PROVISIONED_BY]: 'example.com/clusters' };
    const w = await running().have(targetClass('Delete'), target('test-dt', {}, { annotations }));
    await w.have(spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }));
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect([dt(w), sr(w)?.metadata.deletionTimestamp]).toEqual([undefined, undefined]);
  });
});
