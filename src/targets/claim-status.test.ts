// What a claim tells of itself: its conditions and their times, how long it lives, and what the server refused.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../test/support/claims.ts';
import type { ClaimWorld } from '../../test/support/claims.ts';
import { SpaceRequest } from '../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../api/targets.ts';
import { ApiError, defineKind } from '../kube/index.ts';
import type { KubeObject } from '../kube/index.ts';
import { BIND_COMPLETE, CLAIM_FINALIZER, EXPIRES_AT, PROVISIONER, TARGET_FINALIZER, TTL } from './names.ts';
import { running } from '../../test/support/running-claims.ts';

const Event = defineKind('events.k8s.io/v1', 'Event', 'events');
const HOUR = 3_600_000;
const dtc = (w: ClaimWorld, name = 'test-dtc') => w.get(DeploymentTargetClaim, name);
const dt = (w: ClaimWorld, name = 'test-dt') => w.get(DeploymentTarget, name);
const conditionOf = (w: ClaimWorld, type: string) => dtc(w)?.status?.conditions?.find((each) => each.type === type);
const at = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z');

async function bound(policy: 'Delete' | 'Retain' = 'Retain', spec = {}, meta = {}): Promise<ClaimWorld> {
  const w = await running().have(targetClass(policy), target(), claim('test-dtc', spec, meta));
  await w.settle();
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  return w;
}

describe('the conditions of a claim', () => {
  test('G3, E1: begin with ErrorOccurred, which has a message even when that is empty', async () => {
    const w = await bound();
    const success = { type: 'ErrorOccurred', status: 'False', reason: 'Success', message: '' };
    for (const object of [dtc(w), dt(w)]) expect(object?.status?.conditions?.[0]).toMatchObject(success);
  });

  test('1.8, G27: the time of ErrorOccurred moves with anything it says, that of Ready with its status alone', async () => {
    const w = await running().have(claim('test-dtc', { deploymentTargetClassName: 'abc' }));
    await w.settle();
    const begun = w.clock.now();
    await w.clock.advance(60_000);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { deploymentTargetClassName: 'xyz' } });
    await w.settle();
    expect(errorOf(dtc(w))).toContain('DeploymentTargetClass xyz');
    expect(conditionOf(w, 'ErrorOccurred')?.lastTransitionTime).toBe(at(begun + 60_000));
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'False', lastTransitionTime: at(begun) });
    expect(conditionOf(w, 'Ready')?.message).toContain('DeploymentTargetClass xyz');
  });

  test('1.8: conditions that somebody else wrote stay, behind ours', async () => {
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

  test('REQ-9: a claim and a target that name each other are bound, with a warning where their classes differ', async () => {
    const w = await running().have(
      target('test-dt', { claimRef: 'test-dtc', deploymentTargetClassName: 'other' }),
      claim('test-dtc', { targetName: 'test-dt' }),
    );
    await w.settle();
    expect(conditionOf(w, 'Ready')).toMatchObject({ status: 'True', reason: 'Bound' });
    expect(conditionOf(w, 'ClassMatches')).toMatchObject({
      status: 'False',
      reason: 'ClassDiffers',
      message:
        'the claim asks for class "test-sandbox-class", and DeploymentTarget test-dt is of class "other": the claim keeps it',
    });
  });

  test('4.25: a bound claim whose class is changed keeps its target, with the same warning', async () => {
    const w = await bound();
    expect(conditionOf(w, 'ClassMatches')).toBeUndefined();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { deploymentTargetClassName: 'later' } });
    await w.settle();
    expect([dtc(w)?.status?.phase, conditionOf(w, 'ClassMatches')?.reason]).toEqual(['Bound', 'ClassDiffers']);
  });

  test('4.14, G32: while its target is merely going, a claim stays Bound and says that it is of no use', async () => {
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

  test('REQ-11: a claim whose target names another is Lost, as misbound', async () => {
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

  test('a selector that is none is told, and nothing is bound by it', async () => {
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
  ])('one that waits says why in a word, in Ready and in an Event: %s', async (reason, world, isError) => {
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

  test('a claim that waits for its target to go says so, and why that takes its time', async () => {
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
      message: 'waiting for DeploymentTarget test-dt to go: waiting for SpaceRequest sr to go: the space stays',
    });
    await w.patch(SpaceRequest, 'sr', { metadata: { finalizers: null } });
    await w.settle();
    expect([dtc(w), dt(w)]).toEqual([undefined, undefined]);
  });
});

describe('a claim with an end', () => {
  const end = (w: ClaimWorld) => dtc(w)?.metadata.annotations?.[EXPIRES_AT];

  test('9.5: by its field, before its annotation, before its class', async () => {
    for (const [spec, annotations, ofClass, hours] of [
      [{ ttl: '1h' }, { [TTL]: '2h' }, '3h', 1],
      [{}, { [TTL]: '2h' }, '3h', 2],
      [{}, {}, '3h', 3],
    ] as const) {
      const w = await running().have(
        targetClass('Retain', undefined, undefined, { ttl: ofClass }),
        target(),
        claim('test-dtc', spec, { annotations }),
      );
      await w.settle();
      expect(end(w)).toBe(at(w.clock.now() + hours * HOUR));
    }
  });

  test('is renewed by a longer one, and lives for ever when it has none any more', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    const begun = w.clock.now();
    await w.clock.advance(HOUR / 2);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '4h' } });
    await w.settle();
    expect(end(w)).toBe(at(begun + 4 * HOUR));
    await w.clock.advance(2 * HOUR);
    await w.settle();
    expect(dtc(w)).toBeDefined();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: null } });
    await w.settle();
    expect(end(w)).toBeUndefined();
  });

  test('comes to it also when its target is lost', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
    await w.clock.advance(HOUR + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test.each(['soon', '0s', '-1h', '1000000d'])(
    'that is no length of time (%s) is told, and it lives for ever',
    async (ttl) => {
      const w = await bound('Retain', {}, { annotations: { [TTL]: ttl } });
      expect(conditionOf(w, 'Expires')).toMatchObject({ status: 'False', reason: 'InvalidTTL' });
      expect([end(w), dtc(w)?.status?.phase]).toEqual([undefined, 'Bound']);
    },
  );
});

