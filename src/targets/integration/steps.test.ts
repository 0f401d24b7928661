// The claim system as its design tells it, step by step. Nobody manages space requests here: the tests do.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { ManagedEnvironment, Space, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import {
  BIND_COMPLETE,
  BOUND_BY_CONTROLLER,
  DEVSANDBOX,
  PROVISIONED_BY,
  PROVISIONER,
  TARGET_FINALIZER,
  TOOLCHAIN_FINALIZER,
} from '../names.ts';
import type { Settings } from '../settings.ts';

const CLASS = 'test-isolation-level-namespace';
const wanted = { deploymentTargetClassName: CLASS };
const environment: KubeObject & { spec: unknown } = {
  apiVersion: 'appstudio.redhat.com/v1alpha1',
  kind: 'Environment',
  metadata: { name: 'my-env', namespace: 'test-ns' },
  spec: {
    displayName: 'mine',
    deploymentStrategy: 'Manual',
    configuration: { target: { deploymentTargetClaim: { claimName: 'staging-dtc' } } },
  },
};
const credentials: KubeObject & { type: string; data: unknown } = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'my-secret', namespace: 'test-ns' },
  type: 'Opaque',
  data: { kubeconfig: 'eA==' },
};

const dtc = (w: ClaimWorld) => w.get(DeploymentTargetClaim, 'staging-dtc');
const dt = (w: ClaimWorld) => w.get(DeploymentTarget, 'staging-dtc-dt');
const sr = (w: ClaimWorld) => [...w.api.all(SpaceRequest).values()][0] as SpaceRequest | undefined;

async function say(w: ClaimWorld, status: string, reason: string, more: object = {}): Promise<ClaimWorld> {
  const conditions = [{ type: 'Ready', status, reason }];
  await w.status(SpaceRequest, sr(w)!.metadata.name, { ...more, conditions });
  return w.settle();
}

/** Steps 0 to 5: a class, a claim and an environment, and a request that is ready. */
async function requested(policy: 'Delete' | 'Retain', settings: Partial<Settings> = {}): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces(settings).have(targetClass(policy, CLASS), claim('staging-dtc', wanted));
  await w.have(environment, credentials);
  return w.settle();
}

/** Steps 0 to 9. */
async function bound(policy: 'Delete' | 'Retain', settings: Partial<Settings> = {}): Promise<ClaimWorld> {
  const w = await requested(policy, settings);
  await w.patch(SpaceRequest, sr(w)!.metadata.name, { metadata: { finalizers: [TOOLCHAIN_FINALIZER] } });
  const namespaceAccess = [{ name: 'new-namespace', secretRef: 'my-secret' }];
  await say(w, 'True', 'Provisioned', { targetClusterURL: 'https://api-url', namespaceAccess });
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  return w;
}

/** The request may go. */
async function letGo(w: ClaimWorld): Promise<ClaimWorld> {
  await w.patch(SpaceRequest, sr(w)!.metadata.name, { metadata: { finalizers: null } });
  return w.settle();
}

describe('from a class to a place to deploy to', () => {
  test('steps 0 to 4: the claim is marked and waits, with a request named after it', async () => {
    const w = await requested('Delete');
    expect(dtc(w)?.status?.phase).toBe('Pending');
    expect(dtc(w)?.metadata.annotations).toEqual({ [PROVISIONER]: DEVSANDBOX });
    expect(sr(w)?.metadata.name).toMatch(/^staging-dtc-/);
    expect(sr(w)?.metadata.labels).toEqual({ 'appstudio.openshift.io/dtc': 'staging-dtc' });
    expect(sr(w)?.spec).toEqual({ tierName: 'appstudio-env', targetClusterRoles: [] });
    expect(w.api.all(Space).size).toBe(0);
    expect(w.api.all(ManagedEnvironment).size).toBe(0);
  });

  test('with the other annotation: the mark is the name of the class, and the request comes all the same', async () => {
    const w = await requested('Delete', { provisionerAnnotation: 'class' });
    expect(dtc(w)?.metadata.annotations).toEqual({ [PROVISIONER]: CLASS });
    expect(sr(w)?.metadata.labels).toEqual({ 'appstudio.openshift.io/dtc': 'staging-dtc' });
  });

  test('steps 5 to 8: the target says what the request does, and both are bound', async () => {
    const w = await bound('Delete');
    expect(dt(w)?.metadata.annotations).toMatchObject({ [PROVISIONED_BY]: DEVSANDBOX });
    expect(dt(w)?.metadata.labels).toEqual({ [PROVISIONER]: CLASS });
    expect(dt(w)?.metadata.finalizers).toEqual([TARGET_FINALIZER]);
    expect(dt(w)?.spec).toEqual({
      deploymentTargetClassName: CLASS,
      claimRef: 'staging-dtc',
      kubernetesCredentials: {
        defaultNamespace: 'new-namespace',
        apiURL: 'https://api-url',
        clusterCredentialsSecret: 'my-secret',
        allowInsecureSkipTLSVerify: false,
      },
    });
    expect(sr(w)?.metadata.labels).toMatchObject({ 'appstudio.openshift.io/dt': 'staging-dtc-dt' });
    expect(dtc(w)?.metadata.annotations).toMatchObject({ [BIND_COMPLETE]: 'true', [BOUND_BY_CONTROLLER]: 'true' });
    expect([errorOf(dtc(w)), errorOf(dt(w))]).toEqual(['', '']);
  });

  test('step 9: the environment has a managed environment with a copy of the Secret', async () => {
    const w = await bound('Delete');
    const managed = w.get(ManagedEnvironment, 'managed-environment-my-env');
    expect(managed?.metadata.ownerReferences).toMatchObject([{ kind: 'Environment', name: 'my-env' }]);
    expect(managed?.spec).toEqual({
      apiURL: 'https://api-url',
      credentialsSecret: 'managed-environment-secret-my-env',
      allowInsecureSkipTLSVerify: false,
      namespaces: ['new-namespace'],
    });
  });

  test('the reference of a new target is an object where that is set', async () => {
    const w = await bound('Delete', { claimRefShape: 'object' });
    expect(dt(w)?.spec.claimRef).toEqual({ name: 'staging-dtc' });
  });

  test('the provisioner does not write the status of the target', async () => {
    const w = await bound('Delete');
    const own = w.api.writes.findIndex(({ verb, kind }) => verb === 'create' && kind === 'DeploymentTarget');
    expect(own).toBeGreaterThan(-1);
    const managers = dt(w)?.metadata.managedFields?.filter((each) => each.subresource === 'status');
    expect(managers?.map(({ manager }) => manager).sort()).toEqual(['offshoot-binder', 'offshoot-reclaimer']);
  });
});

