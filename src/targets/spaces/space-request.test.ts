import { describe, expect, test } from 'vitest';
import { Space, SpaceRequest } from '../../api/spaces.ts';
import { dataDigest } from '../../kube/index.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { Namespace, Secret, ServiceAccount } from '../objects.ts';
import { issuedFor } from '../credentials.ts';
import { defaultSettings } from '../settings.ts';
import { ago, conditionsIn, NOW, object, planIn, shown } from '../testing/planning.ts';
import { planSpaceRequest } from './space-request.ts';
import type { Tier } from './tiers.ts';

const HOST = 'offshoot-system';
const SPACE = 'toolchain.dev.openshift.com/space';

const request = (fields: object = {}, meta: Partial<ObjectMeta> = {}): SpaceRequest =>
  object(
    SpaceRequest,
    'sr',
    { spec: { tierName: 'appstudio-env' }, ...fields },
    { uid: 'abcdefgh-1234-5678', ...meta },
  );

const home = (labels: Record<string, string> = {}): Namespace => object(Namespace, 'team', {}, { labels });

function space(fields: object = {}, meta: Partial<ObjectMeta> = {}, name = 'offshoot-abcde'): Space {
  const labels = {
    'toolchain.dev.openshift.com/spacerequest': 'sr',
    'toolchain.dev.openshift.com/spacerequest-namespace': 'team',
  };
  const spec = { tierName: 'appstudio-env', parentSpace: 'offshoot', targetCluster: 'local' };
  return object(Space, name, { spec, ...fields }, { namespace: HOST, labels, ...meta });
}

const ready = (status: string, reason: string, message?: string) => ({
  conditions: [{ type: 'Ready', status, reason, ...(message !== undefined && { message }) }],
});
const made = { targetCluster: 'local', provisionedNamespaces: [{ name: 'jane-env', type: 'default' }] };
const account = object(ServiceAccount, 'namespace-manager', {}, { namespace: 'jane-env' });

function secret(name: string, annotations: Record<string, string> = {}): Secret {
  return object(Secret, name, { type: 'Opaque', data: { kubeconfig: 'eA==' } }, { annotations });
}

const plan = (it: SpaceRequest, others: readonly KubeObject[], settings = {}) =>
  planIn([it, ...others], (view) => planSpaceRequest(view, it, { ...defaultSettings, ...settings }));

describe('a new request', () => {
  test('makes a space below the root, and reports that it is provisioning', () => {
    const it = request({ spec: { tierName: 'appstudio-env', disableInheritance: true } });
    const { steps, ...rest } = plan(it, [home()]);
    expect(steps).toMatchObject([
      {
        do: 'make',
        object: {
          metadata: {
            name: 'offshoot-abcde',
            namespace: HOST,
            finalizers: ['finalizer.toolchain.dev.openshift.com'],
            labels: {
              'toolchain.dev.openshift.com/spacerequest': 'sr',
              'toolchain.dev.openshift.com/spacerequest-namespace': 'team',
              'toolchain.dev.openshift.com/parent-space': 'offshoot',
              'toolchain.dev.openshift.com/state': 'cluster-assigned',
            },
          },
          spec: {
            tierName: 'appstudio-env',
            parentSpace: 'offshoot',
            targetCluster: 'local',
            disableInheritance: true,
          },
        },
      },
    ]);
    expect(conditionsIn(rest)).toEqual(['Ready=False Provisioning']);
  });

  test('makes nothing in a namespace that is being deleted', () => {
    expect(plan(request(), [object(Namespace, 'team', {}, { deletionTimestamp: ago(1) })])).toEqual({});
  });

  test('disables inheritance only if its spec says so', () => {
    const [step] = plan(request(), [home()]).steps!;
    expect(step).not.toHaveProperty('object.spec.disableInheritance');
  });

  test('below a sub-space makes a space whose name is not longer', () => {
    const parent = object(Space, 'jane-12345', { spec: { parentSpace: 'jane' } }, { namespace: HOST });
    expect(shown(plan(request(), [home({ [SPACE]: 'jane-12345' }), parent]))).toEqual([
      'make Space offshoot-system/jane-abcde',
    ]);
  });

  test('uses the cluster of its parent only if it asks for no roles', () => {
    const parent = object(Space, 'jane', { spec: { targetCluster: 'local' } }, { namespace: HOST });
    const roles = request({ spec: { tierName: 'appstudio-env', targetClusterRoles: ['big'] } });
    const [step] = plan(roles, [home({ [SPACE]: 'jane' }), parent]).steps!;
    expect(step).toHaveProperty('object.spec', {
      tierName: 'appstudio-env',
      parentSpace: 'jane',
      targetClusterRoles: ['big'],
    });
  });

  test('never uses the space of another request whose uid begins alike', () => {
    const other = object(Space, 'offshoot-abcde', { spec: {} }, { namespace: HOST });
    expect(shown(plan(request(), [home(), other]))).toEqual(['make Space offshoot-system/offshoot-abcdefgh-1234']);
  });

  const deleting = { deletionTimestamp: ago(1), finalizers: ['x'] };
  test.each([
    ['no namespace', request(), [], 'unable to get namespace: namespaces "team" not found'],
    [
      'no parent',
      request(),
      [home({ [SPACE]: 'jane' })],
      'unable to get parentSpace: spaces.toolchain.dev.openshift.com "jane" not found',
    ],
    [
      'a parent that is being deleted',
      request(),
      [home({ [SPACE]: 'jane' }), object(Space, 'jane', { spec: {} }, { namespace: HOST, ...deleting })],
      'parentSpace is being deleted',
    ],
    ['a blank tier', request({ spec: { tierName: '' } }), [home()], 'tierName cannot be blank'],
    [
      'an unknown tier',
      request({ spec: { tierName: 'gold' } }),
      [home()],
      'nstemplatetiers.toolchain.dev.openshift.com "gold" not found',
    ],
    [
      'two spaces',
      request(),
      [home(), space(), space({}, {}, 'another')],
      'Expected 1 matching subspace for spaceRequest sr in namespace team, found 2',
    ],
    [
      'a space that is being deleted',
      request(),
      [home(), space({}, { ...deleting, labels: space().metadata.labels! })],
      'cannot update subSpace because it is currently being deleted',
    ],
  ] as const)('reports %s', (_what, it, others, message) => {
    expect(conditionsIn(plan(it, others))).toEqual([`Ready=False UnableToProvision: ${message}`]);
  });

  test('reports a namespace without a space label if there is no root', () => {
    expect(conditionsIn(plan(request(), [home()], { rootSpace: '' }))).toEqual([
      'Ready=False UnableToProvision: unable to find space label toolchain.dev.openshift.com/space on namespace team',
    ]);
  });
});

