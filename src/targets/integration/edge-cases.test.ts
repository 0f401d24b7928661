// Edge cases of claims and targets that no other file tests.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, target, targetClass } from '../../../test/support/claims.ts';
import { dt, dtc, phases, running } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineKind } from '../../kube/index.ts';
import * as names from '../names.ts';

const { BIND_COMPLETE, BOUND_AT, BOUND_BY_CONTROLLER, CLAIM_UID, PROVISIONED_BY, PROVISIONER } = names;

const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
const complete = { annotations: { [BIND_COMPLETE]: 'true', [BOUND_BY_CONTROLLER]: 'true' } };

describe('a claim that was bound', () => {
  test('becomes Bound again if its phase was set to Pending', async () => {
    const w = await running().have(
      targetClass('Retain'),
      { ...target('test-dt', { claimRef: 'test-dtc' }), status: { phase: 'Available' } },
      { ...claim('test-dtc', {}, complete), status: { phase: 'Pending' } },
    );
    await w.settle();
    expect(phases(w)).toEqual(['Bound', 'Bound']);
  });

  test('becomes Lost if it has no targetName and all targets belong to other claims', async () => {
    const others = ['a', 'b', 'c'].flatMap((name) => [
      target(`${name}-dt`, { claimRef: name }),
      claim(name, { targetName: `${name}-dt` }),
    ]);
    const w = await running().have(...others, { ...claim('test-dtc', {}, complete), status: { phase: 'Bound' } });
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
    expect(errorOf(dtc(w))).toContain(
      'DeploymentTarget not found for a bounded DeploymentTargetClaim test-dtc in namespace test-ns',
    );
  });

  test('finds its target by its targetName', async () => {
    const there = await running().have(target(), claim('test-dtc', { targetName: 'test-dt' }, complete));
    await there.settle();
    expect(phases(there)).toEqual(['Bound', 'Bound']);
    const missing = await running().have(target(), claim('test-dtc', { targetName: 'missing' }, complete));
    await missing.settle();
    expect(phases(missing)).toEqual(['Lost', 'Available']);
  });

  test('without a targetName finds its target by the claimRef', async () => {
    const w = await running().have(
      target('free'),
      target('test-dt', { claimRef: 'test-dtc' }),
      claim('test-dtc', {}, complete),
    );
    await w.settle();
    expect([...phases(w), dtc(w)?.spec.targetName]).toEqual(['Bound', 'Bound', 'test-dt']);
    expect(dt(w, 'free')?.status?.phase).toBe('Available');
  });

  test('without a targetName reports two targets that refer to it, and keeps its phase', async () => {
    const w = await running().have(
      target('one', { claimRef: 'test-dtc' }),
      target('two', { claimRef: 'test-dtc' }),
      claim('test-dtc', {}, complete),
    );
    await w.settle();
    expect(errorOf(dtc(w))).toBe(
      'failed to process bound DeploymentTargetClaim: failed to get a DeploymentTarget for the given DeploymentTargetClaim test-dtc',
    );
    expect(dtc(w)?.status?.phase).toBeUndefined();
  });

  test('counts as bound if it has the annotation, even with the value "false"', async () => {
    const w = await running().have(
      claim('test-dtc', { targetName: 'gone' }, { annotations: { [BIND_COMPLETE]: 'false' } }),
    );
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
  });

  test('gets the name of its class as annotation when the older annotation is set', async () => {
    const annotations = { [BIND_COMPLETE]: 'true', [PROVISIONER]: "provisioner-doesn't-exist" };
    const w = await running({ provisionerAnnotation: 'class' }).have(
      target('test-dt', { claimRef: 'test-dtc' }),
      claim('test-dtc', {}, { annotations }),
    );
    await w.settle();
    expect([...phases(w), dtc(w)?.metadata.annotations?.[PROVISIONER]]).toEqual([
      'Bound',
      'Bound',
      'test-sandbox-class',
    ]);
  });
});

