// The end of a target of the namespace provisioner, where its namespace stays.
import { expect, test } from 'vitest';
import { DeploymentTarget } from '../../api/targets.ts';
import { Namespace, Secret } from '../objects.ts';
import { ago, object, planIn, shown } from '../testing/planning.ts';
import { secretNameFor } from './names.ts';
import { planRelease } from './release.ts';

test('the credentials go with the target, also when the namespace is kept', () => {
  const credentials = secretNameFor('dev-dt', 'place');
  const spec = {
    deploymentTargetClassName: 'gone',
    kubernetesCredentials: {
      defaultNamespace: 'place',
      apiURL: 'https://api',
      clusterCredentialsSecret: credentials,
    },
  };
  const target = object(
    DeploymentTarget,
    'dev-dt',
    { spec, status: { phase: 'Released' } },
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
  const namespace = object(
    Namespace,
    'place',
    {},
    { labels: { 'offshoot.dev/provisioner': 'namespace' }, annotations },
  );
  const secret = object(Secret, credentials);
  const plan = planIn([target, namespace, secret], (view) => planRelease(view, target));
  expect(shown(plan).map((line) => line.split(' {')[0])).toEqual([
    `remove Secret team/${credentials}`,
    'edit Namespace place',
    'edit DeploymentTarget team/dev-dt',
  ]);
});
