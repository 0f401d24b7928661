// Writes that the server refuses are reported on the claim.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { bound, conditionOf, dt, dtc, running } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTargetClaim } from '../../api/targets.ts';
import { ApiError } from '../../kube/index.ts';
import { BIND_COMPLETE, CLAIM_FINALIZER, PROVISIONER } from '../names.ts';

describe('a claim for which the server refuses a write', () => {
  const forbidden = new ApiError('mock error', { code: 403, reason: 'Forbidden' });

  /** Refuses one kind of write, and settles. */
  async function refusing(w: ClaimWorld, verb: string, kind: string, subresource?: string): Promise<ClaimWorld> {
    w.api.intercept = (request) => {
      if (request.verb === verb && request.kind === kind && request.subresource === subresource) throw forbidden;
    };
    return w.settle();
  }

  /** Accepts all writes again, waits for the retries, and settles. */
  async function accepting(w: ClaimWorld): Promise<ClaimWorld> {
    w.api.intercept = () => {};
    await w.clock.advance(60_000);
    return w.settle();
  }

  test('reports that its finalizer could not be added', async () => {
    const w = await running().have(targetClass('Retain'), claim());
    await refusing(w, 'patch', 'DeploymentTargetClaim');
    expect(errorOf(dtc(w))).toBe(
      `failed to add finalizer ${CLAIM_FINALIZER} to DeploymentTargetClaim test-dtc in namespace test-ns: mock error`,
    );
    expect(conditionOf(w, 'Stalled')).toMatchObject({ status: 'True', reason: 'ApplyFailed' });
  });

  test('reports that it could not be marked for provisioning', async () => {
    const w = await running().have(targetClass('Retain'), claim('test-dtc', {}, { finalizers: [CLAIM_FINALIZER] }));
    await refusing(w, 'patch', 'DeploymentTargetClaim');
    expect(errorOf(dtc(w))).toBe('failed to handle DeploymentTargetClaim for dynamic provisioning: mock error');
    expect(dtc(w)?.metadata.annotations?.[PROVISIONER]).toBeUndefined();
  });

  test('reports that processing it failed once it is bound', async () => {
    const annotations = { [BIND_COMPLETE]: 'true' };
    const w = await running().have(target(), claim('test-dtc', { targetName: 'test-dt' }, { annotations }));
    await refusing(w, 'patch', 'DeploymentTarget');
    expect(errorOf(dtc(w))).toBe('failed to process bound DeploymentTargetClaim: mock error');
  });

  test('reports an internal error for any other write, until it succeeds', async () => {
    const w = await running().have(target(), claim());
    await refusing(w, 'patch', 'DeploymentTarget');
    expect(errorOf(dtc(w))).toBe('unexpected internal error occurred in DTC controller');
    expect(conditionOf(w, 'Stalled')?.message).toBe('edit DeploymentTarget test-ns/test-dt: mock error');
    expect(errorOf(dt(w))).toBe('unexpected internal error occurred in DT controller');
    await accepting(w);
    expect([dtc(w)?.status?.phase, errorOf(dtc(w)), errorOf(dt(w))]).toEqual(['Bound', '', '']);
    expect(conditionOf(w, 'Stalled')).toBeUndefined();
  });

  test.each([
    ['status', 'failed to update DeploymentTarget test-dt in namespace test-ns to Released status'],
    [undefined, 'failed to update the claimRef: mock error'],
  ])('reports that its target could not be released (%s)', async (subresource, message) => {
    const w = await bound('Retain');
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await refusing(w, 'patch', 'DeploymentTarget', subresource);
    expect(errorOf(dtc(w))).toBe(message);
    await accepting(w);
    expect([dtc(w), dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual([undefined, 'Released', '']);
  });

  test('reports that its space request could not be created', async () => {
    const w = await running({}, ['binder', 'devsandbox-request']).have(targetClass('Delete'), claim());
    await refusing(w, 'create', 'SpaceRequest');
    expect(errorOf(dtc(w))).toBe('unable to handle provisioning of SpaceRequest: mock error');
    expect(conditionOf(w, 'Provisioned')).toMatchObject({ status: 'False', reason: 'UnableToProvision' });
    await accepting(w);
    expect([w.api.all(SpaceRequest).size, errorOf(dtc(w))]).toEqual([1, '']);
  });

  test('reports that its namespace or the contents could not be created', async () => {
    const ofClass = targetClass('Delete', 'test-sandbox-class', 'offshoot.dev/namespace');
    for (const [verb, kind, message] of [
      ['create', 'Namespace', /^make Namespace test-ns-test-dtc-.{5}: mock error$/],
      ['apply', 'RoleBinding', /^namespace test-ns-test-dtc-.{5}: own RoleBinding .*\/deployer: mock error$/],
    ] as const) {
      const w = await running({}, ['binder', 'reclaimer', 'namespace-requests', 'namespace-targets']).have(
        ofClass,
        claim(),
      );
      await refusing(w, verb, kind);
      expect(errorOf(dtc(w))).toMatch(message);
      expect(conditionOf(w, 'Provisioned')).toMatchObject({ status: 'False', reason: 'UnableToProvision' });
      await accepting(w);
      expect([dtc(w)?.status?.phase, errorOf(dtc(w))]).toEqual(['Bound', '']);
    }
  });

  test.each([
    ['appstudio.redhat.com/devsandbox', 'create', 'SpaceRequest'],
    ['offshoot.dev/namespace', 'create', 'Namespace'],
    ['offshoot.dev/namespace', 'apply', 'RoleBinding'],
  ])('of %s (%s %s) is not retried sooner when each error message differs', async (provisioner, verb, kind) => {
    const names = ['binder', 'reclaimer', 'devsandbox-request', 'namespace-requests', 'namespace-targets'];
    const w = await running({}, names).have(targetClass('Delete', undefined, provisioner), claim());
    let tries = 0;
    w.api.intercept = (request) => {
      if (request.verb !== verb || request.kind !== kind) return;
      if (++tries > 50) throw new Error('never ends');
      throw new ApiError(`no, request ${tries}-af3${tries}`, { code: 403, reason: 'Forbidden' });
    };
    await w.settle();
    // One more try where a table had to be listed first.
    expect(errorOf(dtc(w))).toMatch(/no, request [12]-af3[12]/);
    expect(tries).toBeLessThan(6);
  });

  test('reports no error for a conflict, which is retried', async () => {
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
    const statusWrites = w.api.writes.filter(
      ({ kind, subresource }) => kind === 'DeploymentTargetClaim' && subresource,
    );
    expect(refused).toBeGreaterThan(5);
    expect(statusWrites.length).toBeLessThan(4);
    expect(conditionOf(w, 'Stalled')).toBeUndefined();
  });
});
