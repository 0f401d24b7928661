// The steps in the design of the claim system, one by one. No controller manages space requests here: the tests do.
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
const classSpec = { deploymentTargetClassName: CLASS };
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

async function setReady(w: ClaimWorld, status: string, reason: string, more: object = {}): Promise<ClaimWorld> {
  const conditions = [{ type: 'Ready', status, reason }];
  await w.status(SpaceRequest, sr(w)!.metadata.name, { ...more, conditions });
  return w.settle();
}

/** Steps 0 to 5: a class, a claim and an environment, and a request that is ready. */
async function requested(policy: 'Delete' | 'Retain', settings: Partial<Settings> = {}): Promise<ClaimWorld> {
  const w = await runningWithoutSpaces(settings).have(targetClass(policy, CLASS), claim('staging-dtc', classSpec));
  await w.have(environment, credentials);
  return w.settle();
}

/** Steps 0 to 9. */
async function bound(policy: 'Delete' | 'Retain', settings: Partial<Settings> = {}): Promise<ClaimWorld> {
  const w = await requested(policy, settings);
  await w.patch(SpaceRequest, sr(w)!.metadata.name, { metadata: { finalizers: [TOOLCHAIN_FINALIZER] } });
  const namespaceAccess = [{ name: 'new-namespace', secretRef: 'my-secret' }];
  await setReady(w, 'True', 'Provisioned', { targetClusterURL: 'https://api-url', namespaceAccess });
  expect([dtc(w)?.status?.phase, dt(w)?.status?.phase]).toEqual(['Bound', 'Bound']);
  return w;
}

/** Lets the space request be deleted. */
async function removeRequestFinalizer(w: ClaimWorld): Promise<ClaimWorld> {
  await w.patch(SpaceRequest, sr(w)!.metadata.name, { metadata: { finalizers: null } });
  return w.settle();
}

