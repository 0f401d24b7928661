// How long a claim lives, and when it expires.
import { timestamp } from '../../kube/times.ts';
import { describe, expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, conditionOf, dtc, running } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { BOUND_AT, EXPIRES_AT, TTL } from '../names.ts';

const HOUR = 3_600_000;

test('a claim without a ttl is not written to because of expiry', async () => {
  const w = await running().have(claim('test-dtc', { deploymentTargetClassName: '' }));
  await w.settle();
  const writes = w.api.writes.filter(({ kind, subresource }) => kind === 'DeploymentTargetClaim' && !subresource);
  // It is created, and gets its finalizer.
  expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch']);
});

describe('a claim with a ttl', () => {
  const expiresAt = (w: ClaimWorld) => dtc(w)?.metadata.annotations?.[EXPIRES_AT];

  test('uses its field, then its annotation, then its class', async () => {
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
      expect(expiresAt(w)).toBe(timestamp(w.clock.now() + hours * HOUR));
    }
  });

  test('is extended by a longer ttl, and does not expire once the ttl is removed', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    const begun = w.clock.now();
    await w.clock.advance(HOUR / 2);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '4h' } });
    await w.settle();
    expect(expiresAt(w)).toBe(timestamp(begun + 4 * HOUR));
    await w.clock.advance(2 * HOUR);
    await w.settle();
    expect(dtc(w)).toBeDefined();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: null } });
    await w.settle();
    expect(expiresAt(w)).toBeUndefined();
  });

  test('expires even when its target is lost', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Lost');
    await w.clock.advance(HOUR + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test.each([
    [
      'its target is lost and found',
      async (w: ClaimWorld) => {
        await w.delete(DeploymentTarget, 'test-dt');
        await w.settle();
        await w.have(target('test-dt', { claimRef: 'test-dtc' }));
      },
    ],
    [
      'it names another target, and its own again',
      async (w: ClaimWorld) => {
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'other' } });
        await w.settle();
        expect(dtc(w)?.status?.phase).toBe('Lost');
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'test-dt' } });
      },
    ],
    [
      'its ttl is removed and set again',
      async (w: ClaimWorld) => {
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: null } });
        await w.settle();
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '1h' } });
      },
    ],
  ])('counts from when it was first bound, even when %s', async (_what, change) => {
    const w = await bound('Retain', { ttl: '1h' });
    const expected = expiresAt(w);
    expect(expected).toBe(timestamp(w.clock.now() + HOUR));
    await w.clock.advance(HOUR / 2);
    await change(w);
    await w.settle();
    expect([dtc(w)?.status?.phase, expiresAt(w)]).toEqual(['Bound', expected]);
    await w.clock.advance(HOUR / 2 + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test('counts from when it was first bound, even when it is replaced without its annotations', async () => {
    const w = running();
    await w.have({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'test-secret', namespace: 'test-ns' } });
    await w.have(targetClass('Retain'), target(), claim('test-dtc', { ttl: '1h' }));
    await w.settle();
    const expected = expiresAt(w);
    await w.clock.advance(HOUR / 2);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { annotations: null, finalizers: null } });
    await w.settle();
    expect([dtc(w)?.status?.phase, expiresAt(w)]).toEqual(['Bound', expected]);
  });

  test('expires even if it is replaced without its annotations after its target is gone', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { annotations: null } });
    await w.settle();
    expect([dtc(w)?.status?.phase, expiresAt(w)]).toEqual(['Lost', timestamp(w.clock.now() + HOUR)]);
    await w.clock.advance(HOUR + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test('counts from when it is first seen if another binder bound it and its target is gone', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    await w.stop();
    const metadata = { annotations: { [BOUND_AT]: null, [EXPIRES_AT]: null } };
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata });
    await w.clock.advance(HOUR / 2);
    await w.settle();
    expect([dtc(w)?.status?.phase, expiresAt(w)]).toEqual(['Lost', timestamp(w.clock.now() + HOUR)]);
    await w.clock.advance(HOUR + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test('counts from when it was ready if another binder bound it, and records that', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    const expected = expiresAt(w);
    await w.stop();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { annotations: { [BOUND_AT]: null } } });
    await w.clock.advance(HOUR / 2);
    await w.settle();
    expect([expiresAt(w), dtc(w)?.metadata.annotations?.[BOUND_AT]]).toEqual([
      expected,
      timestamp(Date.parse(expected!) - HOUR),
    ]);
  });

  test.each(['soon', '0s', '-1h', '1000000d'])('reports an invalid ttl (%s), and does not expire', async (ttl) => {
    const w = await bound('Retain', {}, { annotations: { [TTL]: ttl } });
    expect(conditionOf(w, 'Expires')).toMatchObject({ status: 'False', reason: 'InvalidTTL' });
    expect([expiresAt(w), dtc(w)?.status?.phase]).toEqual([undefined, 'Bound']);
  });
});