describe('what the server refuses is told in the words that users know', () => {
  const no = new ApiError('mock error', { code: 403, reason: 'Forbidden' });

  /** A world in which the server refuses one kind of write, after a while in it. */
  async function refusing(w: ClaimWorld, verb: string, kind: string, subresource?: string): Promise<ClaimWorld> {
    w.api.intercept = (request) => {
      if (request.verb === verb && request.kind === kind && request.subresource === subresource) throw no;
    };
    return w.settle();
  }

  /** After the server has become kind, and the retries have found out. */
  async function forgiven(w: ClaimWorld): Promise<ClaimWorld> {
    w.api.intercept = () => {};
    await w.clock.advance(60_000);
    return w.settle();
  }

  test('B1: the finalizer', async () => {
    const w = await running().have(targetClass('Retain'), claim());
    await refusing(w, 'patch', 'DeploymentTargetClaim');
    expect(errorOf(dtc(w))).toBe(
      `failed to add finalizer ${CLAIM_FINALIZER} to DeploymentTargetClaim test-dtc in namespace test-ns: mock error`,
    );
    expect(conditionOf(w, 'Stalled')).toMatchObject({ status: 'True', reason: 'ApplyFailed' });
  });

  test('B5: the mark for provisioning', async () => {
    const w = await running().have(targetClass('Retain'), claim('test-dtc', {}, { finalizers: [CLAIM_FINALIZER] }));
    await refusing(w, 'patch', 'DeploymentTargetClaim');
    expect(errorOf(dtc(w))).toBe('failed to handle DeploymentTargetClaim for dynamic provisioning: mock error');
    expect(dtc(w)?.metadata.annotations?.[PROVISIONER]).toBeUndefined();
  });

  test('B4: the upkeep of a bound claim', async () => {
    const annotations = { [BIND_COMPLETE]: 'true' };
    const w = await running().have(target(), claim('test-dtc', { targetName: 'test-dt' }, { annotations }));
    await refusing(w, 'patch', 'DeploymentTarget');
    expect(errorOf(dtc(w))).toBe('failed to process bound DeploymentTargetClaim: mock error');
  });

  test('any other write, until it succeeds', async () => {
    const w = await running().have(target(), claim());
    await refusing(w, 'patch', 'DeploymentTarget');
    expect(errorOf(dtc(w))).toBe('unexpected internal error occurred in DTC controller');
    expect(conditionOf(w, 'Stalled')?.message).toBe('edit DeploymentTarget test-ns/test-dt: mock error');
    expect(errorOf(dt(w))).toBe('unexpected internal error occurred in DT controller');
    await forgiven(w);
    expect([dtc(w)?.status?.phase, errorOf(dtc(w)), errorOf(dt(w))]).toEqual(['Bound', '', '']);
    expect(conditionOf(w, 'Stalled')).toBeUndefined();
  });

  test.each([
    ['status', 'failed to update DeploymentTarget test-dt in namespace test-ns to Released status'],
    [undefined, 'failed to update the claimRef: mock error'],
  ])('5.1: the release of the target (%s)', async (subresource, message) => {
    const w = await bound('Retain');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await refusing(w, 'patch', 'DeploymentTarget', subresource);
    expect(errorOf(dtc(w))).toBe(message);
    await forgiven(w);
    expect([dtc(w), dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual([undefined, 'Released', '']);
  });

  test('B3: the space request, to the provisioner that asks for it', async () => {
    const w = await running({}, ['binder', 'devsandbox-request']).have(targetClass('Delete'), claim());
    await refusing(w, 'create', 'SpaceRequest');
    expect(errorOf(dtc(w))).toBe('unable to handle provisioning of SpaceRequest: mock error');
    expect(conditionOf(w, 'Provisioned')).toMatchObject({ status: 'False', reason: 'UnableToProvision' });
    await forgiven(w);
    expect([w.api.all(SpaceRequest).size, errorOf(dtc(w))]).toEqual([1, '']);
  });

  test('of a namespace, to the provisioner that makes or furnishes it', async () => {
    const ofClass = targetClass('Delete', 'test-sandbox-class', 'offshoot.dev/namespace');
    for (const [verb, kind, message] of [
      ['create', 'Namespace', /^make Namespace test-ns-test-dtc-.{5}: mock error$/],
      ['apply', 'RoleBinding', /^namespace test-ns-test-dtc-.{5}: own RoleBinding .*\/deployer: mock error$/],
    ] as const) {
      const w = await running({}, ['binder', 'reclaimer', 'namespace-requests', 'namespace-places']).have(
        ofClass,
        claim(),
      );
      await refusing(w, verb, kind);
      expect(errorOf(dtc(w))).toMatch(message);
      expect(conditionOf(w, 'Provisioned')).toMatchObject({ status: 'False', reason: 'UnableToProvision' });
      await forgiven(w);
      expect([dtc(w)?.status?.phase, errorOf(dtc(w))]).toEqual(['Bound', '']);
    }
  });

  test.each([
    ['appstudio.redhat.com/devsandbox', 'create', 'SpaceRequest'],
    ['offshoot.dev/namespace', 'create', 'Namespace'],
    ['offshoot.dev/namespace', 'apply', 'RoleBinding'],
  ])('of %s (%s %s) is tried again no sooner for having another number each time', async (provisioner, verb, kind) => {
    const names = ['binder', 'reclaimer', 'devsandbox-request', 'namespace-requests', 'namespace-places'];
    const w = await running({}, names).have(targetClass('Delete', undefined, provisioner), claim());
    let tries = 0;
    w.api.intercept = (request) => {
      if (request.verb !== verb || request.kind !== kind) return;
      if (++tries > 50) throw new Error('never ends');
      throw new ApiError(`no, request ${tries}-af3${tries}`, { code: 403, reason: 'Forbidden' });
    };
    await w.settle();
    expect(errorOf(dtc(w))).toContain('no, request 1-af31');
    expect(tries).toBeLessThan(6);
  });

  test('REQ-5: a write that came too late is tried again without a word', async () => {
    const w = await running().have(targetClass('Retain'), target(), claim());
    let refused = 0;
    w.api.intercept = ({ verb, kind }) => {
      if (verb === 'patch' && kind.startsWith('DeploymentTarget') && refused++ < 6) {
        throw new ApiError('changed', { code: 409, reason: 'Conflict' });
      }
    };
    await w.settle();
    await w.clock.advance(60_000);
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Bound');
    const told = w.api.writes.filter(({ kind, subresource }) => kind === 'DeploymentTargetClaim' && subresource);
    expect(refused).toBeGreaterThan(5);
    expect(told.length).toBeLessThan(4);
    expect(conditionOf(w, 'Stalled')).toBeUndefined();
  });
});
