import { timestamp } from '../../kube/times.ts';
import { describe, expect, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Settings } from '../index.ts';
import { BIND_COMPLETE, BOUND_BY_CONTROLLER, CLAIM_FINALIZER, PROVISIONER, TARGET_FINALIZER } from '../names.ts';
import { running } from '../../../test/support/running-claims.ts';

const dtc = (w: ClaimWorld, name = 'test-dtc') => w.get(DeploymentTargetClaim, name);
const dt = (w: ClaimWorld, name = 'test-dt') => w.get(DeploymentTarget, name);
const annotations = (w: ClaimWorld, name = 'test-dtc'): Record<string, string> => ({
  ...dtc(w, name)?.metadata.annotations,
});

async function bound(policy: 'Delete' | 'Retain', settings: Partial<Settings> = {}): Promise<ClaimWorld> {
  const w = await running(settings).have(targetClass(policy), target(), claim());
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  return w;
}

describe('binding', () => {
  test('writes the lock, both phases, the target name and the annotations', async () => {
    const w = await bound('Retain');
    expect(dt(w)?.spec.claimRef).toBe('test-dtc');
    expect(dt(w)?.metadata.finalizers).toEqual([TARGET_FINALIZER]);
    expect(dtc(w)?.spec.targetName).toBe('test-dt');
    expect(dtc(w)?.metadata.finalizers).toEqual([CLAIM_FINALIZER]);
    expect(annotations(w)).toMatchObject({ [BIND_COMPLETE]: 'true', [BOUND_BY_CONTROLLER]: 'true' });
    expect(annotations(w)).not.toHaveProperty(PROVISIONER);
    expect([errorOf(dtc(w)), errorOf(dt(w))]).toEqual(['', '']);
  });

  test('prefers a target that is reserved for the claim', async () => {
    const w = await running().have(
      targetClass('Delete'),
      target('free', {}),
      target('test-dt', { claimRef: 'test-dtc' }),
      claim(),
    );
    await w.settle();
    expect(dtc(w)?.spec.targetName).toBe('test-dt');
    expect(dt(w, 'free')?.status?.phase).toBe('Available');
  });

  test('leaves a target to the claim that names it', async () => {
    const w = await running().have(target('wanted'), claim('any'), claim('by-name', { targetName: 'wanted' }));
    await w.settle();
    expect([dtc(w, 'any')?.status?.phase, dtc(w, 'by-name')?.status?.phase]).toEqual(['Pending', 'Bound']);
    await w.have(target('another'));
    await w.settle();
    expect(dtc(w, 'any')?.spec.targetName).toBe('another');
  });

  test('takes a target that another claim names, but can not have', async () => {
    const other = claim('by-name', { targetName: 'wanted', deploymentTargetClassName: 'other' });
    const w = await running().have(target('wanted'), claim('any'), other);
    await w.settle();
    expect(dtc(w, 'any')?.spec.targetName).toBe('wanted');
  });

  test('keeps the shape of a claimRef that is an object', async () => {
    const w = await running().have(target('test-dt', { claimRef: { name: 'test-dtc' } }), claim('test-dtc'));
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Bound');
    expect(dt(w)?.spec.claimRef).toEqual({ name: 'test-dtc' });
  });

  test('waits for a named target that does not exist yet', async () => {
    const w = await running().have(targetClass('Retain'), claim('test-dtc', { targetName: 'random' }));
    await w.settle();
    expect([dtc(w)?.status?.phase, errorOf(dtc(w))]).toEqual(['Pending', '']);
    await w.have(target('random'));
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Bound');
    expect(annotations(w)).not.toHaveProperty(BOUND_BY_CONTROLLER);
  });

  test('succeeds for a claim and a target that name each other, even if their classes differ', async () => {
    const w = await running().have(
      target('test-dt', { claimRef: 'test-dtc', deploymentTargetClassName: 'other' }),
      claim('test-dtc', { targetName: 'test-dt' }),
    );
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  });

  test('succeeds for a free target that the claim names', async () => {
    const w = await running().have(target(), claim('test-dtc', { targetName: 'test-dt' }));
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Bound', 'test-dtc']);
  });

  test('fails for a target that another claim has', async () => {
    const w = await running().have(
      claim('random-dtc', { targetName: 'test-dt' }),
      target('test-dt', { claimRef: 'random-dtc' }),
      claim('test-dtc', { targetName: 'test-dt' }),
    );
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Pending');
    expect(errorOf(dtc(w))).toBe('DeploymentTargetClaim wants to claim a DeploymentTarget that is already claimed');
    expect(dtc(w, 'random-dtc')?.status?.phase).toBe('Bound');
  });

  test('fails for a named target of another class, and says why', async () => {
    const w = await running().have(
      target(),
      claim('test-dtc', { targetName: 'test-dt', deploymentTargetClassName: 'random' }),
    );
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Pending');
    expect(errorOf(dtc(w))).toBe(
      'DeploymentTarget does not match the specified DeploymentTargetClaim: DeploymentTarget test-dt does not match DeploymentTargetClaim test-dtc in namespace test-ns: deploymentTargetClassName does not match',
    );
  });

  test('waits until the target has credentials', async () => {
    const none = { defaultNamespace: '', apiURL: '', clusterCredentialsSecret: '' };
    const w = await running().have(
      target('test-dt', { deploymentTargetClassName: '', kubernetesCredentials: none }),
      claim('test-dtc', { deploymentTargetClassName: '' }),
    );
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Pending', 'Pending']);
    await w.patch(DeploymentTarget, 'test-dt', {
      spec: { kubernetesCredentials: { apiURL: 'https://x', clusterCredentialsSecret: 's' } },
    });
    await w.settle();
    expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  });

  test('considers only targets that match the selector of the claim', async () => {
    const w = await running().have(
      target('a', {}, { labels: { tier: 'prod' } }),
      target('b', {}, { labels: { tier: 'staging' } }),
      claim('staging', {}, { annotations: { 'dt.appstudio.redhat.com/selector': 'tier=staging' } }),
    );
    await w.settle();
    expect(dtc(w, 'staging')?.spec.targetName).toBe('b');
    expect(dt(w, 'a')?.status?.phase).toBe('Available');
  });

  test('gives one target to exactly one of many claims', async () => {
    const w = await running().have(targetClass('Retain'), target());
    await w.have(...Array.from({ length: 20 }, (_none, i) => claim(`claim-${i}`)));
    await w.settle();
    const winners = [...w.api.all(DeploymentTargetClaim).values()].filter(
      (each) => (each['status'] as { phase?: string } | undefined)?.phase === 'Bound',
    );
    expect(winners.map(({ metadata }) => metadata.name)).toEqual([dt(w)?.spec.claimRef]);
  });
});