describe('binding', () => {
  test('sets both annotations if the binder chose the target', async () => {
    const w = await running().have(target(), claim());
    await w.settle();
    const annotations = { [BIND_COMPLETE]: 'true', [BOUND_BY_CONTROLLER]: 'true', [BOUND_AT]: expect.any(String) };
    expect(dtc(w)?.metadata.annotations).toEqual(annotations);
  });

  test('sets one annotation if the claim named the target', async () => {
    const w = await running().have(target(), claim('test-dtc', { targetName: 'test-dt' }));
    await w.settle();
    expect(dtc(w)?.metadata.annotations).toEqual({ [BIND_COMPLETE]: 'true', [BOUND_AT]: expect.any(String) });
  });

  test('writes the claimRef of the target before anything else', async () => {
    const w = await running({}, ['binder']).have(target(), claim());
    await w.settle();
    const order = w.api.writes
      .filter(({ verb }) => verb === 'patch')
      .map(({ kind, subresource = '' }) => [kind, subresource]);
    expect(order).toEqual([
      ['DeploymentTargetClaim', ''], // its finalizer
      ['DeploymentTarget', ''], // the lock
      ['DeploymentTarget', 'status'],
      ['DeploymentTargetClaim', ''], // the name of the target
      ['DeploymentTargetClaim', 'status'],
      ['DeploymentTargetClaim', ''], // binding is complete
    ]);
  });

  test.each([
    ['string', 'test-dtc'],
    ['object', { name: 'test-dtc' }],
  ] as const)('writes a new claimRef as %s if that is set', async (claimRefShape, claimRef) => {
    const w = await running({ claimRefShape }).have(target(), claim());
    await w.settle();
    expect(dt(w)?.spec.claimRef).toEqual(claimRef);
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dt(w)?.spec.claimRef).toEqual(claimRefShape === 'string' ? '' : { name: '' });
  });

  test('gives a target that two claims name to the first, and reports that on the other', async () => {
    const w = await running().have(
      target(),
      claim('a', { targetName: 'test-dt' }),
      claim('b', { targetName: 'test-dt' }),
    );
    await w.settle();
    expect([dtc(w, 'a')?.status?.phase, dtc(w, 'b')?.status?.phase]).toEqual(['Bound', 'Pending']);
    expect(errorOf(dtc(w, 'b'))).toBe(
      'DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed',
    );
  });

  test('takes the better of two targets that refer to a claim; the other is kept and says why it is not bound', async () => {
    const w = await running().have(
      targetClass('Delete'),
      target('a-dt', { claimRef: 'test-dtc' }),
      target('b-dt', { claimRef: 'test-dtc' }),
      claim(),
    );
    await w.settle();
    expect([dtc(w)?.spec.targetName, dt(w, 'b-dt')?.status?.phase]).toEqual(['a-dt', 'Available']);
    expect(dt(w, 'b-dt')?.status?.conditions?.find(({ type }) => type === 'Reserved')).toMatchObject({
      status: 'False',
      reason: 'ClaimElsewhere',
    });
    const events = [...w.api.all(Event).values()].map((each) => each['reason']);
    expect(events).toContain('ClaimElsewhere');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect([dtc(w), dt(w, 'a-dt'), dt(w, 'b-dt')?.status?.phase]).toEqual([undefined, undefined, 'Available']);
  });

  test('ignores a free target that was created by hand if the class forbids static matches', async () => {
    const ofClass = targetClass('Retain', undefined, undefined, { allowStaticMatch: false });
    const w = await running().have(ofClass, target('test-dt'), claim());
    await w.settle();
    expect(phases(w)).toEqual(['Pending', 'Available']);
    await w.have(target('spare', {}, { annotations: { [PROVISIONED_BY]: 'x' } }), claim('second'));
    await w.settle();
    expect(dtc(w, 'second')?.spec.targetName).toBe('spare');
    await w.patch(DeploymentTarget, 'test-dt', { spec: { claimRef: 'test-dtc' } });
    await w.settle();
    expect(phases(w)).toEqual(['Bound', 'Bound']);
  });

  test('succeeds for a claim and a released target that name each other', async () => {
    const w = await running().have(targetClass('Retain'), { ...target(), status: { phase: 'Released' } });
    await w.settle();
    await w.have(claim('test-dtc', { targetName: 'test-dt' }));
    await w.patch(DeploymentTarget, 'test-dt', { spec: { claimRef: 'test-dtc' } });
    await w.settle();
    expect(phases(w)).toEqual(['Bound', 'Bound']);
  });

  test('gives a claim that waits for provisioning a target that it names or that refers to it, not a free one', async () => {
    for (const link of ['reference', 'name']) {
      const w = await running().have(targetClass('Retain'), claim());
      await w.settle();
      await w.have(target());
      await w.settle();
      expect(dtc(w)?.status?.phase).toBe('Pending');
      if (link === 'name') await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'test-dt' } });
      else await w.patch(DeploymentTarget, 'test-dt', { spec: { claimRef: 'test-dtc' } });
      await w.settle();
      expect(phases(w)).toEqual(['Bound', 'Bound']);
    }
  });
});

