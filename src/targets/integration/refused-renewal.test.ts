// Credentials that can't be issued again: nobody is told that a target is ready once they have expired, and what is refused
// beside them does not delay them.
import { expect, test } from 'vitest';
import { claim, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { dt, dtc, running } from '../../../test/support/running-claims.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { ApiError } from '../../kube/errors.ts';
import { TOKEN_EXPIRES } from '../../kube/index.ts';
import { verdictOf } from '../describe/state.ts';
import { targets } from '../index.ts';
import { MAKE_AVAILABLE, PROVISIONED_BY } from '../names.ts';
import { MADE_BY_LABEL } from '../namespaces/names.ts';
import { Namespace, ResourceQuota, Secret } from '../objects.ts';

const ALL = targets().map(({ name }) => name);
/** Tokens live for so long, and are renewed after two thirds. */
const LIFETIME = 3_600_000;
/** Longer than any delay between two tries. */
const STEP = 60_000;
const TARGET = 'test-dtc-dt';

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const readiness = (w: ClaimWorld) =>
  [dtc(w), dt(w, TARGET)].map((each) => each?.status?.conditions?.find(({ type }) => type === 'Ready'));
const placeOf = (w: ClaimWorld) => dt(w, TARGET)!.spec.kubernetesCredentials.defaultNamespace;
const expiry = (w: ClaimWorld) => {
  const [secret] = w.api.all(Secret).values();
  return Date.parse(secret!.metadata.annotations![TOKEN_EXPIRES]!);
};

async function boundTo(provisioner: string, policy: 'Delete' | 'Retain' = 'Delete'): Promise<ClaimWorld> {
  const w = running({ tokenLifetimeMs: LIFETIME }, ALL);
  w.api.now = () => w.clock.now();
  await w.have(namespace('test-ns'), namespace('offshoot-system'));
  const parameters = provisioner === 'offshoot.dev/namespace' ? { quota: { pods: '5' } } : {};
  await w.have(targetClass(policy, 'room', provisioner, parameters));
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'room' }));
  await pass(w, 2000);
  expect(readiness(w)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  return w;
}

/** Lets time pass, and then work end. */
async function pass(w: ClaimWorld, ms: number): Promise<void> {
  await w.settle();
  await w.clock.advance(ms);
  await w.settle();
}

function refuse(w: ClaimWorld, kind: string): void {
  w.api.intercept = ({ verb, kind: written }) => {
    if (written !== kind || verb === 'delete') return;
    throw new ApiError('refused', { code: 403, reason: 'Forbidden', status: { kind: 'Status', message: 'denied' } });
  };
}

test.each(['offshoot.dev/namespace', 'appstudio.redhat.com/devsandbox'])(
  'a target is not ready once its credentials have expired (%s)',
  async (provisioner) => {
    const w = await boundTo(provisioner);
    refuse(w, 'Secret');
    await pass(w, expiry(w) - w.clock.now() + 1000);
    const expired = {
      status: 'False',
      reason: 'CredentialsExpired',
      message: expect.stringContaining(' expired at 20'),
    };
    expect(readiness(w)).toMatchObject([expired, expired]);
    expect(verdictOf(dtc(w)!)).toEqual({ is: 'open' });
    w.api.intercept = () => {};
    await pass(w, STEP);
    expect(expiry(w)).toBeGreaterThan(w.clock.now());
    expect(readiness(w)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  },
);

test.each([
  ['its namespace lost the label of its provisioner', Namespace, placeOf, { labels: { [MADE_BY_LABEL]: null } }],
  [
    'it lost the annotation of its provisioner',
    DeploymentTarget,
    () => TARGET,
    { annotations: { [PROVISIONED_BY]: null } },
  ],
] as const)('a target says that its credentials have expired after %s', async (_what, kind, nameOf, metadata) => {
  const w = await boundTo('offshoot.dev/namespace');
  await w.patch(kind, nameOf(w), { metadata });
  await pass(w, expiry(w) - w.clock.now() - 1000);
  expect(readiness(w)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  await pass(w, 1000);
  const expired = { status: 'False', reason: 'CredentialsExpired', message: expect.stringContaining(' expired at 20') };
  expect(readiness(w)).toMatchObject([expired, expired]);
});

test('a claim gets a target in whose namespace a quota was refused, and says so', async () => {
  const w = await boundTo('offshoot.dev/namespace', 'Retain');
  refuse(w, 'ResourceQuota');
  await w.api.delete(ResourceQuota, { name: 'offshoot', namespace: placeOf(w) });
  await w.delete(DeploymentTargetClaim, 'test-dtc');
  await pass(w, STEP);
  await w.patch(DeploymentTarget, TARGET, { metadata: { annotations: { [MAKE_AVAILABLE]: 'true' } } });
  await w.have(claim('test-dtc', { deploymentTargetClassName: 'room' }));
  await pass(w, STEP);
  const failed = { status: 'False', reason: 'NamespaceFailed', message: expect.stringContaining('ResourceQuota') };
  expect([dtc(w)?.status?.phase, ...readiness(w)]).toMatchObject(['Bound', failed, failed]);
});

test('a missing Secret that cannot be made again is waited for', async () => {
  const w = await boundTo('offshoot.dev/namespace');
  refuse(w, 'Secret');
  await w.delete(Secret, dt(w, TARGET)!.spec.kubernetesCredentials.clusterCredentialsSecret);
  await pass(w, STEP);
  const missing = { status: 'False', reason: 'SecretNotFound', message: expect.stringContaining('denied') };
  expect(readiness(w)).toMatchObject([missing, missing]);
  expect(verdictOf(dtc(w)!)).toEqual({ is: 'open' });
  w.api.intercept = () => {};
  await pass(w, STEP);
  expect(readiness(w)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
});

test('a refused quota does not delay new credentials, and claim and target say that it was refused', async () => {
  const w = await boundTo('offshoot.dev/namespace');
  const before = expiry(w);
  refuse(w, 'ResourceQuota');
  await w.api.delete(ResourceQuota, { name: 'offshoot', namespace: placeOf(w) });
  await pass(w, before - w.clock.now() - 1000);
  expect(expiry(w)).toBeGreaterThan(before);
  const message = `namespace ${placeOf(w)}: ResourceQuota offshoot: denied`;
  const failed = { status: 'False', reason: 'NamespaceFailed', message };
  expect(readiness(w)).toMatchObject([failed, failed]);
  w.api.intercept = () => {};
  await pass(w, STEP);
  expect(readiness(w)).toMatchObject([{ status: 'True' }, { status: 'True' }]);
  expect(w.api.all(ResourceQuota).size).toBe(1);
});
