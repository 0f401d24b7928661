// The namespace provisioner, part by part: request, target, release, pool.
import { describe, expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim, DeploymentTargetClass } from '../../api/targets.ts';
import type { Plan } from '../../controller/index.ts';
import { dataDigest } from '../../kube/index.ts';
import type { KubeObject, ObjectMeta } from '../../kube/index.ts';
import { bestMatch } from '../binding/match.ts';
import { Namespace, Secret, ServiceAccount } from '../objects.ts';
import { issuedFor } from '../credentials.ts';
import { defaultSettings } from '../settings.ts';
import type { Settings } from '../settings.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { planNamespaceTarget } from './target.ts';
import { planWarm } from './warm.ts';
import { planRelease } from './release.ts';
import { namespaceProblem, planNamespaceRequest } from './request.ts';

const PROVISIONER = 'offshoot.dev/namespace';
const UID = 'dt.appstudio.redhat.com/claim-uid';
const REQUESTED = 'dt.appstudio.redhat.com/requested-namespace';
const DELETING = { deletionTimestamp: ago(5) };

const ofClass = (parameters: object = {}, reclaimPolicy = 'Delete'): DeploymentTargetClass =>
  object(DeploymentTargetClass, 'local', { spec: { provisioner: PROVISIONER, parameters, reclaimPolicy } });

const claim = (annotations: Record<string, string> = {}, meta: Partial<ObjectMeta> = {}): DeploymentTargetClaim =>
  object(
    DeploymentTargetClaim,
    'dev',
    { spec: { deploymentTargetClassName: 'local' }, status: { phase: 'Pending' } },
    { annotations: { 'provisioner.appstudio.redhat.com/dt-provisioner': PROVISIONER, ...annotations }, ...meta },
  );

function namespace(of: Record<string, string> = {}, meta: Partial<ObjectMeta> = {}, name = 'place'): Namespace {
  const annotations = { 'offshoot.dev/target': 'team/dev-dt', 'offshoot.dev/class': 'local', ...of };
  return object(Namespace, name, {}, { labels: { 'offshoot.dev/provisioner': 'namespace' }, annotations, ...meta });
}
const LAST = 'offshoot.dev/last-claim';
const account = object(ServiceAccount, 'deployer', {}, { namespace: 'place' });
const MADE_HERE = { 'provisioner.appstudio.redhat.com/provisioned-by': PROVISIONER };
const MADE = { 'offshoot.dev/target-made': 'true' };
const FOR_CLAIM = { 'offshoot.dev/claim': 'team/dev', [UID]: 'uid-of-dev' };

function target(
  fields: object = {},
  meta: Partial<ObjectMeta> = {},
  name = 'dev-dt',
  place = 'place',
): DeploymentTarget {
  const kubernetesCredentials = {
    defaultNamespace: place,
    apiURL: 'https://kubernetes.default.svc',
    clusterCredentialsSecret: 'dev-dt-ed9e5',
    allowInsecureSkipTLSVerify: false,
  };
  return object(
    DeploymentTarget,
    name,
    { spec: { deploymentTargetClassName: 'local', kubernetesCredentials }, ...fields },
    {
      finalizers: ['offshoot.dev/namespace'],
      annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': PROVISIONER },
      ...meta,
    },
  );
}