/** A target that was deleted while its request is stuck, after more than two minutes. */
async function failed(): Promise<ClaimWorld> {
  const w = await bound('Delete');
  await w.delete(DeploymentTarget, 'staging-dtc-dt');
  await w.settle();
  await say(w, 'False', 'UnableToTerminate');
  await w.clock.advance(150_000);
  await w.settle();
  expect(dt(w)?.status?.phase).toBe('Failed');
  return w;
}

describe('and back', () => {
  test('with Delete, claim, target and request go together, and none before the request may', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await say(w, 'False', 'Terminating');
    for (let s = 0; s < 10; s++) await w.clock.advance(1000);
    for (const each of [dtc(w), dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeDefined();
    expect(dt(w)?.status?.phase).toBe('Bound');
    await letGo(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });

  test('with eager deletion, the claim goes at once, while the request still holds the target', async () => {
    const w = await bound('Delete', { claimDeletion: 'eager' });
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    for (const each of [dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeDefined();
    await letGo(w);
    expect([dt(w), sr(w)]).toEqual([undefined, undefined]);
  });

  test('with Retain, target and request stay, released and free of the claim', async () => {
    const w = await bound('Retain');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await w.clock.advance(30_000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Released', '']);
    for (const each of [dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('a request that is stuck makes the target fail after two minutes, by its reason alone', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await say(w, 'False', 'Terminating');
    await w.clock.advance(180_000);
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Bound');
    await say(w, 'True', 'UnableToTerminate');
    expect(dt(w)?.status?.phase).toBe('Failed');
    expect(dtc(w)?.metadata.deletionTimestamp).toBeDefined();
    await letGo(w);
    expect([dtc(w), dt(w)]).toEqual([undefined, undefined]);
  });

  test('a target whose finalizers were taken off goes, and its claim stays', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTarget, 'staging-dtc-dt');
    await w.patch(DeploymentTarget, 'staging-dtc-dt', { metadata: { finalizers: null } });
    await w.settle();
    await w.clock.advance(30_000);
    await w.settle();
    expect(dt(w)).toBeUndefined();
    expect([dtc(w)?.metadata.deletionTimestamp, dtc(w)?.status?.phase]).toEqual([undefined, 'Lost']);
  });

  test('a failed target is looked at every 30 s, should nobody tell that the request is gone', async () => {
    const w = await failed();
    expect(w.clock.nextIn).toBeLessThanOrEqual(30_000);
  });

  test('a failed target stays so, whatever happens to its claim', async () => {
    const w = await failed();
    await w.patch(DeploymentTargetClaim, 'staging-dtc', { metadata: { labels: { touched: 'true' } } });
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Failed');
  });
});

describe('a claim that is deleted on the way leaves nothing', () => {
  test.each([
    ['while it waits for its request', async (w: ClaimWorld) => w],
    [
      'after its target was made and before it is bound',
      async (w: ClaimWorld) => {
        await w.have(
          target(
            'staging-dtc-dt',
            { ...wanted, claimRef: 'staging-dtc' },
            { annotations: { [PROVISIONED_BY]: DEVSANDBOX } },
          ),
        );
        return w;
      },
    ],
  ])('%s', async (_when, meanwhile) => {
    const w = await requested('Delete');
    await w.stop();
    await meanwhile(w);
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    if (sr(w) !== undefined) await letGo(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });
});

describe('deletions do not depend on the class', () => {
  test('of a claim', async () => {
    const w = await bound('Delete');
    await w.api.delete(DeploymentTargetClass, { name: CLASS });
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await letGo(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });

  test('of a target', async () => {
    const w = await bound('Delete');
    await w.api.delete(DeploymentTargetClass, { name: CLASS });
    await w.delete(DeploymentTarget, 'staging-dtc-dt');
    await w.settle();
    await letGo(w);
    expect([dt(w), sr(w), dtc(w)?.status?.phase]).toEqual([undefined, undefined, 'Lost']);
  });
});
