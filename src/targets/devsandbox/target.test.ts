import { describe, expect, test } from 'vitest';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { planRequestedTarget } from './target.ts';
import { MADE_FROM, OF_TARGET } from '../names.ts';
import { Namespace } from '../objects.ts';
import { defaultSettings } from '../settings.ts';
import { namespaceDeleted, SUBSPACE_DELETED } from '../spaces/deleted.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { requestOf } from '../world.ts';

const DEVSANDBOX = 'appstudio.redhat.com/devsandbox';
const BY = 'provisioner.appstudio.redhat.com/provisioned-by';
const UID = 'dt.appstudio.redhat.com/claim-uid';

const claim = (meta: Partial<ObjectMeta> = {}): DeploymentTargetClaim =>
  object(DeploymentTargetClaim, 'staging', { spec: { deploymentTargetClassName: 'sandbox' } }, meta);

/** What a target says about the request and the namespace that it was made from. */
const MARK = 'uid-of-staging-12345/place';

const ofClass = (reclaimPolicy = 'Delete', provisioner = DEVSANDBOX, name = 'sandbox'): DeploymentTargetClass =>
  object(DeploymentTargetClass, name, { spec: { provisioner, reclaimPolicy } });

interface Given {
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly access?: readonly { name: string; secretRef: string }[];
  readonly ready?: string;
  readonly meta?: Partial<ObjectMeta>;
}

function request({ labels, annotations, access, ready = 'True', meta }: Given = {}): SpaceRequest {
  return object(
    SpaceRequest,
    'staging-12345',
    {
      spec: { tierName: 'appstudio-env' },
      status: {
        targetClusterURL: 'https://api',
        namespaceAccess: access ?? [{ name: 'place', secretRef: 'key' }],
        conditions: [{ type: 'Ready', status: ready, reason: ready === 'True' ? 'Provisioned' : 'Provisioning' }],
      },
    },
    { labels: { 'appstudio.openshift.io/dtc': 'staging', ...labels }, annotations: annotations ?? {}, ...meta },
  );
}

function target(spec: object = {}, meta: Partial<ObjectMeta> = {}): DeploymentTarget {
  const kubernetesCredentials = {
    defaultNamespace: 'place',
    apiURL: 'https://api',
    clusterCredentialsSecret: 'key',
    allowInsecureSkipTLSVerify: false,
  };
  return object(
    DeploymentTarget,
    'staging-dt',
    { spec: { deploymentTargetClassName: 'sandbox', kubernetesCredentials, claimRef: 'staging', ...spec } },
    { annotations: { [BY]: DEVSANDBOX, [MADE_FROM]: MARK }, ...meta },
  );
}

const plan = (it: SpaceRequest, ...others: KubeObject[]) =>
  planIn([it, ...others], (view) => planRequestedTarget(view, it, defaultSettings));

const LABEL = 'edit SpaceRequest team/staging-12345 {"metadata":{"labels":{"appstudio.openshift.io/dt":"staging-dt"}}}';
const labelled = { 'appstudio.openshift.io/dt': 'staging-dt' };
const REMOVED = 'remove SpaceRequest team/staging-12345';