describe('a claim', () => {
  const plan = (it: DeploymentTargetClaim, ...others: KubeObject[]) =>
    planIn([it, ...others], (view) => planNamespaceRequest(view, it));

  test('gets a namespace with annotations that say what it is for, and the labels of the class', () => {
    const { steps } = plan(claim(), ofClass({ labels: { team: 'a' } }));
    expect(steps).toMatchObject([
      {
        do: 'make',
        object: {
          metadata: {
            name: expect.stringMatching(/^team-dev-[0-9a-f]{5}$/),
            labels: { team: 'a', 'offshoot.dev/provisioner': 'namespace' },
            annotations: { 'offshoot.dev/target': 'team/dev-dt', ...FOR_CLAIM, 'offshoot.dev/class': 'local' },
          },
        },
      },
    ]);
  });

  test('gets a namespace with the requested name', () => {
    expect(shown(plan(claim({ [REQUESTED]: 'mine' }), ofClass()))).toEqual(['make Namespace mine']);
  });

  test.each([
    [
      'a name that is taken',
      claim({ [REQUESTED]: 'busy' }),
      [object(Namespace, 'busy')],
      {},
      'NamespaceTaken',
      'namespace busy exists already: request another name, or none',
    ],
    [
      'an invalid name',
      claim({ [REQUESTED]: 'No_Name' }),
      [],
      {},
      'InvalidNamespaceName',
      '"No_Name" can\'t be the name of a namespace for a claim: use at most 63 lower-case letters, digits and dashes, not beginning with kube-',
    ],
    [
      'a reserved name',
      claim({ [REQUESTED]: 'kube-system' }),
      [],
      {},
      'InvalidNamespaceName',
      expect.stringContaining('kube-system'),
    ],
    [
      'invalid parameters',
      claim(),
      [],
      { quota: { cpu: true }, warm: -1, tokenLifetime: '1m', colour: 'red', limits: { max: { cpu: 'much' } } },
      'InvalidParameters',
      'DeploymentTargetClass local: parameters.quota.cpu must be a quantity such as 2, 500m or 4Gi, not true; parameters.limits.max.cpu must be a quantity such as 2, 500m or 4Gi, not "much"; parameters.tokenLifetime must be a duration of at least 10m, such as 12h or 7d, not "1m"; parameters.warm must be a whole number of at least 0, not -1; parameters.colour is not known here',
    ],
    ['no quota left', claim(), [], { maxTotal: 0 }, 'QuotaExceeded', expect.stringContaining('0 of 0 are taken')],
    [
      'no quota left and a namespace of an earlier claim of the same name',
      claim(),
      [namespace({ ...FOR_CLAIM, [UID]: 'old' }, {}, 'kept')],
      { maxTotal: 0 },
      'QuotaExceeded',
      expect.stringContaining('0 of 0 are taken'),
    ],
  ] as const)('with %s gets no namespace, and reports why', (_what, it, others, parameters, reason, message) => {
    const of = ofClass(parameters);
    expect(shown(plan(it, of, ...others))).toEqual([]);
    expect(planIn([it, of, ...others], (view) => namespaceProblem(view, it, of))).toEqual({ reason, message });
  });

  test('that requests a name gets no pooled target with another name', () => {
    const fresh = object(
      DeploymentTargetClaim,
      'dev',
      { spec: { deploymentTargetClassName: 'local' } },
      { annotations: { [REQUESTED]: 'mine' } },
    );
    const ANY = { selector: [], allowStaticMatch: true };
    const pooled = [target(), target({}, {}, 'other', 'mine')];
    expect(bestMatch(fresh, pooled, ANY)?.metadata.name).toBe('other');
    expect(bestMatch(fresh, [target()], ANY)).toBeUndefined();
  });
});

