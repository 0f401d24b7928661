import { describe, expect, test } from 'vitest';
import { ManagedEnvironment } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, Environment } from '../../api/targets.ts';
import type { Plan } from '../../controller/index.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { planEnvironment } from './environment.ts';
import { planManagedEnvironment } from './managed-environments.ts';
import { Namespace, Secret } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import { ago, conditionsIn, object, planIn, shown } from '../testing/planning.ts';

const MANAGED = 'managed-gitops.redhat.com/managed-environment';
const BY_CLAIM = { configuration: { target: { deploymentTargetClaim: { claimName: 'claim' } } } };
const DIRECT = {
  unstableConfigurationFields: {
    kubernetesCredentials: {
      targetNamespace: 'x',
      apiURL: 'https://own',
      clusterCredentialsSecret: 'key',
      allowInsecureSkipTLSVerify: true,
    },
  },
};

const environment = (spec: object, status?: object, meta: Partial<ObjectMeta> = {}): Environment =>
  object(Environment, 'prod', { spec: { displayName: 'x', deploymentStrategy: 'Manual', ...spec }, status }, meta);

const claim = (phase = 'Bound', targetName = 'dt'): DeploymentTargetClaim =>
  object(DeploymentTargetClaim, 'claim', {
    spec: { deploymentTargetClassName: '', ...(targetName && { targetName }) },
    status: { phase },
  });

const target = (credentials: object = {}, claimRef = 'claim', name = 'dt'): DeploymentTarget =>
  object(DeploymentTarget, name, {
    spec: {
      deploymentTargetClassName: '',
      claimRef,
      kubernetesCredentials: {
        defaultNamespace: 'place',
        apiURL: 'https://api',
        clusterCredentialsSecret: 'key',
        ...credentials,
      },
    },
  });

const secret = (type = 'Opaque', name = 'key', labels: Record<string, string> = {}): Secret =>
  object(Secret, name, { type, data: { kubeconfig: 'eA==' } }, { labels });
const copy = secret(MANAGED, 'managed-environment-secret-prod', {
  'appstudio.openshift.io/environment-secret': 'prod',
});

function managed(spec: object, apiVersion = 'appstudio.redhat.com/v1alpha1'): ManagedEnvironment {
  const ownerReferences = [{ apiVersion, kind: 'Environment', name: 'prod', uid: 'uid-of-prod' }];
  return object(ManagedEnvironment, 'managed-environment-prod', { spec }, { ownerReferences });
}

function plan(it: Environment, others: readonly KubeObject[], settings = {}): Plan {
  return planIn([it, ...others], (view) => planEnvironment(view, it, { ...defaultSettings, ...settings }));
}

const specIn = (planned: Plan, position = 0): unknown => {
  const step = planned.steps?.[position];
  return step?.do === 'edit' ? step.to : step?.object;
};

