// The deletion of a target of the namespace provisioner whose namespace is retained.
import { expect, test } from 'vitest';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import type { KubeObject } from '../../kube/index.ts';
import { CLAIM_UID, LAST_CLAIM, RECYCLED } from '../names.ts';
import { Namespace, Secret } from '../objects.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { defaultSettings } from '../settings.ts';
import { secretNameFor } from './names.ts';
import { planNamespaceTarget } from './target.ts';
import { planRelease } from './release.ts';

const credentials = secretNameFor('dev-dt', 'place');
const LABELS = { 'offshoot.dev/provisioner': 'namespace' };
const target = object(
  DeploymentTarget,
  'dev-dt',
  {
    spec: {
      deploymentTargetClassName: 'gone',
      kubernetesCredentials: {
        defaultNamespace: 'place',
        apiURL: 'https://api',
        clusterCredentialsSecret: credentials,
      },
    },
    status: { phase: 'Released' },
  },
  {
    deletionTimestamp: ago(5),
    finalizers: ['offshoot.dev/namespace'],
    annotations: {
      'provisioner.appstudio.redhat.com/provisioned-by': 'offshoot.dev/namespace',
      'dt.appstudio.redhat.com/reclaim-policy': 'Retain',
    },
  },
);
const annotations = { 'offshoot.dev/target': 'team/dev-dt' };
const namespace = object(Namespace, 'place', {}, { labels: LABELS, annotations });
const secret = object(Secret, credentials, {}, { labels: LABELS });

test.each([
  ['when the namespace is kept', [namespace], ['edit Namespace place']],
  ['when the namespace was deleted by hand', [], []],
])('the credentials are deleted with the target %s', (_when, others, steps) => {
  const plan = planIn([target, secret, ...others], (view) => planRelease(view, target));
  expect(shown(plan).map((line) => line.split(' {')[0])).toEqual([
    `remove Secret team/${credentials}`,
    ...steps,
    'edit DeploymentTarget team/dev-dt',
  ]);
});

test.each([LAST_CLAIM, RECYCLED, CLAIM_UID])('a namespace is kept if its target has been used: %s', (mark) => {
  const { annotations: before } = target.metadata;
  const planned = (marks: Record<string, string>) => {
    const it = { ...target, metadata: { ...target.metadata, annotations: { ...before, ...marks } }, status: {} };
    return shown(planIn([it, namespace], (view) => planRelease(view, it)))[0];
  };
  expect(planned({})).toBe('remove Namespace place');
  expect(planned({ [mark]: 'true' })).toMatch(/^edit Namespace place /);
});

test('a namespace that is kept loses every mark of ours, and only those', () => {
  const metadata = {
    labels: { ...LABELS, team: 'blue' },
    annotations: {
      'offshoot.dev/target': 'team/dev-dt',
      'offshoot.dev/claim': 'team/dev',
      'offshoot.dev/class': 'kept',
      'offshoot.dev/target-made': 'true',
      'offshoot.dev/problem': 'exceeded quota',
      'dt.appstudio.redhat.com/claim-uid': 'uid-of-dev',
      'dt.appstudio.redhat.com/reclaim-policy': 'Retain',
      'example.com/owner': 'blue',
    },
  };
  const kept = object(Namespace, 'place', {}, metadata);
  const { steps = [] } = planIn([target, kept], (view) => planRelease(view, target));
  const edited = steps.find((step) => step.do === 'edit' && step.kind === Namespace);
  expect(edited?.do === 'edit' && [edited.to.metadata.labels, edited.to.metadata.annotations]).toEqual([
    { team: 'blue' },
    { 'example.com/owner': 'blue' },
  ]);
});

test('the credentials of a target that was deleted by force are deleted once the claim is gone too', () => {
  const name = secretNameFor('dev-dt', 'place');
  const secret = object(Secret, name, {}, { labels: { 'offshoot.dev/provisioner': 'namespace' } });
  const claim = object(DeploymentTargetClaim, 'dev', { spec: { deploymentTargetClassName: 'gone' } });
  const namespace = object(
    Namespace,
    'place',
    {},
    {
      labels: { 'offshoot.dev/provisioner': 'namespace' },
      annotations: {
        'offshoot.dev/target': 'team/dev-dt',
        'offshoot.dev/target-made': 'true',
        'offshoot.dev/claim': 'team/dev',
        'dt.appstudio.redhat.com/claim-uid': 'uid-of-dev',
        'dt.appstudio.redhat.com/reclaim-policy': 'Retain',
      },
    },
  );
  const planned = (...others: KubeObject[]) =>
    shown(planIn([namespace, ...others], (view) => planNamespaceTarget(view, namespace, defaultSettings)));
  expect(planned(secret, claim)).toEqual([]);
  expect(planned(secret)).toEqual([`remove Secret team/${name}`]);
  expect(planned(object(Secret, name))).toEqual([]);
});