describe('provisioning', () => {
  test('marks a claim for the provisioner of its class when no target fits', async () => {
    const w = await running().have(targetClass('Delete'), claim());
    await w.settle();
    expect([dtc(w)?.status?.phase, errorOf(dtc(w))]).toEqual(['Pending', '']);
    expect(annotations(w)).toEqual({ [PROVISIONER]: 'appstudio.redhat.com/devsandbox' });
  });

  test('marks a claim with the name of its class when the older annotation is set', async () => {
    const w = await running({ provisionerAnnotation: 'class' }).have(targetClass('Delete'), claim());
    await w.settle();
    expect(annotations(w)).toEqual({ [PROVISIONER]: 'test-sandbox-class' });
  });

  test('leaves a claim without a class pending and unmarked', async () => {
    const w = await running().have(claim('test-dtc', { deploymentTargetClassName: '' }));
    await w.settle();
    expect([dtc(w)?.status?.phase, annotations(w)]).toEqual(['Pending', {}]);
  });

  test('reports a class that does not exist, and goes on once it does', async () => {
    const w = await running().have(claim('test-dtc', { deploymentTargetClassName: 'abc' }));
    await w.settle();
    expect(errorOf(dtc(w))).toBe(
      'unable to handle provisioning of SpaceRequest: DeploymentTargetClaim test-dtc does not have a matching DeploymentTargetClass abc: the resource could not be found on the cluster',
    );
    expect(annotations(w)).toEqual({});
    await w.have(targetClass('Delete', 'abc'));
    await w.settle();
    expect([errorOf(dtc(w)), annotations(w)[PROVISIONER]]).toEqual(['', 'appstudio.redhat.com/devsandbox']);
  });

  test('binds a marked claim only to the target made for it', async () => {
    const w = await running().have(targetClass('Delete'), claim());
    await w.settle();
    await w.have(target('stranger'));
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Pending');
    await w.have(target('test-dtc-dt', { claimRef: 'test-dtc' }));
    await w.settle();
    expect(dtc(w)?.spec.targetName).toBe('test-dtc-dt');
  });

  test('reports a failed space request on the claim', async () => {
    const w = await running().have(targetClass('Delete'), claim());
    await w.have({
      ...spaceRequest('test-dtc-x', { 'appstudio.openshift.io/dtc': 'test-dtc' }),
      status: {
        conditions: [{ type: 'Ready', status: 'False', reason: 'UnableToProvision', message: 'no such tier' }],
      },
    });
    await w.settle();
    expect(dtc(w)?.status?.conditions?.find(({ type }) => type === 'Provisioned')).toMatchObject({
      status: 'False',
      reason: 'UnableToProvision',
      message: 'SpaceRequest test-dtc-x: no such tier',
    });
  });
});