describe('a namespace', () => {
  const plan = (it: Namespace, ...others: KubeObject[]): Plan =>
    planIn([it, ...others], (view) => planNamespaceTarget(view, it, defaultSettings));

  test('gets an account, limits and credentials, and becomes a target for its claim', () => {
    const parameters = {
      quota: { cpu: 4, memory: '8Gi' },
      limits: { default: { cpu: '1' }, defaultRequest: { cpu: '100m' } },
      allowFrom: ['ingress'],
      tokenLifetime: '12h',
    };
    // Credentials are for one account: it is created first, and everything else waits for it.
    const contents = shown(plan(namespace(FOR_CLAIM), claim(), ofClass(parameters)));
    expect(contents.filter((line) => !line.startsWith('own'))).toEqual([]);
    const planned = plan(namespace(FOR_CLAIM), claim(), ofClass(parameters), account);
    expect(shown(planned)).toEqual([
      'own ServiceAccount place/deployer',
      'own RoleBinding place/deployer',
      'own ResourceQuota place/offshoot',
      'own LimitRange place/offshoot',
      'own NetworkPolicy place/offshoot',
      expect.stringMatching(/^token Secret team\/dev-dt-[0-9a-f]{5}$/),
      'make DeploymentTarget team/dev-dt',
    ]);
    const [, binding, quota, limits, policy, token, made] = planned.steps!;
    expect(binding).toHaveProperty('object.roleRef.name', 'edit');
    expect(quota).toHaveProperty('object.spec.hard', { cpu: '4', memory: '8Gi' });
    expect(limits).toHaveProperty('object.spec.limits', [
      { type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '100m' } },
    ]);
    expect(policy).toHaveProperty('object.spec.ingress.0.from', [
      { podSelector: {} },
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } },
    ]);
    expect(token).toMatchObject({
      expirationSeconds: 43_200,
      serviceAccount: { name: 'deployer', namespace: 'place' },
    });
    expect(made).toMatchObject({
      object: {
        metadata: {
          finalizers: ['offshoot.dev/namespace', 'dt.appstudio.redhat.com/finalizer'],
          annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': PROVISIONER, [UID]: 'uid-of-dev' },
        },
        spec: { deploymentTargetClassName: 'local', claimRef: 'dev' },
      },
    });
    expect(made).not.toHaveProperty('object.status');
  });

  test('of the pool becomes a target without a claim', () => {
    const { steps } = plan(namespace(), ofClass({ networkPolicy: 'none' }), account);
    expect(steps!.at(-1)).not.toHaveProperty('object.spec.claimRef');
    expect(shown({ steps: steps! }).filter((line) => line.includes('NetworkPolicy'))).toEqual([]);
  });

  test.each([
    ['is not ours is left alone', namespace(FOR_CLAIM, { labels: {} }), [claim(), ofClass()], []],
    ['is being deleted is left alone', namespace(FOR_CLAIM, DELETING), [claim(), ofClass()], []],
    ['has no claim any more is deleted', namespace(FOR_CLAIM), [ofClass()], ['remove Namespace place']],
    [
      'has a claim that is being deleted is deleted',
      namespace(FOR_CLAIM),
      [claim({}, DELETING), ofClass()],
      ['remove Namespace place'],
    ],
    [
      'was made for an earlier claim of the same name is deleted',
      namespace({ ...FOR_CLAIM, [UID]: 'old' }),
      [claim(), ofClass()],
      ['remove Namespace place'],
    ],
    [
      'has no claim any more and an unbound target deletes that',
      namespace(FOR_CLAIM),
      [ofClass(), target({ spec: { ...target().spec, claimRef: 'dev' } })],
      ['remove DeploymentTarget team/dev-dt'],
    ],
    [
      'is in the pool and has no class any more deletes its target',
      namespace(),
      [target()],
      ['remove DeploymentTarget team/dev-dt'],
    ],
    [
      'has become a target gets an annotation',
      namespace(),
      [target(), ofClass({ networkPolicy: 'none' }), account],
      [
        'own ServiceAccount place/deployer',
        'own RoleBinding place/deployer',
        expect.stringMatching(/^token Secret/),
        expect.stringMatching(/^edit DeploymentTarget/),
        'edit Namespace place {"metadata":{"annotations":{"offshoot.dev/target-made":"uid-of-dev-dt"}}}',
      ],
    ],
    [
      'was in the pool and lost its target is deleted, because it may have been used',
      namespace(MADE),
      [ofClass()],
      ['remove Namespace place'],
    ],
    ['was in the pool and lost its target is kept with Retain', namespace(MADE), [ofClass({}, 'Retain')], []],
    [
      'lost its target waits until its claim is deleted',
      namespace({ ...FOR_CLAIM, ...MADE }),
      [claim(), ofClass()],
      [],
    ],
    [
      'lost its target is deleted with its claim',
      namespace({ ...FOR_CLAIM, ...MADE }),
      [ofClass()],
      ['remove Namespace place'],
    ],
    [
      'has a target that is being deleted is left alone',
      namespace(FOR_CLAIM),
      [claim(), ofClass(), target({}, DELETING)],
      [],
    ],
    [
      'finds the name of its target taken is left alone',
      namespace(FOR_CLAIM),
      [claim(), ofClass(), target({}, { annotations: {} })],
      [],
    ],
    [
      'has its target in a namespace that is being deleted is left alone',
      namespace(FOR_CLAIM),
      [claim(), ofClass(), object(Namespace, 'team', {}, DELETING)],
      [],
    ],
  ] as const)('that %s', (_what, it, others, expected) => {
    expect(shown(plan(it, ...others))).toEqual(expected);
  });

  test.each([
    ['was recycled and is reserved for', { 'dt.appstudio.redhat.com/recycled': 'true' }],
    ['was released, set to Available by hand, and is reserved for', { 'offshoot.dev/last-claim': 'uid-of-dev' }],
    ['is locked for', { [UID]: 'next' }],
  ])('whose target %s the next claim of the same name keeps it', (_what, annotations) => {
    const spec = { ...target().spec, claimRef: 'dev' };
    const taken = target({ spec, status: { phase: 'Available' } }, { annotations: { ...MADE_HERE, ...annotations } });
    const steps = shown(plan(namespace(FOR_CLAIM), ofClass({}, 'Retain'), taken));
    expect(steps.filter((line) => line.startsWith('remove'))).toEqual([]);
  });

  describe('with credentials', () => {
    const settings = defaultSettings;
    const bound = { ...target({ status: { phase: 'Bound' } }), spec: { ...target().spec, claimRef: 'dev' } };
    const place = namespace(FOR_CLAIM);
    const { cluster } = settings;
    const secret = (issued: number, data = 'eA==', annotations = issuedFor(account, cluster)): Secret =>
      object(
        Secret,
        'dev-dt-81df6',
        { data: { kubeconfig: data } },
        {
          annotations: {
            ...annotations,
            'offshoot.dev/token-issued': ago(issued),
            'offshoot.dev/token-expires': ago(issued - 900),
            'offshoot.dev/token-digest': dataDigest('eA=='),
          },
        },
      );
    const unannotated = (managedFields: ObjectMeta['managedFields'] = []): Secret =>
      object(Secret, 'dev-dt-81df6', { data: { kubeconfig: 'eA==' } }, { managedFields });
    const tokens = (planned: Plan) => shown(planned).filter((line) => line.startsWith('token'));
    const tokensFor = (it: Secret, other: Partial<Settings> = {}, who: KubeObject = account) =>
      tokens(
        planIn([place, claim(), bound, who, it], (view) => planNamespaceTarget(view, place, { ...settings, ...other })),
      );

    test('renews them in time, even when the class is gone', () => {
      const world = [claim(), bound, account];
      const fresh = plan(place, ...world, secret(599));
      expect([tokens(fresh), fresh.requeueAfterMs]).toEqual([[], 1000]);
      expect(tokens(plan(place, ...world, secret(600)))).toHaveLength(1);
    });

    test.each([
      ['are unchanged', secret(1), {}, account, 0],
      ['were overwritten', secret(1, 'Z2FyYmFnZQ=='), {}, account, 1],
      ['lost their annotations', unannotated([{ manager: 'offshoot-namespace-targets' }]), {}, account, 1],
      ['were issued by somebody else', unannotated(), {}, account, 0],
      [
        'are for an account that was recreated',
        secret(1),
        {},
        { ...account, metadata: { ...account.metadata, uid: 'new' } },
        1,
      ],
      ['are for another URL', secret(1), { cluster: { ...cluster, server: 'https://moved' } }, account, 1],
      ['are for another certificate authority', secret(1), { cluster: { ...cluster, caPem: 'another' } }, account, 1],
    ] as const)('decides whether to issue them again when they %s', (_what, it, other, who, count) => {
      expect(tokensFor(it, other, who)).toHaveLength(count);
    });

    test('recreates a deleted account, even when the class is gone', () => {
      expect(shown(plan(place, claim(), bound, secret(1)))).toEqual([
        'own ServiceAccount place/deployer',
        'own RoleBinding place/deployer',
      ]);
    });
  });

  test('revokes the access of the last claim: recreates the account, and then the credentials', () => {
    const annotations = { ...MADE_HERE, [LAST]: 'uid-of-before' };
    const released = target({ status: { phase: 'Released' } }, { annotations });
    const steps = shown(plan(namespace({ ...FOR_CLAIM, ...MADE }), released, account));
    expect(steps).toEqual([
      'remove ServiceAccount place/deployer',
      'own ServiceAccount place/deployer',
      'own RoleBinding place/deployer',
    ]);
    const fresh = object(
      ServiceAccount,
      'deployer',
      {},
      { namespace: 'place', annotations: { [LAST]: 'uid-of-before' } },
    );
    const next = shown(plan(namespace({ ...FOR_CLAIM, ...MADE }), released, fresh));
    expect(next.filter((line) => /^(remove|token)/.test(line))).toEqual(['token Secret team/dev-dt-81df6']);
  });
});