describe('a request with a space', () => {
  test('passes on the condition of the space', () => {
    const others = [home(), space({ status: ready('False', 'UnableToProvision', 'no room') })];
    expect(conditionsIn(plan(request(), others))).toEqual(['Ready=False UnableToProvision: no room']);
  });

  test('gets a Secret for the namespace before it is Ready', () => {
    const others = [home(), space({ status: { ...made, ...ready('True', 'Provisioned') } })];
    expect(conditionsIn(plan(request(), others))).toEqual(['Ready=False Provisioning']);
    const { steps, status, ...rest } = plan(request(), [...others, account]);
    const step = steps!.find((each) => each.do === 'token');
    expect(step).toMatchObject({
      do: 'token',
      serviceAccount: { name: 'namespace-manager', namespace: 'jane-env' },
      expirationSeconds: 604_800,
      cluster: { server: 'https://kubernetes.default.svc' },
      object: {
        type: 'Opaque',
        metadata: {
          namespace: 'team',
          labels: {
            'toolchain.dev.openshift.com/spacerequest': 'sr',
            'toolchain.dev.openshift.com/spacerequest-provisioned-namespace': 'jane-env',
          },
          ownerReferences: [{ kind: 'SpaceRequest', name: 'sr', uid: 'abcdefgh-1234-5678', controller: true }],
        },
      },
    });
    const secretRef = step!.object.metadata.name;
    expect(secretRef).toMatch(/^sr-[0-9a-f]{5}$/);
    expect(status).toMatchObject({
      targetClusterURL: 'https://kubernetes.default.svc',
      namespaceAccess: [{ name: 'jane-env', secretRef }],
    });
    expect(conditionsIn({ status, ...rest })).toEqual(['Ready=True Provisioned']);
  });

  const known = request({ status: { namespaceAccess: [{ name: 'jane-env', secretRef: 'theirs' }] } });
  const full = [home(), space({ status: { ...made, ...ready('True', 'Provisioned') } }), account];

  test('recreates a missing Secret under the same name', () => {
    expect(shown(plan(known, full))).toEqual(['token Secret team/theirs']);
  });

  test('leaves a Secret alone whose token is not ours, and does not check it again', () => {
    const { requeueAfterMs, ...rest } = plan(known, [...full, secret('theirs')]);
    expect(shown(rest)).toEqual([]);
    expect(requeueAfterMs).toBeUndefined();
  });

  /** Credentials that we issued so many seconds ago, for five minutes. */
  const aged = (issued: number, data = 'eA==') => ({
    ...secret('theirs', {
      ...issuedFor(account, defaultSettings.cluster),
      'offshoot.dev/token-issued': ago(issued),
      'offshoot.dev/token-expires': ago(issued - 300),
      'offshoot.dev/token-digest': dataDigest('eA=='),
    }),
    data: { kubeconfig: data },
  });

  test('replaces a token after two thirds of its lifetime', () => {
    const fresh = plan(known, [...full, aged(199)]);
    expect([shown(fresh).length, fresh.requeueAfterMs]).toEqual([0, 1000]);
    expect(shown(plan(known, [...full, aged(200)]))).toContain('token Secret team/theirs');
  });

  const recreated = { ...account, metadata: { ...account.metadata, uid: 'another' } };
  test.each([
    ['that were overwritten', [...full, aged(1, 'Z2FyYmFnZQ==')], {}],
    ['of an account that was recreated', [...full.slice(0, -1), recreated, aged(1)], {}],
    ['for another URL', [...full, aged(1)], { cluster: { ...defaultSettings.cluster, server: 'https://moved' } }],
    [
      'that we issued and that lost their annotations',
      [
        ...full,
        { ...secret('theirs'), metadata: { ...secret('theirs').metadata, managedFields: [{ manager: 'offshoot-x' }] } },
      ],
      {},
    ],
  ])('reissues credentials %s', (_what, others, settings) => {
    expect(shown(plan(known, others, settings))).toContain('token Secret team/theirs');
  });

  test('issues no credentials until the account of the last claim is replaced', () => {
    const last = { 'offshoot.dev/last-claim': 'uid-of-before' };
    const released = { ...known, metadata: { ...known.metadata, annotations: last } };
    const waiting = plan(released, [...full, aged(1)]);
    expect([shown(waiting), conditionsIn(waiting)]).toEqual([
      [expect.stringContaining('"offshoot.dev/last-claim":"uid-of-before"')],
      ['Ready=False Provisioning'],
    ]);
    const fresh = { ...recreated, metadata: { ...recreated.metadata, annotations: last } };
    expect(shown(plan(released, [...full.slice(0, -1), fresh, aged(1)]))).toContain('token Secret team/theirs');
  });

  /** A tier with two namespaces and, if given, a service account in each. */
  const two = (serviceAccount?: string): Tier => ({
    name: 'two',
    namespaces: () => [],
    ...(serviceAccount && { serviceAccount }),
  });
  const ofTwo = request({ spec: { tierName: 'two' } });
  const both = { ...made, provisionedNamespaces: [{ name: 'jane-dev', type: 'default' }, { name: 'jane-stage' }] };
  const inTwo = [home(), space({ status: { ...both, ...ready('True', 'Provisioned') } })];

  test('with two namespaces gets an entry and a Secret for each', () => {
    const accounts = ['jane-dev', 'jane-stage'].map((namespace) => object(ServiceAccount, 'mine', {}, { namespace }));
    const planned = plan(ofTwo, [...inTwo, ...accounts], { tiers: [two('mine')] });
    const secrets = shown(planned).filter((line) => line.startsWith('token Secret'));
    expect(new Set(secrets).size).toBe(2);
    expect(planned.status?.['namespaceAccess']).toEqual([
      { name: 'jane-dev', secretRef: expect.stringMatching(/^sr-/) },
      { name: 'jane-stage', secretRef: expect.stringMatching(/^sr-/) },
    ]);
  });

  test('of a tier without a service account gets entries without a Secret', () => {
    const planned = plan(ofTwo, inTwo, { tiers: [two()] });
    expect(shown(planned).filter((line) => line.includes('Secret'))).toEqual([]);
    expect(planned.status?.['namespaceAccess']).toEqual([
      { name: 'jane-dev', secretRef: '' },
      { name: 'jane-stage', secretRef: '' },
    ]);
    expect(conditionsIn(planned)).toEqual(['Ready=True Provisioned']);
  });

  test('makes no second Secret if its status names one', () => {
    const named = request({ status: { namespaceAccess: [{ name: 'jane-env', secretRef: 'theirs' }] } });
    for (const others of [full, [...full, secret('theirs')]]) {
      const secrets = shown(plan(named, others)).filter((line) => line.includes('Secret'));
      expect(secrets.filter((line) => line !== 'token Secret team/theirs')).toEqual([]);
    }
  });

  test('writes namespaceAccess and the URL no later than the condition Ready', () => {
    const { status } = plan(request(), full);
    expect(status).toMatchObject({ namespaceAccess: [{ name: 'jane-env' }], targetClusterURL: expect.any(String) });
    expect(conditionsIn({ status: status! })).toEqual(['Ready=True Provisioned']);
  });

  test.each([
    ['its tier', { tierName: 'two' }, '{"tierName":"two"}'],
    ['its roles', { tierName: 'appstudio-env', targetClusterRoles: ['big'] }, '{"targetClusterRoles":["big"]}'],
  ])('passes a change of %s on to its space', (_what, spec, change) => {
    const planned = plan(request({ spec }), [home(), space()], { tiers: [two()] });
    expect(shown(planned)).toEqual([`edit Space offshoot-system/offshoot-abcde {"spec":${change}}`]);
  });

  test('treats an empty list of roles like none', () => {
    const none = request({ spec: { tierName: 'appstudio-env', targetClusterRoles: [] } });
    expect(shown(plan(none, [home(), space()]))).toEqual([]);
    const empty = { tierName: 'appstudio-env', parentSpace: 'offshoot', targetClusterRoles: [] };
    expect(shown(plan(request(), [home(), space({ spec: empty })]))).toEqual([]);
  });

  test('finds its space by labels, whatever its name', () => {
    expect(shown(plan(request(), [home(), space({}, {}, 'offshootabcde')]))).toEqual([]);
  });

  test('waits for a missing service account', () => {
    const without = [home(), space({ status: { ...made, ...ready('True', 'Provisioned') } })];
    const planned = plan(request(), without);
    expect([shown(planned), conditionsIn(planned)]).toEqual([[], ['Ready=False Provisioning']]);
  });

  test('reports an unknown cluster', () => {
    const elsewhere = space({ status: { ...made, targetCluster: 'invalid', ...ready('True', 'Provisioned') } });
    expect(conditionsIn(plan(request(), [home(), elsewhere]))).toEqual([
      'Ready=False UnableToProvision: unable to find target cluster with name: invalid',
    ]);
  });
});

