// Claims, targets, space requests and environments together, as users of the original controllers know them.
import { describe, expect, test } from 'vitest';
import { claim, errorOf, spaceRequest, target, targetClass } from '../../../test/support/claims.ts';
import type { ClaimWorld } from '../../../test/support/claims.ts';
import { dt, dtc, phases, runningWithoutSpaces } from '../../../test/support/running-claims.ts';
import { ManagedEnvironment, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { BIND_COMPLETE, DEVSANDBOX, PROVISIONER, TARGET_FINALIZER } from '../names.ts';
import { Secret } from '../objects.ts';

const requests = (w: ClaimWorld, name = 'test-dtc') =>
  [...w.api.all(SpaceRequest).values()].filter(
    ({ metadata }) => metadata.labels?.['appstudio.openshift.io/dtc'] === name,
  );

describe('binding', () => {
  test('works for a waiting claim and a later target that refers to it', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), claim());
    await w.settle();
    expect(dtc(w)?.metadata.annotations?.[PROVISIONER]).toBe(DEVSANDBOX);
    await w.have(target('test-dt', { claimRef: 'test-dtc' }));
    await w.settle();
    expect([...phases(w), errorOf(dtc(w)), errorOf(dt(w))]).toEqual(['Bound', 'Bound', '', '']);
    expect(dtc(w)?.metadata.annotations?.[BIND_COMPLETE]).toBe('true');
    expect(dt(w)?.metadata.finalizers).toEqual([TARGET_FINALIZER]);
  });

  test('works for a claim that names a target which is created later', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), claim('test-dtc', { targetName: 'test-dt' }));
    await w.settle();
    expect(dtc(w)?.status?.phase).toBe('Pending');
    await w.have(target());
    await w.settle();
    expect(phases(w)).toEqual(['Bound', 'Bound']);
  });

  test('gives a new claim a new target and leaves a bound pair alone', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), target(), claim());
    await w.settle();
    await w.have(target('new-dt'), claim('new-dtc'));
    await w.settle();
    expect([dtc(w, 'new-dtc')?.status?.phase, dtc(w, 'new-dtc')?.spec.targetName]).toEqual(['Bound', 'new-dt']);
    expect([...phases(w), dtc(w)?.spec.targetName]).toEqual(['Bound', 'Bound', 'test-dt']);
  });

  test('releases the target of a deleted claim with Retain', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), target(), claim());
    await w.settle();
    await w.delete(DeploymentTargetClaim, 'test-dtc');
    await w.settle();
    expect(phases(w)).toEqual([undefined, 'Released']);
  });

  test('marks the claim of a deleted target as Lost', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), target(), claim());
    await w.settle();
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(phases(w)).toEqual(['Lost', undefined]);
  });
});

describe('the targets of space requests', () => {
  const ready = {
    targetClusterURL: 'https://api',
    namespaceAccess: [{ name: 'place', secretRef: 'key' }],
    conditions: [{ type: 'Ready', status: 'True', reason: 'Provisioned' }],
  };
  const made = (w: ClaimWorld) => w.api.all(DeploymentTarget).size;

  test('include one target for a ready request', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete'), claim());
    await w.settle();
    await w.status(SpaceRequest, requests(w)[0]!.metadata.name, ready);
    await w.settle();
    expect([made(w), dtc(w)?.status?.phase]).toEqual([1, 'Bound']);
  });

  test('include no second one if a target already refers to the claim', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete'), claim());
    await w.settle();
    await w.have(target('theirs', { claimRef: 'test-dtc' }));
    await w.status(SpaceRequest, requests(w)[0]!.metadata.name, ready);
    await w.settle();
    expect([made(w), dtc(w)?.spec.targetName]).toEqual([1, 'theirs']);
  });

  test('include none for a request of a claim that does not exist', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), {
      ...spaceRequest('sr', { 'appstudio.openshift.io/dtc': 'wrong' }),
      status: ready,
    });
    await w.settle();
    expect(made(w)).toBe(0);
  });
});

