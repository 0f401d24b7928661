// The conditions of a claim and their times.
import { timestamp } from '../../kube/times.ts';
import { describe, expect, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, conditionOf, dt, dtc, running } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineKind } from '../../kube/index.ts';
import type { KubeObject } from '../../kube/index.ts';
import { TARGET_FINALIZER } from '../names.ts';

const Event = defineKind('events.k8s.io/v1', 'Event', 'events');

describe('the conditions of a claim', () => {
  test('begin with ErrorOccurred, which has a message even when that is empty', async () => {
    const w = await bound();
    const success = { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' };
    for (const object of [dtc(w), dt(w)]) expect(object?.status?.conditions?.[0]).toMatchObject(success);
  });

  test('have the time of the last change: of anything for ErrorOccurred, of the status alone for Ready', async () => {
    const w = await running().have(claim('test-dtc', { deploymentTargetClassName: 'abc' }));
    await w.settle();
    const begun = w.clock.now();
    await w.clock.advance(60_000);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { deploymentTargetClassName: 'xyz' } });
    await w.settle();
    expect(errorOf(dtc(w))).toContain('DeploymentTargetClass xyz');
    expect(conditionOf(w, 'ErrorOccurred')?.lastTransitionTime).toBe(timestamp(begun + 60_000));
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'False', lastTransitionTime: timestamp(begun) });
    expect(conditionOf(w, 'Ready')?.message).toContain('DeploymentTargetClass xyz');
  });

  test('come before the conditions of others, which are kept', async () => {
    const theirs = {
      type: 'Approved',
      status: 'True',
      reason: 'ByHand',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const w = await running().have(
      targetClass('Retain'),
      { ...target(), status: { conditions: [theirs] } },
      { ...claim(), status: { conditions: [theirs] } },
    );
    await w.settle();
    for (const each of [dtc(w), dt(w)]) {
      expect(each?.status?.phase).toBe('Bound');
      expect(each?.status?.conditions?.[0]?.type).toBe('ErrorOccurred');
      expect(each?.status?.conditions?.at(-1)).toEqual(theirs);
    }
  });

  test('warn if a claim and a target name each other and their classes differ', async () => {
    const w = await running().have(
      target('test-dt', { claimRef: 'test-dtc', deploymentTargetClassName: 'other' }),
      claim('test-dtc', { targetName: 'test-dt' }),
    );
    await w.settle();
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'False', reason: 'SecretNotFound' });
    const metadata = { name: 'test-secret', namespace: dtc(w)!.metadata.namespace! };
    await w.have({ apiVersion: 'v1', kind: 'Secret', metadata });
    await w.settle();
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'True', reason: 'Bound' });
    expect(conditionOf(w, 'ClassMatches')).toMatchObject({
      status: 'False',
      reason: 'ClassDiffers',
      message:
        'the claim asks for class "test-sandbox-class", and DeploymentTarget test-dt is of class "other": the claim keeps it',
    });
  });

  test('warn if the class of a bound claim is changed, which keeps its target', async () => {
    const w = await bound();
    expect(conditionOf(w, 'ClassMatches')).toBeUndefined();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { deploymentTargetClassName: 'later' } });
    await w.settle();
    expect([dtc(w)?.status?.phase, conditionOf(w, 'ClassMatches')?.reason]).toEqual(['Bound', 'ClassDiffers']);
  });

  test('say that a claim cannot be used while its target is being deleted; it stays Bound', async () => {
    const w = await bound();
    await w.patch(DeploymentTarget, 'test-dt', { metadata: { finalizers: [TARGET_FINALIZER, 'somebody/else'] } });
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
    expect(conditionOf(w, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'TargetDeleting',
      message: 'DeploymentTarget test-dt is being deleted',
    });
    await w.patch(DeploymentTarget, 'test-dt', { metadata: { finalizers: null } });
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
  });

  test('say ClaimMisbound for a claim whose target refers to another claim', async () => {
    const w = await bound();
    await w.have(claim('other', { targetName: 'test-dt' }));
    await w.patch(DeploymentTarget, 'test-dt', {
      metadata: { annotations: { 'dt.appstudio.redhat.com/claim-uid': null } },
      spec: { claimRef: 'other' },
    });
    await w.settle();
    expect(dtc(w, 'other')?.status?.phase).toBe('Bound');
    expect([dtc(w)?.status?.phase, conditionOf(w, 'Ready')?.reason]).toEqual(['Lost', 'ClaimMisbound']);
  });

  test('report an invalid selector, by which no target is bound', async () => {
    const annotations = { 'dt.appstudio.redhat.com/selector': 'a in (' };
    const w = await running().have(targetClass('Retain'), target(), claim('test-dtc', {}, { annotations }));
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Pending', 'Available']);
    expect(errorOf(dtc(w))).toContain('annotation dt.appstudio.redhat.com/selector: invalid label selector "a in ("');
  });

  test.each<[reason: string, world: (w: ClaimWorld) => Promise<ClaimWorld>, isError: boolean]>([
    ['ClassNotFound', (w) => w.have(claim()), true],
    ['TargetNotFound', (w) => w.have(claim('test-dtc', { targetName: 'later' })), false],
    [
      'TargetClaimed',
      (w) => w.have(target('test-dt', { claimRef: 'x' }), claim('test-dtc', { targetName: 'test-dt' })),
      true,
    ],
    [
      'TargetMismatch',
      (w) =>
        w.have(target('test-dt', { deploymentTargetClassName: 'x' }), claim('test-dtc', { targetName: 'test-dt' })),
      true,
    ],
    ['QuotaExceeded', (w) => w.have(targetClass('Delete', undefined, undefined, { maxTotal: 0 }), claim()), true],
  ])('give the reason why a claim waits, and so does an Event: %s', async (reason, world, isError) => {
    const w = await world(running());
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Pending');
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'False', reason });
    expect(errorOf(dtc(w)) !== '').toBe(isError);
    const events = [...w.api.all(Event).values()].filter(
      (each) => (each['regarding'] as KubeObject).kind === 'DeploymentTargetClaim',
    );
    expect(events.map((each) => `${String(each['type'])} ${String(each['reason'])}`)).toEqual([
      'Normal Pending',
      `${isError ? 'Warning' : 'Normal'} ${reason}`,
    ]);
  });

  test('say why a claim that is being deleted still waits for its target', async () => {
    const w = await bound('Delete');
    await w.patch(DeploymentTarget, 'test-dt', {
      metadata: {
        annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': 'appstudio.redhat.com/devsandbox' },
      },
    });
    const stuck = [{ type: 'Ready', status: 'False', reason: 'UnableToTerminate', message: 'the space stays' }];
    const meta = { finalizers: ['finalizer.toolchain.dev.openshift.com'] };
    const request = spaceRequest('sr', { 'appstudio.openshift.io/dt': 'test-dt' }, meta);
    await w.have({ ...request, status: { conditions: stuck } });
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Bound');
    expect(conditionOf(w, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Terminating',
      message:
        'waiting for DeploymentTarget test-dt to be deleted: waiting for SpaceRequest sr to be deleted: the space stays',
    });
    await w.patch(SpaceRequest, 'sr', { metadata: { finalizers: null } });
    await w.settle();
    expect([dtc(w), dt(w)]).toEqual([undefined, undefined]);
  });
});
