// The last user of a retained target can no longer use its credentials once another claim has it.
import { expect, test } from 'vitest';
import { claim, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { dt, dtc, running, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { ApiError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { CLAIM_UID, LAST_CLAIM, MAKE_AVAILABLE } from '../names.ts';
import { Namespace, Secret, ServiceAccount } from '../objects.ts';

const ALL = targets().map(({ name }) => name);
const KEPT = 'test-dtc-dt';

const accounts = (w: ClaimWorld) => [...w.api.all(ServiceAccount).values()].map(({ metadata }) => metadata.uid);
const tokens = (w: ClaimWorld) =>
  [...w.api.all(Secret).values()].map(({ data }) => (data as Record<string, string> | undefined)?.['kubeconfig']);
const namespace = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** Makes the target look as if a binder without references and uids had bound it. */
async function leaveNoTrace(w: ClaimWorld): Promise<void> {
  await w.stop();
  await w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [CLAIM_UID]: null } }, spec: { claimRef: null } });
}

async function makeAvailable(w: ClaimWorld): Promise<void> {
  await w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
}

test.each(['offshoot.dev/namespace', 'appstudio.redhat.com/devsandbox'])(
  'account and token are recreated once when the claim is deleted (%s)',
  async (provisioner) => {
    const w = await running({}, ALL).have(namespace('test-ns'), namespace('offshoot-system'));
    await w.have(targetClass('Retain', 'kept', provisioner), claim('test-dtc', { deploymentTargetClassName: 'kept' }));
    await w.settle();
    const before = [accounts(w), tokens(w)];
    expect([dtc(w)?.status?.phase, before[0]?.length, before[1]?.length]).toEqual(['Bound', 1, 1]);

    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    await w.clock.advance(2000);
    await w.settle();
    const after = [accounts(w), tokens(w)];
    expect(dt(w, KEPT)?.status?.phase).toBe('Released');
    expect(after.map((each) => each.length)).toEqual([1, 1]);
    expect([after[0]![0] === before[0]![0], after[1]![0] === before[1]![0]]).toEqual([false, false]);

    await w.have(claim('next', { deploymentTargetClassName: 'kept', targetName: KEPT }));
    await makeAvailable(w);
    await w.settle();
    expect([dtc(w, 'next')?.status?.phase, accounts(w), tokens(w)]).toEqual(['Bound', ...after]);
    const { length } = w.api.writes;
    await w.stop();
    await w.settle();
    expect(w.api.writes.slice(length)).toEqual([]);
  },
);

test.each([
  [
    'another binder bound it',
    async (w: ClaimWorld) => {
      await w.stop();
      await w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [CLAIM_UID]: null } } });
      await w.delete(DeploymentTargetClaim, 'test-dtc');
    },
  ],
  [
    'another binder bound it and left no trace of the claim on it',
    async (w: ClaimWorld) => {
      await leaveNoTrace(w);
      await w.delete(DeploymentTargetClaim, 'test-dtc');
    },
  ],
  [
    'another binder bound it, and its claim was deleted unseen',
    async (w: ClaimWorld) => {
      await leaveNoTrace(w);
      await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
      await w.delete(DeploymentTargetClaim, 'test-dtc');
    },
  ],
  [
    'another binder bound it, and its claim, which it names, was deleted unseen',
    async (w: ClaimWorld) => {
      await w.stop();
      await w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [CLAIM_UID]: null } } });
      await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
      await w.delete(DeploymentTargetClaim, 'test-dtc');
    },
  ],
  [
    'the same claim had it before',
    async (w: ClaimWorld) => {
      const { uid } = dtc(w)!.metadata;
      await w.patch(DeploymentTarget, KEPT, { metadata: { annotations: { [LAST_CLAIM]: uid } } });
      await w.settle();
      await w.delete(DeploymentTargetClaim, 'test-dtc');
    },
  ],
])('credentials are issued again when a target is released, even if %s', async (_what, release) => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'kept', 'offshoot.dev/namespace'));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'kept' }));
  await w.settle();
  await release(w);
  const before = tokens(w);
  await w.settle();
  expect([dt(w, KEPT)?.status?.phase, tokens(w).length, tokens(w)[0] === before[0]]).toEqual(['Released', 1, false]);
});

test('credentials are issued again if another binder released the target, and it is made available at once', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'kept', 'offshoot.dev/namespace'));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'kept' }));
  await w.settle();
  await w.stop();
  const before = tokens(w);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.patch(DeploymentTarget, KEPT, { spec: { claimRef: '' } });
  await w.status(DeploymentTarget, KEPT, { phase: 'Released' });
  await makeAvailable(w);
  await w.settle();
  expect([dt(w, KEPT)?.status?.phase, tokens(w).length, tokens(w)[0] === before[0]]).toEqual(['Available', 1, false]);
});

test('a target without a trace of its claim is not edited again and again while its status is refused', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'kept', 'offshoot.dev/namespace'));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'kept' }));
  await w.settle();
  await leaveNoTrace(w);
  await w.patch(DeploymentTargetClaim, 'test-dtc', { metadata: { finalizers: null } });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  const { length } = w.api.writes;
  let refusals = 0;
  w.api.intercept = ({ kind, subresource }) => {
    if (kind !== 'DeploymentTarget' || subresource !== 'status' || refusals === 5) return;
    refusals++;
    throw new ApiError('refused', { code: 403, reason: 'Forbidden' });
  };
  for (let minute = 0; minute < 5; minute++) {
    await w.settle();
    await w.clock.advance(60_000);
  }
  await w.settle();
  expect([refusals, dt(w, KEPT)?.status?.phase]).toEqual([5, 'Released']);
  // Once for the trace, and once to release it.
  const edits = w.api.writes
    .slice(length)
    .filter(({ kind, subresource }) => kind === 'DeploymentTarget' && !subresource);
  expect(edits.length).toBe(2);
});

test('no claim gets the target before its credentials are rotated', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain', 'kept', 'offshoot.dev/namespace'));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'kept' }));
  await w.settle();
  await w.stop();
  // The controller that recreates the account does not run.
  const slow = w.with(targets().filter(({ name }) => name !== 'namespace-targets'));
  await slow.delete(DeploymentTargetClaim, 'test-dtc');
  await slow.settle();
  await makeAvailable(slow);
  await slow.settle();
  expect(dt(slow, KEPT)?.status?.phase).toBe('Released');
  await slow.stop();
  await w.settle();
  expect(dt(w, KEPT)?.status?.phase).toBe('Available');
});

test('credentials that others issued are not rotated, and the target becomes available without waiting', async () => {
  const w = await runningWithoutSpaces().have(targetClass('Retain'), claim());
  await w.settle();
  const [request] = w.api.all(SpaceRequest).values();
  await w.have({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'key', namespace: 'test-ns' },
    data: { kubeconfig: 'eA==' },
  } as KubeObject);
  await w.status(SpaceRequest, request!.metadata.name, {
    targetClusterURL: 'https://api',
    namespaceAccess: [{ name: 'place', secretRef: 'key' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'Provisioned' }],
  });
  await w.settle();
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await w.settle();
  await makeAvailable(w);
  await w.settle();
  expect([dt(w, KEPT)?.status?.phase, tokens(w), w.api.all(Namespace).size]).toEqual(['Available', ['eA=='], 0]);
});