describe('a bound claim', () => {
  test('becomes Lost when its target is deleted, and is kept', async () => {
    const w = await bound('Retain');
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dt(w)).toBeUndefined();
    expect(dtc(w)?.status?.phase).toBe('Lost');
    const gone = 'DeploymentTarget not found for a bounded DeploymentTargetClaim test-dtc in namespace test-ns';
    expect(errorOf(dtc(w))).toBe(`failed to process bound DeploymentTargetClaim: ${gone}`);
    expect(dtc(w)?.status?.conditions?.[1]).toMatchObject({ type: 'Ready', reason: 'Lost', message: gone });
  });

  test('recovers only with a target that refers to it or, with the older setting, any target of the name', async () => {
    for (const [lostHeals, phase] of [
      ['reference', 'Lost'],
      ['name', 'Bound'],
    ] as const) {
      const w = await bound('Retain', { lostHeals });
      await w.delete(DeploymentTarget, 'test-dt');
      await w.settle();
      await w.have(target());
      await w.settle();
      expect(dtc(w)?.status?.phase).toBe(phase);
      await w.patch(DeploymentTarget, 'test-dt', { spec: { claimRef: 'test-dtc' } });
      await w.settle();
      expect(dtc(w)?.status?.phase).toBe('Bound');
    }
  });

  test('becomes Lost when its target refers to another claim', async () => {
    const w = await bound('Retain');
    await w.patch(DeploymentTarget, 'test-dt', { spec: { claimRef: 'other' } });
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
  });

  test('gets the provisioner annotation of its class, and loses it without a class', async () => {
    const w = await running().have(
      targetClass('Delete'),
      target('test-dt', { claimRef: 'test-dtc' }),
      claim('test-dtc', {}, { annotations: { [PROVISIONER]: 'nobody', [BIND_COMPLETE]: 'true' } }),
      target('free-dt', { claimRef: 'free', deploymentTargetClassName: '' }),
      claim(
        'free',
        { deploymentTargetClassName: '' },
        { annotations: { [PROVISIONER]: 'nobody', [BIND_COMPLETE]: 'true' } },
      ),
    );
    await w.settle();
    expect(annotations(w)[PROVISIONER]).toBe('appstudio.redhat.com/devsandbox');
    expect(annotations(w, 'free')).not.toHaveProperty(PROVISIONER);
    expect([dtc(w)?.status?.phase, dtc(w, 'free')?.status?.phase]).toEqual(['Bound', 'Bound']);
  });

  test('says when it will expire, and is deleted then', async () => {
    const w = await running().have(targetClass('Retain'), target(), claim('test-dtc', { ttl: '2h' }));
    await w.settle();
    const end = timestamp(w.clock.now() + 2 * 3_600_000);
    expect(annotations(w)['dt.appstudio.redhat.com/expires-at']).toBe(end);
    await w.clock.advance(2 * 3_600_000 - 2_000);
    expect(dtc(w)).toBeDefined();
    await w.clock.advance(3_000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect(dt(w)?.status?.phase).toBe('Released');
  });

  test('is kept when its ttl is extended at the last moment, before the controllers see it', async () => {
    const w = await running().have(targetClass('Retain'), target(), claim('test-dtc', { ttl: '2h' }));
    await w.settle();
    const late: (() => void)[] = [];
    w.api.deliver = (_kind, send) => late.push(send);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '4h' } });
    await w.clock.advance(2 * 3_600_000 + 1_000);
    w.api.deliver = (_kind, send) => queueMicrotask(send);
    for (const send of late) send();
    await w.settle();
    expect(dtc(w)?.metadata.deletionTimestamp).toBeUndefined();
    expect(dtc(w)?.status?.phase).toBe('Bound');
  });
});

