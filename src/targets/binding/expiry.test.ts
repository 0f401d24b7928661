// How long a claim lives.
import { timestamp } from '../../kube/times.ts';
import { describe, expect, test } from 'vitest';
import { claim, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, conditionOf, dtc, running } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { BOUND_AT, EXPIRES_AT, TTL } from '../names.ts';

const HOUR = 3_600_000;

test('a claim without an end is not written to for its sake', async () => {
  const w = await running().have(claim('test-dtc', { deploymentTargetClassName: '' }));
  await w.settle();
  const writes = w.api.writes.filter(({ kind, subresource }) => kind === 'DeploymentTargetClaim' && !subresource);
  // It is created, and gets its finalizer.
  expect(writes.map(({ verb }) => verb)).toEqual(['create', 'patch']);
});

describe('a claim with an end', () => {
  const end = (w: ClaimWorld) => dtc(w)?.metadata.annotations?.[EXPIRES_AT];

  test('by its field, before its annotation, before its class', async () => {
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
      expect(end(w)).toBe(timestamp(w.clock.now() + hours * HOUR));
    }
  });

  test('is renewed by a longer one, and lives forever when it has none any more', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    const begun = w.clock.now();
    await w.clock.advance(HOUR / 2);
    await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '4h' } });
    await w.settle();
    expect(end(w)).toBe(timestamp(begun + 4 * HOUR));
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
      'it is made to name another target, and its own again',
      async (w: ClaimWorld) => {
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'other' } });
        await w.settle();
        expect(dtc(w)?.status?.phase).toBe('Lost');
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { targetName: 'test-dt' } });
      },
    ],
    [
      'its time to live is taken away and given back',
      async (w: ClaimWorld) => {
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: null } });
        await w.settle();
        await w.patch(DeploymentTargetClaim, 'test-dtc', { spec: { ttl: '1h' } });
      },
    ],
  ])('has lived since it was first bound, also when %s', async (_what, meddle) => {
    const w = await bound('Retain', { ttl: '1h' });
    const expected = end(w);
    expect(expected).toBe(timestamp(w.clock.now() + HOUR));
    await w.clock.advance(HOUR / 2);
    await meddle(w);
    await w.settle();
    expect([dtc(w)?.status?.phase, end(w)]).toEqual(['Bound', expected]);
    await w.clock.advance(HOUR / 2 + 1000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
  });

  test('that was bound by another binder has lived since it was ready, which is then written down', async () => {
    const w = await bound('Retain', { ttl: '1h' });
    const expected = end(w);
    await w.stop();
    await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { annotations: { [BOUND_AT]: null } } });
    await w.clock.advance(HOUR / 2);
    await w.settle();
    expect([end(w), dtc(w)?.metadata.annotations?.[BOUND_AT]]).toEqual([
      expected,
      timestamp(Date.parse(expected!) - HOUR),
    ]);
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