describe('a space request', () => {
  test('that is Ready becomes a target for its claim, and gets a label with its name', () => {
    const { steps } = plan(request(), claim(), ofClass());
    expect(steps).toMatchObject([
      {
        do: 'make',
        object: {
          metadata: {
            name: 'staging-dt',
            namespace: 'team',
            labels: { 'provisioner.appstudio.redhat.com/dt-provisioner': 'sandbox' },
            annotations: { [BY]: DEVSANDBOX, [UID]: 'uid-of-staging' },
          },
          spec: {
            deploymentTargetClassName: 'sandbox',
            claimRef: 'staging',
            kubernetesCredentials: {
              defaultNamespace: 'place',
              apiURL: 'https://api',
              clusterCredentialsSecret: 'key',
              allowInsecureSkipTLSVerify: false,
            },
          },
        },
      },
      { do: 'edit' },
    ]);
    expect(steps![0]).not.toHaveProperty('object.status');
    expect(shown(plan(request({ labels: labelled }), claim(), ofClass(), target()))).toEqual([]);
  });

  test('becomes an insecure target if that is set', () => {
    const it = request();
    const settings = { ...defaultSettings, insecureTargets: true };
    const { steps } = planIn([it, claim(), ofClass()], (view) => planRequestedTarget(view, it, settings));
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.allowInsecureSkipTLSVerify', true);
  });

  test('with several namespaces becomes a target for the first by name', () => {
    const access = [
      { name: 'place-stage', secretRef: 'b' },
      { name: 'place-dev', secretRef: 'a' },
    ];
    const { steps } = plan(request({ access }), claim(), ofClass());
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.defaultNamespace', 'place-dev');
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.clusterCredentialsSecret', 'a');
  });

  test('without a Secret becomes a target that is not bound until it has one', () => {
    const { steps } = plan(request({ access: [{ name: 'place', secretRef: '' }] }), claim(), ofClass());
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.clusterCredentialsSecret', '');
    const kubernetesCredentials = { defaultNamespace: 'place', apiURL: 'https://api', clusterCredentialsSecret: '' };
    const without = target({ kubernetesCredentials });
    expect(shown(plan(request({ labels: labelled }), claim(), ofClass(), without))).toEqual([
      'edit DeploymentTarget team/staging-dt {"spec":{"kubernetesCredentials":{"clusterCredentialsSecret":"key"}}}',
    ]);
  });

  test.each([
    ['finds the target that refers to its claim', request(), [claim(), target()], [LABEL]],
    ['without a claim is ignored', request({ labels: { 'appstudio.openshift.io/dtc': '' } }), [], []],
    ['that is not Ready waits', request({ ready: 'False' }), [claim()], []],
    ['without a namespace waits', request({ access: [] }), [claim()], []],
    ['that is being deleted waits', request({ meta: { deletionTimestamp: ago(1) } }), [claim()], []],
    [
      'in a namespace that is being deleted makes nothing',
      request(),
      [claim(), object(Namespace, 'team', {}, { deletionTimestamp: ago(1) })],
      [],
    ],
    ['whose claim is being deleted makes nothing', request(), [claim({ deletionTimestamp: ago(1) })], []],
    [
      'does not adopt another target of the same name',
      request(),
      [claim(), target({ claimRef: '' }, { annotations: {} })],
      [],
    ],
  ] as const)('%s', (_what, it, others, expected) => {
    expect(shown(plan(it, ofClass(), ...others))).toEqual(expected);
  });

  test('does not recreate a deleted target until its label is removed', () => {
    const lost = claim({ annotations: { 'dt.appstudio.redhat.com/bind-complete': 'true' } });
    expect(shown(plan(request({ labels: labelled }), lost, ofClass('Retain')))).toEqual([]);
    expect(shown(plan(request(), lost, ofClass('Retain')))).toEqual(['make DeploymentTarget team/staging-dt', LABEL]);
  });

  test('names its target in an annotation if the name does not fit into a label, and does not recreate it', () => {
    const name = 'x'.repeat(63);
    const of = (annotations = {}) =>
      object(DeploymentTargetClaim, name, { spec: { deploymentTargetClassName: 'sandbox' } }, { annotations });
    const labels = { 'appstudio.openshift.io/dtc': name };
    expect(shown(plan(request({ labels }), of(), ofClass()))).toEqual([
      `make DeploymentTarget team/${name}-dt`,
      `edit SpaceRequest team/staging-12345 {"metadata":{"annotations":{"${OF_TARGET}":"${name}-dt"}}}`,
    ]);
    const named = request({ labels, annotations: { [OF_TARGET]: `${name}-dt` } });
    const bound = of({ 'dt.appstudio.redhat.com/bind-complete': 'true' });
    expect(shown(plan(named, bound, ofClass()))).toEqual([]);
  });

  test('passes another Secret for its namespace on to the target', () => {
    const renamed = { name: 'place', secretRef: 'new' };
    const moved = request({ labels: labelled, access: [{ name: 'other', secretRef: 'key' }, renamed] });
    expect(shown(plan(moved, claim(), ofClass(), target()))).toEqual([
      'edit DeploymentTarget team/staging-dt {"spec":{"kubernetesCredentials":{"clusterCredentialsSecret":"new"}}}',
    ]);
    const unmarked = target({}, { annotations: { [BY]: DEVSANDBOX } });
    expect(shown(plan(moved, claim(), ofClass(), unmarked))).toEqual([
      `edit DeploymentTarget team/staging-dt {"metadata":{"annotations":{"${MADE_FROM}":"${MARK}"}},"spec":{"kubernetesCredentials":{"clusterCredentialsSecret":"new"}}}`,
    ]);
    const theirs = target({}, { annotations: {} });
    expect(shown(plan(moved, claim(), ofClass(), theirs))).toEqual([]);
  });
});

