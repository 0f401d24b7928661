// What wakes whom. Nobody writes this down: a plan is made again when something changes that it looked at or looked for.
import { describe, expect, test } from 'vitest';
import { ManagedEnvironment, Space, SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass, Environment } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { targets } from '../index.ts';
import { Namespace, Secret } from '../objects.ts';
import { isWoken, object } from '../testing/planning.ts';

const controllers = targets();

/** Whether a change makes a controller plan one of its objects again. */
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

describe('a claim is looked at again for', () => {
  test.each([
    ['a free target of its class, though it was there before', claim(), [], target()],
    ['a target that refers to it', claim(), [], target({ claimRef: 'dtc' })],
    ['the target that it names', claim({ targetName: 'dt' }), [], target()],
    ['a target that becomes available', claim(), [target()], target()],
    ['its class, when that comes', claim(), [], object(DeploymentTargetClass, 'some', { spec: {} })],
  ])('%s', (_what, it, others, change) => {
    expect(wakes('binder', it, others, change)).toBe(true);
  });

  test.each([
    ['a target, where there is no claim for it', claim({ targetName: 'other' }), target()],
    ['an object of another kind', claim(), object(Namespace, 'elsewhere')],
  ])('but not for %s', (_what, it, change) => {
    expect(wakes('binder', it, [object(DeploymentTargetClass, 'some', { spec: {} })], change)).toBe(false);
  });
});

describe('a target is looked at again for', () => {
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
  ])('%s', (_what, labels) => {
    expect(wakes('reclaimer', going, [claim()], request(labels))).toBe(true);
  });

  test.each([
    ['a request without labels', request({})],
    ['an object of another kind', object(Namespace, 'elsewhere')],
  ])('but not for %s', (_what, change) => {
    expect(wakes('reclaimer', going, [claim()], change)).toBe(false);
  });

  test('the claim that it refers to, also when that only comes later', () => {
    expect(wakes('reclaimer', target({ claimRef: 'dtc' }), [], claim())).toBe(true);
    expect(wakes('reclaimer', target({ claimRef: 'dtc' }), [], claim({}, {}, 'other'))).toBe(false);
  });
});

test('a request is looked at again for its claim and for its target', () => {
  const labels = { 'appstudio.openshift.io/dtc': 'dtc', 'appstudio.openshift.io/dt': 'dt' };
  expect(wakes('devsandbox-target', request(labels), [], claim())).toBe(true);
  expect(wakes('devsandbox-target', request(labels), [], target())).toBe(true);
  expect(wakes('devsandbox-target', request({}), [], claim())).toBe(false);
});

describe('an environment is looked at again for', () => {
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
    ['the Secret of that target, also one that was missing', 'dtc', bound, secret('key')],
    ['the copy that was made for it', 'dtc', [...bound, secret('key')], secret(copyName, managed, copyLabel)],
  ])('%s', (_what, claimName, others, change) => {
    expect(wakes('target-environments', environment(claimName), others, change)).toBe(true);
  });

  test.each<[string, string, readonly KubeObject[], KubeObject]>([
    ['another claim', 'dtc', [], claim({}, {}, 'other')],
    ['an object of another kind', 'dtc', bound, object(Space, 'jane', { spec: {} })],
    ['another target', 'dtc', bound, target({}, 'other')],
    ['a Secret that nobody refers to', 'dtc', bound, secret('unrelated')],
    ['a request', 'dtc', bound, request({})],
    ['Secrets of other types', 'dtc', bound, secret('login', 'kubernetes.io/basic-auth')],
    ['any claim, when it names none', '', [], claim()],
  ])('but not for %s', (_what, claimName, others, change) => {
    expect(wakes('target-environments', environment(claimName), others, change)).toBe(false);
  });

  test('its own Secret, whether or not the claim of another is missing', () => {
    const others = [...bound, environment('missing', 'broken')];
    expect(wakes('target-environments', environment('dtc'), others, secret('key'))).toBe(true);
  });

  test.each([
    ['that nobody owns', [], false],
    ['that an environment of another group owns', [{ apiVersion: 'other.dev/v1' }], false],
    ['that one of its own group owns', [{ apiVersion: 'managed-gitops.redhat.com/v1alpha1' }], true],
    ['that one of the right group owns', [{ apiVersion: 'appstudio.redhat.com/v1alpha1' }], true],
  ])('a managed environment %s: %s', (_what, owners, expected) => {
    const ownerReferences = owners.map((each) => ({ ...each, kind: 'Environment', name: 'prod', uid: 'uid' }));
    const it = object(ManagedEnvironment, 'managed-environment-prod', { spec: {} }, { ownerReferences });
    expect(wakes('managed-environments', it, [], environment('dtc'))).toBe(expected);
  });
});

describe('a space request is looked at again for', () => {
  const it = request({});
  const home = object(Namespace, 'team');
  const space = (labels: Record<string, string>): Space =>
    object(Space, 'jane', { spec: {} }, { namespace: 'offshoot-system', labels });
  const of = 'toolchain.dev.openshift.com/spacerequest';

  test('a space with both labels', () => {
    expect(wakes('space-requests', it, [home], space({ [of]: 'sr', [`${of}-namespace`]: 'team' }))).toBe(true);
  });

  test('but not for one with only one of them', () => {
    expect(wakes('space-requests', it, [home], space({ [of]: 'sr' }))).toBe(false);
    expect(wakes('space-requests', it, [home], space({ [`${of}-namespace`]: 'team' }))).toBe(false);
  });
});
