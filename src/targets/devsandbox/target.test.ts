import { describe, expect, test } from 'vitest';
import { SpaceRequest } from '../../api/spaces.ts';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { planRequestedTarget } from './target.ts';
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
    { annotations: { [BY]: DEVSANDBOX }, ...meta },
  );
}

const plan = (it: SpaceRequest, ...others: KubeObject[]) =>
  planIn([it, ...others], (view) => planRequestedTarget(view, it, defaultSettings));

const LABEL = 'edit SpaceRequest team/staging-12345 {"metadata":{"labels":{"appstudio.openshift.io/dt":"staging-dt"}}}';
const labelled = { 'appstudio.openshift.io/dt': 'staging-dt' };
const gone = 'remove SpaceRequest team/staging-12345';

describe('a request that is ready', () => {
  test('becomes a target for its claim, and is labelled with it', () => {
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

  test('is marked as insecure where that is set', () => {
    const it = request();
    const settings = { ...defaultSettings, insecureTargets: true };
    const { steps } = planIn([it, claim(), ofClass()], (view) => planRequestedTarget(view, it, settings));
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.allowInsecureSkipTLSVerify', true);
  });

  test('with several namespaces becomes a target for the default one, the first by name', () => {
    const access = [
      { name: 'place-stage', secretRef: 'b' },
      { name: 'place-dev', secretRef: 'a' },
    ];
    const { steps } = plan(request({ access }), claim(), ofClass());
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.defaultNamespace', 'place-dev');
    expect(steps![0]).toHaveProperty('object.spec.kubernetesCredentials.clusterCredentialsSecret', 'a');
  });

  test('without a Secret becomes a target all the same, which is not bound until it has one', () => {
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
    ['without a claim is none of our business', request({ labels: { 'appstudio.openshift.io/dtc': '' } }), [], []],
    ['but not yet ready waits', request({ ready: 'False' }), [claim()], []],
    ['without a namespace waits', request({ access: [] }), [claim()], []],
    ['that is going waits', request({ meta: { deletionTimestamp: ago(1) } }), [claim()], []],
    [
      'in a namespace that is going makes nothing',
      request(),
      [claim(), object(Namespace, 'team', {}, { deletionTimestamp: ago(1) })],
      [],
    ],
    ['whose claim is going makes nothing', request(), [claim({ deletionTimestamp: ago(1) })], []],
    [
      'does not take over a target of somebody else by the name',
      request(),
      [claim(), target({ claimRef: '' }, { annotations: {} })],
      [],
    ],
  ] as const)('%s', (_what, it, others, expected) => {
    expect(shown(plan(it, ofClass(), ...others))).toEqual(expected);
  });

  test('whose target was deleted does not make it again until its label is taken off', () => {
    const lost = claim({ annotations: { 'dt.appstudio.redhat.com/bind-complete': 'true' } });
    expect(shown(plan(request({ labels: labelled }), lost, ofClass('Retain')))).toEqual([]);
    expect(shown(plan(request(), lost, ofClass('Retain')))).toEqual(['make DeploymentTarget team/staging-dt', LABEL]);
  });

  test('of a claim whose name just fits is found by the claim, and not made again when it was deleted', () => {
    const name = 'x'.repeat(63);
    const of = (annotations = {}) =>
      object(DeploymentTargetClaim, name, { spec: { deploymentTargetClassName: 'sandbox' } }, { annotations });
    const it = request({ labels: { 'appstudio.openshift.io/dtc': name } });
    expect(shown(plan(it, of(), ofClass()))).toEqual([`make DeploymentTarget team/${name}-dt`]);
    const bound = of({ 'dt.appstudio.redhat.com/bind-complete': 'true' });
    expect(shown(plan(it, bound, ofClass()))).toEqual([]);
  });

  test('passes changes of its place on to the target', () => {
    const moved = request({ labels: labelled, access: [{ name: 'other', secretRef: 'new' }] });
    expect(shown(plan(moved, claim(), ofClass(), target()))).toEqual([
      'edit DeploymentTarget team/staging-dt {"spec":{"kubernetesCredentials":{"defaultNamespace":"other","clusterCredentialsSecret":"new"}}}',
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

  test.each(messages)('goes while nobody has its target, so that another is made: %s', (message) => {
    expect(shown(plan(deleted(message), claim(), ofClass()))).toEqual([gone]);
    expect(shown(plan(deleted(message, { labels: labelled }), claim(), ofClass('Retain')))).toEqual([gone]);
  });

  test.each(messages)('stays for its target, and for a claim that had it: %s', (message) => {
    const it = deleted(message, { labels: labelled });
    const complete = claim({ annotations: { 'dt.appstudio.redhat.com/bind-complete': 'true' } });
    const bound = { ...claim(), status: { phase: 'Bound' } };
    const others = [[claim(), target()], [complete], [bound]];
    expect(others.map((each) => shown(plan(it, ofClass(), ...each)))).toEqual([[], [], []]);
  });

  test('is not one that fails for another reason, which may pass', () => {
    expect(shown(plan(deleted('parentSpace is being deleted'), claim(), ofClass()))).toEqual([]);
  });
});

describe('a request whose claim is gone', () => {
  const recorded = { 'offshoot.dev/class': 'sandbox', [UID]: 'uid-of-staging' };
  test.each([
    ['S7a: goes when the class says Delete', request({ annotations: recorded }), [ofClass()], [gone]],
    [
      'stays where one of several classes retains, and it does not say which it is of',
      request(),
      [ofClass(), ofClass('Retain', DEVSANDBOX, 'second')],
      [],
    ],
    ['S7b: stays when the class says Retain', request({ annotations: recorded }), [ofClass('Retain')], []],
    [
      'goes by the policy that was written down when the class is gone',
      request({ annotations: { ...recorded, 'dt.appstudio.redhat.com/reclaim-policy': 'Delete' } }),
      [],
      [gone],
    ],
    ['stays when nothing is known of its class', request(), [], []],
    ['S7c: stays when only classes of others are there', request(), [ofClass('Delete', 'other')], []],
    ['that does not tell its class goes when all of ours say so', request(), [ofClass()], [gone]],
    [
      'that does not tell its class stays when one of ours says Retain',
      request(),
      [ofClass(), ofClass('Retain', DEVSANDBOX, 'other')],
      [],
    ],
    [
      'goes though another claim came by the name',
      request({ annotations: { ...recorded, [UID]: 'before' } }),
      [ofClass(), claim()],
      [gone],
    ],
    [
      'takes its unbound target with it first',
      request({ annotations: recorded }),
      [ofClass(), target()],
      ['remove DeploymentTarget team/staging-dt'],
    ],
    [
      'waits while its target goes',
      request({ annotations: recorded, labels: labelled }),
      [ofClass(), target({}, { annotations: { [BY]: DEVSANDBOX }, deletionTimestamp: ago(1) })],
      [],
    ],
    [
      'stays while another claim holds its target',
      request({ annotations: recorded, labels: labelled }),
      [ofClass(), target({ claimRef: 'other' }, { annotations: { [BY]: DEVSANDBOX, [UID]: 'x' } })],
      [],
    ],
  ] as const)('%s', (_what, it, others, expected) => {
    expect(shown(plan(it, ...others))).toEqual(expected);
  });
});

describe('a request that was kept when its claim went', () => {
  const LAST = 'offshoot.dev/last-claim';
  const kept = (access?: Given['access']) =>
    request({ labels: labelled, annotations: { [UID]: 'old' }, ...(access && { access }) });
  const released = target({ claimRef: '' }, { annotations: { [BY]: DEVSANDBOX, [LAST]: 'old' } });

  test('hears who had its target last, and its target follows where the cluster is', () => {
    const [step] = plan(kept(), ofClass('Retain'), released).steps!;
    expect(step).toHaveProperty('to.metadata.annotations', { [UID]: 'old', [LAST]: 'old' });
    const told = request({ labels: labelled, annotations: { [UID]: 'old', [LAST]: 'old' } });
    const moved = { ...told, status: { ...told.status, targetClusterURL: 'https://moved' } };
    expect(shown(plan(moved, ofClass('Retain'), released))).toEqual([
      'edit DeploymentTarget team/staging-dt {"spec":{"kubernetesCredentials":{"apiURL":"https://moved"}}}',
    ]);
  });

  test('has nothing to do with another target of the name', () => {
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