describe('a target', () => {
  test('whose Secret is missing is bound, with a warning', async () => {
    const w = await running().have(target(), claim());
    await w.settle();
    expect(phases(w)).toEqual(['Bound', 'Bound']);
    expect(dt(w)?.status?.conditions?.find(({ type }) => type === 'SecretFound')).toMatchObject({
      status: 'False',
      reason: 'SecretNotFound',
      message: 'the Secret test-secret with the credentials does not exist',
    });
    await w.have({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'test-secret', namespace: 'test-ns' } });
    await w.settle();
    expect(dt(w)?.status?.conditions?.map(({ type }) => type)).toEqual(['ErrorOccurred', 'Ready']);
  });

  test('of a missing class reports no error, unlike a claim of that class', async () => {
    const w = await running().have(target('other-dt', { deploymentTargetClassName: 'x' }), claim());
    await w.settle();
    expect([dt(w, 'other-dt')?.status?.phase, errorOf(dt(w, 'other-dt'))]).toEqual(['Available', '']);
    expect(errorOf(dtc(w))).toContain('the resource could not be found on the cluster');
  });

  test('of a class with an unknown reclaim policy reports it', async () => {
    const w = await running().have(targetClass('Sometimes' as 'Retain'), target());
    await w.settle();
    expect(errorOf(dt(w))).toBe('unexpected reclaim policy value on DeploymentTargetClass');
  });

  test('that other controllers left bound to a deleted claim is released', async () => {
    const w = await running().have(targetClass('Retain'), { ...target(), status: { phase: 'Bound' } });
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Released');
  });

  test('that was bound to an earlier claim of the same name is not given to the next', async () => {
    const w = await running().have(
      targetClass('Retain'),
      {
        ...target('test-dt', { claimRef: 'test-dtc' }, { annotations: { [CLAIM_UID]: 'earlier' } }),
        status: { phase: 'Bound' },
      },
      claim(),
    );
    await w.settle();
    expect(phases(w)).toEqual(['Pending', 'Released']);
  });
});

test('keys and finalizers are spelled as in the contract', () => {
  expect(names).toMatchObject({
    PROVISIONER: 'provisioner.appstudio.redhat.com/dt-provisioner',
    BIND_COMPLETE: 'dt.appstudio.redhat.com/bind-complete',
    BOUND_BY_CONTROLLER: 'dt.appstudio.redhat.com/bound-by-controller',
    PROVISIONED_BY: 'provisioner.appstudio.redhat.com/provisioned-by',
    CLAIM_LABEL: 'appstudio.openshift.io/dtc',
    TARGET_LABEL: 'appstudio.openshift.io/dt',
    ENVIRONMENT_SECRET: 'appstudio.openshift.io/environment-secret',
    CLAIM_FINALIZER: 'binder.appstudio.redhat.com/finalizer',
    TARGET_FINALIZER: 'dt.appstudio.redhat.com/finalizer',
    TOOLCHAIN_FINALIZER: 'finalizer.toolchain.dev.openshift.com',
    DEVSANDBOX: 'appstudio.redhat.com/devsandbox',
    SANDBOX_TIER: 'appstudio-env',
    MANAGED_SECRET_TYPE: 'managed-gitops.redhat.com/managed-environment',
  });
});