describe('a target that is being deleted', () => {
  const plan = (it: DeploymentTarget, ...others: KubeObject[]): Plan =>
    planIn([it, ...others], (view) => planRelease(view, it));
  const FINALIZER_REMOVED = 'edit DeploymentTarget team/dev-dt {"metadata":{"finalizers":[]}}';
  const used = {
    ...DELETING,
    annotations: { 'provisioner.appstudio.redhat.com/provisioned-by': PROVISIONER, [UID]: 'uid-of-dev' },
  };

  const first = (planned: Plan): unknown => shown(planned)[0];
  /** The status of the target in a plan. */
  const statusIn = ({ steps }: Plan): unknown => {
    const step = steps?.at(-1);
    return step?.do === 'edit' ? (step.to as DeploymentTarget).status : undefined;
  };

  test('deletes its namespace, and waits until that is gone', () => {
    const planned = plan(target({}, used), ofClass(), namespace());
    expect(first(planned)).toBe('remove Namespace place');
    const ready = {
      type: 'Ready',
      status: 'False',
      reason: 'Terminating',
      message: 'waiting for namespace place to be deleted',
    };
    expect(statusIn(planned)).toMatchObject({ conditions: [ready] });
    expect(statusIn(planned)).not.toHaveProperty('phase', 'Failed');
    expect(shown(plan(target({}, used), ofClass()))).toEqual([FINALIZER_REMOVED]);
  });

  test('keeps its namespace with Retain, and removes our marks from it', () => {
    const planned = plan(target({}, used), ofClass({}, 'Retain'), namespace(FOR_CLAIM));
    expect(shown(planned)).toEqual([
      'edit Namespace place {"metadata":{"labels":{"offshoot.dev/provisioner":null},"annotations":{"offshoot.dev/target":null,"offshoot.dev/class":null,"offshoot.dev/claim":null,"dt.appstudio.redhat.com/claim-uid":null}}}',
      FINALIZER_REMOVED,
    ]);
    expect(first(plan(target({}, DELETING), ofClass({}, 'Retain'), namespace()))).toBe('remove Namespace place');
  });

  test('never deletes a namespace of somebody else', () => {
    expect(shown(plan(target({}, used), ofClass(), object(Namespace, 'place')))).toEqual([FINALIZER_REMOVED]);
    const other = namespace({ 'offshoot.dev/target': 'team/other' });
    expect(shown(plan(target({}, used), ofClass(), other))).toEqual([FINALIZER_REMOVED]);
  });

  test('becomes Failed after two minutes, and keeps waiting', () => {
    const slow = (seconds: number) =>
      plan(target({}, used), ofClass(), namespace({}, { deletionTimestamp: ago(seconds) }));
    expect([statusIn(slow(120)), slow(120).requeueAfterMs]).toMatchObject([
      { conditions: [{ reason: 'Terminating' }] },
      1,
    ]);
    const message = 'deleting namespace place has taken over 2 minutes';
    expect(statusIn(slow(121))).toMatchObject({ phase: 'Failed', conditions: [{ reason: 'Failed', message }] });
    expect(slow(121).events).toEqual([{ type: 'Warning', reason: 'Failed', note: message }]);
  });

  test('is left alone if it is not ours, and so is one that is not being deleted', () => {
    expect(plan(target(), ofClass(), namespace())).toEqual({});
    expect(plan(target({}, { ...used, finalizers: [] }), ofClass(), namespace())).toEqual({});
  });
});