describe('the space requests of claims', () => {
  test('include one request for a claim of a sandbox class, which is marked', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete'), claim());
    await w.settle();
    expect([dtc(w)?.metadata.annotations?.[PROVISIONER], requests(w).length]).toEqual([DEVSANDBOX, 1]);
  });

  test('include one request for each claim, whatever other claims have', async () => {
    const w = await runningWithoutSpaces().have(
      targetClass('Retain'),
      spaceRequest('sr', { 'appstudio.openshift.io/dtc': 'other' }),
      claim(),
    );
    await w.settle();
    expect(requests(w)).toHaveLength(1);
  });

  test('include none for a claim of another provisioner, which is marked for that', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Delete', undefined, 'non-sandbox'), claim());
    await w.settle();
    await w.clock.advance(60_000);
    await w.settle();
    expect([dtc(w)?.metadata.annotations?.[PROVISIONER], requests(w)]).toEqual(['non-sandbox', []]);
  });
});

describe('an environment', () => {
  const environment = (spec: object): KubeObject & { spec: object } => ({
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'Environment',
    metadata: { name: 'my-env', namespace: 'test-ns' },
    spec: { displayName: 'mine', deploymentStrategy: 'Manual', ...spec },
  });
  const secret: KubeObject & { type: string; data: object } = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'test-secret', namespace: 'test-ns' },
    type: 'Opaque',
    data: { kubeconfig: 'eA==' },
  };
  const byClaim = { configuration: { target: { deploymentTargetClaim: { claimName: 'test-dtc' } } } };
  const kubernetesCredentials = {
    targetNamespace: 'my-namespace',
    apiURL: 'https://own',
    clusterCredentialsSecret: 'test-secret',
    allowInsecureSkipTLSVerify: false,
  };
  const direct = { unstableConfigurationFields: { kubernetesCredentials } };
  const env = (w: ClaimWorld) => w.get(Environment, 'my-env');
  const managed = (w: ClaimWorld) => w.get(ManagedEnvironment, 'managed-environment-my-env');
  const copy = (w: ClaimWorld) => w.get(Secret, 'managed-environment-secret-my-env');
  const conditionsOf = (w: ClaimWorld) =>
    (env(w)?.status?.conditions ?? []).map(({ type, status, reason }) => [type, status, reason]);

  /** Waits until a missing object is reported, which takes some seconds. */
  async function settleForGood(w: ClaimWorld): Promise<void> {
    await w.settle();
    await w.clock.advance(5000);
    await w.settle();
  }

  test('reports a missing claim', async () => {
    const w = await runningWithoutSpaces().have(environment(byClaim));
    await settleForGood(w);
    expect(conditionsOf(w)).toEqual([
      ['ErrorOccurred', 'True', 'ErrorOccurred'],
      ['Reconciled', 'False', 'DeploymentTargetClaimNotFound'],
    ]);
  });

  test('reports that it cannot have both a claim and credentials', async () => {
    const w = await runningWithoutSpaces().have(environment({ ...byClaim, ...direct }));
    await w.settle();
    expect(conditionsOf(w)[1]).toEqual(['Reconciled', 'False', 'InvalidEnvironment']);
  });

  test('updates its managed environment from its credentials, removes fields, and gets no condition', async () => {
    const w = await runningWithoutSpaces().have(secret, environment(direct));
    await w.settle();
    for (const change of [
      { allowInsecureSkipTLSVerify: true },
      { namespaces: ['a', 'b'], clusterResources: true },
      { namespaces: null, clusterResources: null, allowInsecureSkipTLSVerify: false },
    ]) {
      await w.patch(Environment, 'my-env', {
        spec: { unstableConfigurationFields: { kubernetesCredentials: change } },
      });
      await w.settle();
      const { allowInsecureSkipTLSVerify, namespaces, clusterResources } =
        env(w)!.spec.unstableConfigurationFields!.kubernetesCredentials!;
      expect(managed(w)?.spec).toEqual({
        apiURL: 'https://own',
        credentialsSecret: 'test-secret',
        allowInsecureSkipTLSVerify,
        ...(namespaces && { namespaces }),
        ...(clusterResources && { clusterResources }),
      });
    }
    await w.clock.advance(20_000);
    await w.settle();
    expect(env(w)?.status).toBeUndefined();
  });

  test.each([
    ['with', 'my-namespace', ['my-namespace']],
    ['without', '', undefined],
  ])('works for a target %s a namespace whose class does not exist', async (_what, defaultNamespace, namespaces) => {
    const credentials = { ...target().spec.kubernetesCredentials, defaultNamespace };
    const w = await runningWithoutSpaces().have(
      secret,
      target('test-dt', { kubernetesCredentials: credentials }),
      claim(),
      environment(byClaim),
    );
    await w.settle();
    expect([...phases(w), errorOf(dt(w))]).toEqual(['Bound', 'Bound', '']);
    expect(managed(w)?.spec.namespaces).toEqual(namespaces);
    expect(env(w)?.status?.conditions ?? []).toEqual([]);
  });

  async function deployed(): Promise<ClaimWorld> {
    const w = await runningWithoutSpaces().have(secret, target(), claim(), environment(byClaim));
    await w.settle();
    const type = 'managed-gitops.redhat.com/managed-environment';
    expect(copy(w)).toMatchObject({ type, data: { kubeconfig: 'eA==' } });
    return w;
  }

  test('updates, repairs and deletes its copy of the Secret', async () => {
    const w = await deployed();
    await w.patch(Secret, 'test-secret', { data: { kubeconfig: 'eQ==' } });
    await w.settle();
    expect(copy(w)?.data).toEqual({ kubeconfig: 'eQ==' });
    await w.patch(Secret, 'managed-environment-secret-my-env', { data: { kubeconfig: 'eA==' } });
    await w.settle();
    expect(copy(w)?.data).toEqual({ kubeconfig: 'eQ==' });
    await w.delete(Secret, 'test-secret');
    await settleForGood(w);
    expect([copy(w), conditionsOf(w)[1]]).toEqual([undefined, ['Reconciled', 'False', 'SecretNotFound']]);
    await w.have(secret);
    await w.settle();
    expect([copy(w)?.data, conditionsOf(w)[1]]).toEqual([
      { kubeconfig: 'eA==' },
      ['Reconciled', 'True', 'SecretNotFoundResolved'],
    ]);
  });

  test('updates its managed environment from the credentials of the target', async () => {
    const w = await deployed();
    await w.patch(DeploymentTarget, 'test-dt', {
      spec: { kubernetesCredentials: { apiURL: 'https://moved', defaultNamespace: 'new' } },
    });
    await w.settle();
    expect(managed(w)?.spec).toMatchObject({ apiURL: 'https://moved', namespaces: ['new'] });
  });

  test('is deleted with its managed environment', async () => {
    const w = await deployed();
    await w.delete(Environment, 'my-env');
    await w.settle();
    expect(managed(w)).toBeUndefined();
  });

  test('reports that it waits for its claim, and nothing else, until the claim is bound', async () => {
    const w = await runningWithoutSpaces().have(targetClass('Retain'), secret, claim(), environment(byClaim));
    await w.settle();
    expect(conditionsOf(w)).toEqual([['Bound', 'False', 'DeploymentTargetClaimPending']]);
    await w.have(target('test-dt', { claimRef: 'test-dtc' }));
    await w.settle();
    expect([conditionsOf(w), managed(w)?.spec.apiURL]).toEqual([[], 'https://api-url/api']);
    await w.delete(DeploymentTarget, 'test-dt');
    await w.settle();
    expect(conditionsOf(w).at(-1)).toEqual(['Bound', 'False', 'DeploymentTargetClaimLost']);
    expect(managed(w)).toBeDefined();
  });

  test('deletes what was made for it once it no longer refers to a target', async () => {
    const w = await deployed();
    await w.patch(Environment, 'my-env', { spec: { configuration: null } });
    await w.settle();
    expect([managed(w), copy(w)]).toEqual([undefined, undefined]);
  });
});