describe('deleting a claim', () => {
  test('with Retain releases and keeps the target, without its claimRef', async () => {
    const w = await bound('Retain');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef, dt(w)?.metadata.finalizers]).toEqual([
      'Released',
      '',
      [TARGET_FINALIZER],
    ]);
  });

  test('with Delete waits until the target is gone', async () => {
    const w = await bound('Delete');
    await w.have(
      spaceRequest(
        'sr',
        { 'appstudio.openshift.io/dtc': 'test-dtc' },
        { finalizers: ['finalizer.toolchain.dev.openshift.com'] },
      ),
    );
    await w.patch(DeploymentTarget, 'test-dt', {
      metadata: {
        annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': 'appstudio.redhat.com/devsandbox' },
      },
    });
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)?.metadata.deletionTimestamp).toBeDefined();
    expect(dt(w)?.metadata.deletionTimestamp).toBeDefined();
    expect(w.get(SpaceRequest, 'sr')?.metadata.deletionTimestamp).toBeDefined();
    expect(dt(w)?.status?.phase).toBe('Bound');
    await w.patch(SpaceRequest, 'sr', { metadata: { finalizers: [] } });
    await w.settle();
    expect([dtc(w), dt(w), w.get(SpaceRequest, 'sr')]).toEqual([undefined, undefined, undefined]);
  });

  test('with eager deletion does not wait for the target', async () => {
    const w = await bound('Delete', { claimDeletion: 'eager' });
    await w.patch(DeploymentTarget, 'test-dt', { metadata: { finalizers: [TARGET_FINALIZER, 'somebody/else'] } });
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect(dt(w)?.metadata.deletionTimestamp).toBeDefined();
  });

  test('deletes the space request of a pending claim too', async () => {
    const w = await running().have(targetClass('Delete'), claim());
    await w.settle();
    await w.have(spaceRequest('sr', { 'appstudio.openshift.io/dtc': 'test-dtc' }));
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect([dtc(w), w.get(SpaceRequest, 'sr')]).toEqual([undefined, undefined]);
  });

  test('works when the target and the class no longer exist', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTargetClass, 'test-sandbox-class');
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dt(w)).toBeUndefined();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test('leaves a target alone that belongs to another claim', async () => {
    const w = await bound('Delete');
    await w.have(claim('late', { targetName: 'test-dt' }));
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'late');
    await w.settle();
    expect(dtc(w, 'late')).toBeUndefined();
    expect([dt(w)?.metadata.deletionTimestamp, dtc(w)?.status?.phase]).toEqual([undefined, 'Bound']);
  });

  test('does not give its target to a new claim of the same name', async () => {
    const w = await bound('Retain');
    await w.stop();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: [] } });
    await w.api.delete(DeploymentTargetClaim, { name: 'test-dtc', namespace: 'test-ns' });
    await w.have(claim());
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Released');
    expect(dtc(w)?.status?.phase).toBe('Pending');
  });
});