describe('a request whose space was deleted', () => {
  const deleted = (message: string, given: Given = {}): SpaceRequest => {
    const it = request(given);
    const conditions = [{ type: 'Ready', status: 'False', reason: 'UnableToProvision', message }];
    return { ...it, status: { ...it.status, conditions } };
  };
  const messages = [SUBSPACE_DELETED, namespaceDeleted('place')];

  test.each(messages)('is deleted while no claim has its target, so that another is made: %s', (message) => {
    expect(shown(plan(deleted(message), claim(), ofClass()))).toEqual([REMOVED]);
    expect(shown(plan(deleted(message, { labels: labelled }), claim(), ofClass('Retain')))).toEqual([REMOVED]);
  });

  test.each(messages)('is kept while its target exists or a claim was bound to it: %s', (message) => {
    const it = deleted(message, { labels: labelled });
    const complete = claim({ annotations: { 'dt.appstudio.redhat.com/bind-complete': 'true' } });
    const bound = { ...claim(), status: { phase: 'Bound' } };
    const others = [[claim(), target()], [complete], [bound]];
    expect(others.map((each) => shown(plan(it, ofClass(), ...each)))).toEqual([[], [], []]);
  });

  test('is not one that fails for another reason, which may be temporary', () => {
    expect(shown(plan(deleted('parentSpace is being deleted'), claim(), ofClass()))).toEqual([]);
  });
});

describe('a request whose claim is gone', () => {
  const recorded = { 'offshoot.dev/class': 'sandbox', [UID]: 'uid-of-staging' };
  test.each([
    ['is deleted when the class says Delete', request({ annotations: recorded }), [ofClass()], [REMOVED]],
    [
      'is kept when it does not name its class and one of several classes says Retain',
      request(),
      [ofClass(), ofClass('Retain', DEVSANDBOX, 'second')],
      [],
    ],
    ['is kept when the class says Retain', request({ annotations: recorded }), [ofClass('Retain')], []],
    [
      'is deleted by the recorded policy when the class is gone',
      request({ annotations: { ...recorded, 'dt.appstudio.redhat.com/reclaim-policy': 'Delete' } }),
      [],
      [REMOVED],
    ],
    ['is kept when nothing is known of its class', request(), [], []],
    ['is kept when only classes of other provisioners exist', request(), [ofClass('Delete', 'other')], []],
    ['is deleted when it does not name its class and all of ours say Delete', request(), [ofClass()], [REMOVED]],
    [
      'is kept when it does not name its class and one of ours says Retain',
      request(),
      [ofClass(), ofClass('Retain', DEVSANDBOX, 'other')],
      [],
    ],
    [
      'is deleted even if there is a new claim of the same name',
      request({ annotations: { ...recorded, [UID]: 'before' } }),
      [ofClass(), claim()],
      [REMOVED],
    ],
    [
      'deletes its unbound target first',
      request({ annotations: recorded }),
      [ofClass(), target()],
      ['remove DeploymentTarget team/staging-dt'],
    ],
    [
      'waits while its target is being deleted',
      request({ annotations: recorded, labels: labelled }),
      [ofClass(), target({}, { annotations: { [BY]: DEVSANDBOX }, deletionTimestamp: ago(1) })],
      [],
    ],
    [
      'is kept while another claim holds its target',
      request({ annotations: recorded, labels: labelled }),
      [ofClass(), target({ claimRef: 'other' }, { annotations: { [BY]: DEVSANDBOX, [UID]: 'x', [MADE_FROM]: MARK } })],
      [],
    ],
  ] as const)('%s', (_what, it, others, expected) => {
    expect(shown(plan(it, ...others))).toEqual(expected);
  });
});

describe('a request that was kept when its claim was deleted', () => {
  const LAST = 'offshoot.dev/last-claim';
  const kept = (access?: Given['access']) =>
    request({ labels: labelled, annotations: { [UID]: 'old' }, ...(access && { access }) });
  const released = target({ claimRef: '' }, { annotations: { [BY]: DEVSANDBOX, [LAST]: 'old', [MADE_FROM]: MARK } });

  test('records the last claim of its target, and updates the cluster address of the target', () => {
    const [step] = plan(kept(), ofClass('Retain'), released).steps!;
    expect(step).toHaveProperty('to.metadata.annotations', { [UID]: 'old', [LAST]: 'old' });
    const recordedRequest = request({ labels: labelled, annotations: { [UID]: 'old', [LAST]: 'old' } });
    const moved = { ...recordedRequest, status: { ...recordedRequest.status, targetClusterURL: 'https://moved' } };
    expect(shown(plan(moved, ofClass('Retain'), released))).toEqual([
      'edit DeploymentTarget team/staging-dt {"spec":{"kubernetesCredentials":{"apiURL":"https://moved"}}}',
    ]);
  });

  test('ignores another target of the same name', () => {
    const other = target({}, { annotations: { [BY]: DEVSANDBOX, [UID]: 'uid-of-staging', [LAST]: 'x' } });
    const elsewhere = kept([{ name: 'elsewhere', secretRef: 'key' }]);
    expect(shown(plan(elsewhere, ofClass('Retain'), claim(), other))).toEqual([]);
    const own = object(
      SpaceRequest,
      'staging-own',
      { spec: elsewhere.spec, status: request().status },
      { labels: labelled },
    );
    const found = planIn([elsewhere, own, other], (view) => requestOf(view, other)?.metadata.name);
    expect(found).toBe('staging-own');
  });
});
