// Which changes trigger a reconcile. This is not configured: an object is planned again when anything that its plan
// read, or did not find, changes.
import { describe, expect, test } from 'vitest';
import { ManagedEnvironment, Space, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { Namespace, Secret } from '../objects.ts';
import { isWoken, object } from '../testing/planning.ts';

const controllers = targets();

/** Whether a change makes a controller plan its object again. */
function wakes(controller: string, it: KubeObject, others: readonly KubeObject[], change: KubeObject): boolean {
  const definition = controllers.find(({ name }) => name === controller)!;
  return isWoken([it, ...others], (view) => definition.plan(view, it), change);
}

const claim = (spec: object = {}, status: object = { phase: 'Pending' }, name = 'dtc'): DeploymentTargetClaim =>
  object(DeploymentTargetClaim, name, { spec: { deploymentTargetClassName: 'some', ...spec }, status });
const target = (spec: object = {}, name = 'dt'): DeploymentTarget =>
  object(DeploymentTarget, name, {
    spec: {
      deploymentTargetClassName: 'some',
      kubernetesCredentials: { defaultNamespace: 'place', apiURL: 'https://api', clusterCredentialsSecret: 'key' },
      ...spec,
    },
    status: { phase: 'Available' },
  });
const request = (labels: Record<string, string>): SpaceRequest =>
  object(SpaceRequest, 'sr', { spec: { tierName: 'appstudio-env' } }, { labels });
const secret = (name: string, type = 'Opaque', labels: Record<string, string> = {}): Secret =>
  object(Secret, name, { type, data: {} }, { labels });

describe('a claim is reconciled', () => {
  test.each([
    ['a free target of its class, even if it was created before', claim(), [], target()],
    ['a target that refers to it', claim(), [], target({ claimRef: 'dtc' })],
    ['the target that it names', claim({ targetName: 'dt' }), [], target()],
    ['a target that becomes available', claim(), [target()], target()],
    ['its class, when that is created', claim(), [], object(DeploymentTargetClass, 'some', { spec: {} })],
  ])('for %s', (_what, it, others, change) => {
    expect(wakes('binder', it, others, change)).toBe(true);
  });

  test.each([
    ['a target that it does not name', claim({ targetName: 'other' }), target()],
    ['an object of another kind', claim(), object(Namespace, 'elsewhere')],
  ])('not for %s', (_what, it, change) => {
    expect(wakes('binder', it, [object(DeploymentTargetClass, 'some', { spec: {} })], change)).toBe(false);
  });
});

describe('a target is reconciled', () => {
  const going = object(
    DeploymentTarget,
    'dt',
    { spec: { ...target().spec, claimRef: 'dtc' } },
    {
      deletionTimestamp: '2026-01-01T00:00:00Z',
      annotations: {
        'provisioner.appstudio.redhat.com/provisioned-by': 'appstudio.redhat.com/devsandbox',
        'dt.appstudio.redhat.com/reclaim-policy': 'Delete',
      },
    },
  );

  test.each([
    ['the request with its label', { 'appstudio.openshift.io/dt': 'dt' }],
    ['the request of its claim', { 'appstudio.openshift.io/dtc': 'dtc' }],
  ])('for %s', (_what, labels) => {
    expect(wakes('reclaimer', going, [claim()], request(labels))).toBe(true);
  });

  test.each([
    ['a request without labels', request({})],
    ['an object of another kind', object(Namespace, 'elsewhere')],
  ])('not for %s', (_what, change) => {
    expect(wakes('reclaimer', going, [claim()], change)).toBe(false);
  });

  test('for the claim that it refers to, even if that is created later', () => {
    expect(wakes('reclaimer', target({ claimRef: 'dtc' }), [], claim())).toBe(true);
    expect(wakes('reclaimer', target({ claimRef: 'dtc' }), [], claim({}, {}, 'other'))).toBe(false);
  });
});

test('a space request is reconciled for its claim and for its target', () => {
  const labels = { 'appstudio.openshift.io/dtc': 'dtc', 'appstudio.openshift.io/dt': 'dt' };
  expect(wakes('devsandbox-target', request(labels), [], claim())).toBe(true);
  expect(wakes('devsandbox-target', request(labels), [], target())).toBe(true);
  expect(wakes('devsandbox-target', request({}), [], claim())).toBe(false);
});

describe('an environment is reconciled', () => {
  const environment = (claimName: string, name = 'prod'): Environment =>
    object(Environment, name, {
      spec: {
        displayName: 'x',
        deploymentStrategy: 'Manual',
        configuration: { target: { deploymentTargetClaim: { claimName } } },
      },
    });
  const bound = [claim({ targetName: 'dt' }, { phase: 'Bound' }), target({ claimRef: 'dtc' })];
  const managed = 'managed-gitops.redhat.com/managed-environment';
  const copyLabel = { 'appstudio.openshift.io/environment-secret': 'prod' };
  const copyName = 'managed-environment-secret-prod';

  test.each<[string, string, readonly KubeObject[], KubeObject]>([
    ['its claim', 'dtc', [], claim()],
    ['the claim that another environment has too', 'dtc', [environment('dtc', 'other')], claim()],
    ['the target of its claim', 'dtc', bound, target({ claimRef: 'dtc' })],
    ['the Secret of that target, even if it was missing', 'dtc', bound, secret('key')],
    ['the copy that was made for it', 'dtc', [...bound, secret('key')], secret(copyName, managed, copyLabel)],
  ])('for %s', (_what, claimName, others, change) => {
    expect(wakes('target-environments', environment(claimName), others, change)).toBe(true);
  });

  test.each<[string, string, readonly KubeObject[], KubeObject]>([
    ['another claim', 'dtc', [], claim({}, {}, 'other')],
    ['an object of another kind', 'dtc', bound, object(Space, 'jane', { spec: {} })],
    ['another target', 'dtc', bound, target({}, 'other')],
    ['a Secret that it does not use', 'dtc', bound, secret('unrelated')],
    ['a request', 'dtc', bound, request({})],
    ['Secrets of other types', 'dtc', bound, secret('login', 'kubernetes.io/basic-auth')],
    ['any claim, when it names none', '', [], claim()],
  ])('not for %s', (_what, claimName, others, change) => {
    expect(wakes('target-environments', environment(claimName), others, change)).toBe(false);
  });

  test('for its own Secret, even if the claim of another environment is missing', () => {
    const others = [...bound, environment('missing', 'broken')];
    expect(wakes('target-environments', environment('dtc'), others, secret('key'))).toBe(true);
  });

  test.each([
    ['without an owner', [], false],
    ['with an owner of another API group', [{ apiVersion: 'other.dev/v1' }], false],
    ['with an owner of its own API group', [{ apiVersion: 'managed-gitops.redhat.com/v1alpha1' }], true],
    ['with an owner of the right API group', [{ apiVersion: 'appstudio.redhat.com/v1alpha1' }], true],
  ])('and triggers its managed environment %s: %s', (_what, owners, expected) => {
    const ownerReferences = owners.map((each) => ({ ...each, kind: 'Environment', name: 'prod', uid: 'uid' }));
    const it = object(ManagedEnvironment, 'managed-environment-prod', { spec: {} }, { ownerReferences });
    expect(wakes('managed-environments', it, [], environment('dtc'))).toBe(expected);
  });
});

describe('a space request is reconciled', () => {
  const it = request({});
  const home = object(Namespace, 'team');
  const space = (labels: Record<string, string>): Space =>
    object(Space, 'jane', { spec: {} }, { namespace: 'offshoot-system', labels });
  const of = 'toolchain.dev.openshift.com/spacerequest';

  test('for a space with both labels', () => {
    expect(wakes('space-requests', it, [home], space({ [of]: 'sr', [`${of}-namespace`]: 'team' }))).toBe(true);
  });

  test('not for a space with only one of them', () => {
    expect(wakes('space-requests', it, [home], space({ [of]: 'sr' }))).toBe(false);
    expect(wakes('space-requests', it, [home], space({ [`${of}-namespace`]: 'team' }))).toBe(false);
  });
});