describe('a warm pool', () => {
  const plan = (it: DeploymentTargetClass, ...others: KubeObject[]): string[] =>
    shown(planIn([it, ...others], (view) => planWarm(view, it)));
  const pooled = (n: number, meta: Partial<ObjectMeta> = {}): Namespace =>
    namespace({ 'offshoot.dev/target': `team/pooled-${n}` }, meta, `place-${n}`);
  const pooledTarget = (n: number, fields: object = {}, meta: Partial<ObjectMeta> = {}): DeploymentTarget =>
    target(fields, meta, `pooled-${n}`, `place-${n}`);

  test('is filled only in namespaces with a claim of the class', () => {
    expect(plan(ofClass({ warm: 2 }), claim())).toHaveLength(2);
    expect(plan(ofClass({ warm: 2 }))).toEqual([]);
    expect(plan(ofClass(), claim())).toEqual([]);
  });

  test('counts unfinished namespaces, and not those that are bound or being deleted', () => {
    const bound = { status: { phase: 'Bound' } };
    expect(plan(ofClass({ warm: 2 }), claim(), pooled(1), pooled(2))).toEqual([]);
    expect(plan(ofClass({ warm: 2 }), claim(), pooled(1), pooled(2), pooledTarget(2, bound))).toHaveLength(1);
    expect(plan(ofClass({ warm: 2 }), claim(), pooled(1), pooled(2, DELETING))).toHaveLength(1);
    expect(plan(ofClass({ warm: 1 }), claim(), namespace(FOR_CLAIM))).toHaveLength(1);
  });

  test('is never larger than the quota allows', () => {
    expect(plan(ofClass({ warm: 5, maxPerNamespace: 3 }), claim())).toHaveLength(2);
  });

  test('keeps a target for a claim that just arrived, though the quota is used up by claims', () => {
    const arrived = object(DeploymentTargetClaim, 'new', { spec: { deploymentTargetClassName: 'local' } });
    const world = [claim(), pooled(1), pooledTarget(1)];
    expect(plan(ofClass({ warm: 1, maxPerNamespace: 2 }), arrived, ...world)).toEqual([]);
    const pending = { ...arrived, status: { phase: 'Pending' } } as DeploymentTargetClaim;
    expect(plan(ofClass({ warm: 1, maxPerNamespace: 2 }), pending, ...world)).toEqual([
      'remove DeploymentTarget team/pooled-1',
    ]);
  });

  test('shrinks when it is no longer needed, unfinished namespaces first', () => {
    const world = [pooled(1), pooledTarget(1), pooled(2)];
    expect(plan(ofClass({ warm: 1 }), claim(), ...world)).toEqual(['remove Namespace place-2']);
    expect(plan(ofClass({ warm: 1 }), ...world)).toEqual([
      'remove DeploymentTarget team/pooled-1',
      'remove Namespace place-2',
    ]);
  });
});