describe('provisioning', () => {
  test('steps 0 to 4: marks the claim, which waits, and makes a request named after it', async () => {
    const w = await requested('Delete');
    expect(dtc(w)?.status?.phase).toBe('Pending');
    expect(dtc(w)?.metadata.annotations).toEqual({ [PROVISIONER]: DEVSANDBOX });
    expect(sr(w)?.metadata.name).toMatch(/^staging-dtc-/);
    expect(sr(w)?.metadata.labels).toEqual({ 'appstudio.openshift.io/dtc': 'staging-dtc' });
    expect(sr(w)?.spec).toEqual({ tierName: 'appstudio-env', targetClusterRoles: [] });
    expect(w.api.all(Space).size).toBe(0);
    expect(w.api.all(ManagedEnvironment).size).toBe(0);
  });

  test('marks the claim with the name of the class when the older annotation is set, and makes the request', async () => {
    const w = await requested('Delete', { provisionerAnnotation: 'class' });
    expect(dtc(w)?.metadata.annotations).toEqual({ [PROVISIONER]: CLASS });
    expect(sr(w)?.metadata.labels).toEqual({ 'appstudio.openshift.io/dtc': 'staging-dtc' });
  });

  test('steps 5 to 8: makes a target from the request, and binds it and the claim', async () => {
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

  test('step 9: makes a managed environment with a copy of the Secret for the environment', async () => {
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

  test('makes the claimRef of a new target an object if that is set', async () => {
    const w = await bound('Delete', { claimRefShape: 'object' });
    expect(dt(w)?.spec.claimRef).toEqual({ name: 'staging-dtc' });
  });

  test('leaves the status of the target to binder and reclaimer', async () => {
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
  await setReady(w, 'False', 'UnableToTerminate');
  await w.clock.advance(150_000);
  await w.settle();
  expect(dt(w)?.status?.phase).toBe('Failed');
  return w;
}

describe('deleting', () => {
  test('a claim with Delete deletes target and request, and waits until the request is gone', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await setReady(w, 'False', 'Terminating');
    for (let s = 0; s < 10; s++) await w.clock.advance(1000);
    for (const each of [dtc(w), dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeDefined();
    expect(dt(w)?.status?.phase).toBe('Bound');
    await removeRequestFinalizer(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });

  test('a claim with eager deletion finishes at once, while the request still holds the target', async () => {
    const w = await bound('Delete', { claimDeletion: 'eager' });
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    for (const each of [dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeDefined();
    await removeRequestFinalizer(w);
    expect([dt(w), sr(w)]).toEqual([undefined, undefined]);
  });

  test('a claim with Retain keeps target and request, and releases the target', async () => {
    const w = await bound('Retain');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await w.clock.advance(30_000);
    await w.settle();
    expect(dtc(w)).toBeUndefined();
    expect([dt(w)?.status?.phase, dt(w)?.spec.claimRef]).toEqual(['Released', '']);
    for (const each of [dt(w), sr(w)]) expect(each?.metadata.deletionTimestamp).toBeUndefined();
  });

  test('a claim marks the target as Failed two minutes after the reason of the request says that it is stuck', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await setReady(w, 'False', 'Terminating');
    await w.clock.advance(180_000);
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Bound');
    await setReady(w, 'True', 'UnableToTerminate');
    expect(dt(w)?.status?.phase).toBe('Failed');
    expect(dtc(w)?.metadata.deletionTimestamp).toBeDefined();
    await removeRequestFinalizer(w);
    expect([dtc(w), dt(w)]).toEqual([undefined, undefined]);
  });

  test('a target whose finalizers were removed keeps its claim, which becomes Lost', async () => {
    const w = await bound('Delete');
    await w.delete(DeploymentTarget, 'staging-dtc-dt');
    await w.patch(DeploymentTarget, 'staging-dtc-dt', { metadata: { finalizers: null } });
    await w.settle();
    await w.clock.advance(30_000);
    await w.settle();
    expect(dt(w)).toBeUndefined();
    expect([dtc(w)?.metadata.deletionTimestamp, dtc(w)?.status?.phase]).toEqual([undefined, 'Lost']);
  });

  test('a Failed target is checked again every 30 s, in case no event says that the request is gone', async () => {
    const w = await failed();
    expect(w.clock.nextIn).toBeLessThanOrEqual(30_000);
  });

  test('a Failed target stays Failed, whatever happens to its claim', async () => {
    const w = await failed();
    await w.patch(DeploymentTargetClaim, 'staging-dtc', { metadata: { labels: { touched: 'true' } } });
    await w.settle();
    expect(dt(w)?.status?.phase).toBe('Failed');
  });
});

describe('a claim that is deleted before it is bound', () => {
  test.each([
    ['while it waits for its request', async (w: ClaimWorld) => w],
    [
      'after its target was made and before it is bound',
      async (w: ClaimWorld) => {
        await w.have(
          target(
            'staging-dtc-dt',
            { ...classSpec, claimRef: 'staging-dtc' },
            { annotations: { [PROVISIONED_BY]: DEVSANDBOX } },
          ),
        );
        return w;
      },
    ],
  ])('leaves nothing behind: %s', async (_when, meanwhile) => {
    const w = await requested('Delete');
    await w.stop();
    await meanwhile(w);
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    if (sr(w) !== undefined) await removeRequestFinalizer(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });
});

describe('a deletion after the class was deleted', () => {
  test('of a claim works', async () => {
    const w = await bound('Delete');
    await w.api.delete(DeploymentTargetClass, { name: CLASS });
    await w.delete(DeploymentTargetClaim, 'staging-dtc');
    await w.settle();
    await removeRequestFinalizer(w);
    expect([dtc(w), dt(w), sr(w)]).toEqual([undefined, undefined, undefined]);
  });

  test('of a target works', async () => {
    const w = await bound('Delete');
    await w.api.delete(DeploymentTargetClass, { name: CLASS });
    await w.delete(DeploymentTarget, 'staging-dtc-dt');
    await w.settle();
    await removeRequestFinalizer(w);
    expect([dt(w), sr(w), dtc(w)?.status?.phase]).toEqual([undefined, undefined, 'Lost']);
  });
});