describe('a request that is being deleted', () => {
  const it = request({}, { deletionTimestamp: ago(300) });

  test('finishes when it has no space', () => {
    expect(plan(it, [])).toEqual({ finished: true });
  });

  test('deletes its space first, even when the parent is gone', () => {
    const { finished, ...rest } = plan(it, [space()]);
    expect([finished, shown(rest), conditionsIn(rest)]).toEqual([
      undefined,
      ['remove Space offshoot-system/offshoot-abcde'],
      ['Ready=False Terminating'],
    ]);
  });

  test.each([
    [0, 'Ready=False Terminating', 120_001],
    [119, 'Ready=False Terminating', 1001],
    [120, 'Ready=False Terminating', 1],
    [121, 'Ready=False UnableToTerminate: subSpace deletion has not completed in over 2 minutes', undefined],
  ])('after %d s of waiting for its space reports %s', (seconds, condition, requeueAfterMs) => {
    const slow = space({}, { deletionTimestamp: ago(seconds), labels: space().metadata.labels! });
    const planned = plan(it, [slow]);
    expect([conditionsIn(planned), planned.requeueAfterMs]).toEqual([[condition], requeueAfterMs]);
  });
});

test('conditions of others and Ready keep their position', () => {
  const theirs = { type: 'Approved', status: 'True' };
  const at = (conditions: object[]) =>
    plan(request({ status: { conditions } }), [home()]).status!.conditions!.map(({ type }) => type);
  expect(at([theirs])).toEqual(['Approved', 'Ready']);
  expect(at([{ type: 'Ready', status: 'True' }, theirs])).toEqual(['Ready', 'Approved']);
});

test('lastTransitionTime changes only with the status of the condition, lastUpdatedTime with anything', () => {
  const before = {
    conditions: [
      { type: 'Ready', status: 'False', reason: 'Provisioning', lastTransitionTime: ago(50), lastUpdatedTime: ago(50) },
    ],
  };
  const at = (status: object) => plan(request({ status: before }), [home(), space({ status })]).status!.conditions![0];
  expect(at(ready('False', 'Provisioning'))).toEqual(before.conditions[0]);
  expect(at(ready('False', 'Updating'))).toMatchObject({ lastTransitionTime: ago(50), lastUpdatedTime: ago(0) });
  expect(at(ready('True', 'Provisioned'))).toMatchObject({ lastTransitionTime: ago(0), lastUpdatedTime: ago(0) });
  expect(Date.parse(ago(0))).toBe(NOW);
});