describe('an environment with credentials of its own', () => {
  test('gets a managed environment with them, and no conditions', () => {
    const planned = plan(environment(DIRECT), [secret()]);
    expect(shown(planned)).toEqual(['make GitOpsDeploymentManagedEnvironment team/managed-environment-prod']);
    expect(specIn(planned)).toMatchObject({
      metadata: {
        ownerReferences: [
          { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Environment', name: 'prod', uid: 'uid-of-prod' },
        ],
      },
      spec: { apiURL: 'https://own', credentialsSecret: 'key', allowInsecureSkipTLSVerify: true },
    });
    expect(planned.status).toBeUndefined();
  });

  test('overwrites a stale managed environment, and removes fields that it no longer sets', () => {
    const stale = managed({
      apiURL: 'https://old',
      credentialsSecret: 'key',
      allowInsecureSkipTLSVerify: true,
      namespaces: ['a'],
    });
    expect(shown(plan(environment(DIRECT), [secret(), stale]))).toEqual([
      'edit GitOpsDeploymentManagedEnvironment team/managed-environment-prod {"spec":{"apiURL":"https://own","namespaces":null}}',
    ]);
    const current = managed({ apiURL: 'https://own', credentialsSecret: 'key', allowInsecureSkipTLSVerify: true });
    expect(shown(plan(environment(DIRECT), [secret(), current]))).toEqual([]);
  });

  test('corrects an owner reference that the garbage collector could not follow', () => {
    const spec = { apiURL: 'https://own', credentialsSecret: 'key', allowInsecureSkipTLSVerify: true };
    const [step] = plan(environment(DIRECT), [secret(), managed(spec, 'managed-gitops.redhat.com/v1alpha1')]).steps!;
    expect(step).toHaveProperty('to.metadata.ownerReferences', [
      { apiVersion: 'appstudio.redhat.com/v1alpha1', kind: 'Environment', name: 'prod', uid: 'uid-of-prod' },
    ]);
  });
});

describe('an environment with a claim', () => {
  test('gets a copy of the Secret and a managed environment that uses it', () => {
    const planned = plan(environment(BY_CLAIM), [claim(), target(), secret()]);
    expect(shown(planned)).toEqual([
      'own Secret team/managed-environment-secret-prod',
      'make GitOpsDeploymentManagedEnvironment team/managed-environment-prod',
    ]);
    expect(specIn(planned)).toMatchObject({
      type: MANAGED,
      data: { kubeconfig: 'eA==' },
      metadata: {
        labels: { 'appstudio.openshift.io/environment-secret': 'prod' },
        ownerReferences: [
          { apiVersion: 'appstudio.redhat.com/v1alpha1', name: 'prod', uid: 'uid-of-prod', controller: true },
        ],
      },
    });
    expect(specIn(planned, 1)).toMatchObject({
      spec: {
        apiURL: 'https://api',
        credentialsSecret: 'managed-environment-secret-prod',
        allowInsecureSkipTLSVerify: false,
        namespaces: ['place'],
      },
    });
    expect(planned.status).toBeUndefined();
  });

  test('sets no namespaces if the target has none', () => {
    const planned = plan(environment(BY_CLAIM), [claim(), target({ defaultNamespace: '' }), secret()]);
    expect(specIn(planned, 1)).not.toHaveProperty('spec.namespaces');
  });

  test('uses a Secret of the right type directly, and deletes a copy', () => {
    const planned = plan(environment(BY_CLAIM), [claim(), target(), secret(MANAGED), copy]);
    expect(shown(planned)).toEqual([
      'make GitOpsDeploymentManagedEnvironment team/managed-environment-prod',
      'remove Secret team/managed-environment-secret-prod',
    ]);
    expect(specIn(planned)).toHaveProperty('spec.credentialsSecret', 'key');
  });

  test.each([
    ['Pending', 'DeploymentTargetClaimPending: the claim is not bound to a target yet'],
    ['Lost', 'DeploymentTargetClaimLost: the claim has lost its target'],
  ])('in phase %s reports it, and keeps its objects', (phase, condition) => {
    const world = [claim(phase), managed({}), copy];
    const planned = plan(environment(BY_CLAIM), world);
    expect([shown(planned), conditionsIn(planned)]).toEqual([[], [`Bound=False ${condition}`]]);
    expect(plan(environment(BY_CLAIM), world, { unboundCondition: false }).status).toBeUndefined();
    expect(shown(plan(environment(BY_CLAIM), world, { removeUnbound: true }))).toHaveLength(2);
  });

  test('removes the condition Bound once the claim is bound', () => {
    const waiting = plan(environment(BY_CLAIM), [claim('Pending')]);
    const next = environment(BY_CLAIM, waiting.status);
    expect(plan(next, [claim(), target(), secret()]).status).toEqual({ conditions: [] });
  });

  test('with an empty name is treated as one without a claim', () => {
    const empty = { configuration: { target: { deploymentTargetClaim: { claimName: '' } } } };
    expect(shown(plan(environment(empty), [secret()]))).toEqual([]);
    expect(shown(plan(environment({ ...empty, ...DIRECT }), [secret()]))).toHaveLength(1);
  });
});

describe('the conditions of an environment', () => {
  test.each([
    [
      'both a claim and credentials',
      { ...BY_CLAIM, ...DIRECT },
      [],
      'InvalidEnvironment',
      'Environment is invalid since it cannot have both DeploymentTargetClaim and credentials configuration set',
    ],
    [
      'no claim',
      BY_CLAIM,
      [],
      'DeploymentTargetClaimNotFound',
      'DeploymentTargetClaim not found while generating the desired Environment resource',
    ],
    [
      'no target that refers to the claim',
      BY_CLAIM,
      [claim('Bound', '')],
      'DeploymentTargetNotFound',
      'DeploymentTarget not found for DeploymentTargetClaim',
    ],
    [
      'no target with the given name',
      BY_CLAIM,
      [claim()],
      'DeploymentTargetNotFound',
      'DeploymentTargetClaim references a DeploymentTarget that does not exist',
    ],
    [
      'a target of another claim',
      BY_CLAIM,
      [claim(), target({}, 'other')],
      'DeploymentTargetNotFound',
      'Unable to find the DeploymentTarget for DeploymentTargetClaim',
    ],
    [
      'two targets',
      BY_CLAIM,
      [claim('Bound', ''), target(), target({}, 'claim', 'dt-2')],
      'DeploymentTargetNotFound',
      'Unable to find the DeploymentTarget for DeploymentTargetClaim',
    ],
    ['no Secret', DIRECT, [], 'SecretNotFound', 'the secret key referenced by the Environment resource was not found'],
    [
      'another Secret with the name of the copy',
      BY_CLAIM,
      [claim(), target(), secret(), secret('Opaque', 'managed-environment-secret-prod')],
      'InvalidEnvironment',
      'the secret managed-environment-secret-prod exists already and was not created for this Environment: delete it or rename it',
    ],
  ])('report a problem: %s', (_what, spec, others, reason, message) => {
    const planned = plan(environment(spec), others);
    expect(shown(planned)).toEqual([]);
    expect(conditionsIn(planned)).toEqual([
      `ErrorOccurred=True ErrorOccurred: ${message}`,
      `Reconciled=False ${reason}: ${message}`,
    ]);
    expect(planned.events).toEqual([{ type: 'Warning', reason, note: message }]);
    expect(plan(environment(spec, planned.status), others)).toEqual({ steps: [], status: planned.status, events: [] });
  });

  test('report a deleted claim, whose credentials are deleted while the managed environment is kept', () => {
    expect(shown(plan(environment(BY_CLAIM), [copy, managed({})]))).toEqual([
      'remove Secret team/managed-environment-secret-prod',
    ]);
  });

  test.each([
    ['the reason', { reason: 'Other' }],
    ['the message', { message: 'other' }],
    ['the status', { status: 'True' }],
  ])('are always two, replaced with a new time if %s differs', (_what, other) => {
    const old = {
      type: 'Reconciled',
      status: 'False',
      reason: 'SecretNotFound',
      message: 'the secret key referenced by the Environment resource was not found',
      lastTransitionTime: ago(60),
    };
    const at = (conditions: object[]) => plan(environment(DIRECT, { conditions }), []).status!.conditions!;
    expect(at([old]).map(({ type, status }) => [type, status])).toEqual([
      ['ErrorOccurred', 'True'],
      ['Reconciled', 'False'],
    ]);
    expect(at([old])[1]).toEqual(old);
    expect(at([{ ...old, ...other }])[1]).toEqual({ ...old, lastTransitionTime: ago(0) });
  });

  test('come before the conditions of others, which are kept', () => {
    const theirs = { type: 'Approved', status: 'True', reason: 'ByHand', message: '', lastTransitionTime: ago(60) };
    const at = (others: KubeObject[]) =>
      plan(environment(DIRECT, { conditions: [theirs] }), others).status?.conditions?.map(({ type }) => type);
    expect(at([])).toEqual(['ErrorOccurred', 'Reconciled', 'Approved']);
    expect(at([secret()])).toEqual(['Approved']);
  });

  test('report a deleted Secret, whose copy is deleted too', () => {
    expect(shown(plan(environment(BY_CLAIM), [claim(), target(), copy, managed({})]))).toEqual([
      'remove Secret team/managed-environment-secret-prod',
    ]);
  });

  test('report nothing new while the target is being deleted, whose Secret goes first', () => {
    const kept = target();
    const ending = { ...kept, metadata: { ...kept.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(plan(environment(BY_CLAIM), [claim(), ending, copy])).toEqual({});
  });

  test('report a solved problem as resolved, with the time at which it occurred', () => {
    const failed = planIn(
      [],
      (view) => planEnvironment(view, environment(DIRECT), defaultSettings),
      Date.parse(ago(60)),
    );
    const solved = plan(environment(DIRECT, failed.status), [secret()]);
    expect(solved.status?.conditions).toEqual([
      {
        type: 'ErrorOccurred',
        status: 'False',
        reason: 'ErrorOccurredResolved',
        message: '',
        lastTransitionTime: ago(60),
      },
      {
        type: 'Reconciled',
        status: 'True',
        reason: 'SecretNotFoundResolved',
        message: '',
        lastTransitionTime: ago(60),
      },
    ]);
    expect(plan(environment(DIRECT, solved.status), [secret()]).status).toEqual(solved.status);
    const again = plan(environment(DIRECT, solved.status), []);
    expect(conditionsIn(again)[1]).toContain('Reconciled=False SecretNotFound: ');
    expect(again.status?.conditions?.[1]).toHaveProperty('lastTransitionTime', ago(0));
  });
});

describe('an object that is no longer needed', () => {
  test('is deleted when the environment no longer refers to a target', () => {
    expect(shown(plan(environment({}), [managed({}), copy]))).toEqual([
      'remove GitOpsDeploymentManagedEnvironment team/managed-environment-prod',
      'remove Secret team/managed-environment-secret-prod',
    ]);
    const theirs = object(ManagedEnvironment, 'managed-environment-prod', { spec: {} });
    expect(shown(plan(environment({}), [theirs]))).toEqual([]);
  });

  test('is left alone while the environment or its namespace is being deleted', () => {
    const going = { deletionTimestamp: ago(1) };
    expect(plan(environment({}, undefined, going), [managed({})])).toEqual({});
    expect(plan(environment({}), [managed({}), object(Namespace, 'team', {}, going)])).toEqual({});
  });

  test.each([
    ['appstudio.redhat.com/v1alpha1', 1],
    ['managed-gitops.redhat.com/v1alpha1', 1],
    ['other.dev/v1', 0],
  ])('is deleted with its environment only if its owner has a known API version: %s', (version, removed) => {
    const it = managed({}, version);
    expect(shown(planIn([it], (view) => planManagedEnvironment(view, it)))).toHaveLength(removed);
    expect(shown(planIn([it, environment({})], (view) => planManagedEnvironment(view, it)))).toEqual([]);
  });
});
