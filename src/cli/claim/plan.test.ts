// Runs `offshoot claim plan` against a cluster with the controllers: what it prints is what then happens.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
import { defineKind } from '../../kube/objects.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { Namespace } from '../../targets/objects.ts';
import { openTeam } from '../testing/team.ts';
import type { Team } from '../testing/team.ts';

let team: Team;
beforeAll(async () => {
  team = await openTeam();
  await team.addClass('local', 'offshoot.dev/namespace');
  await team.addClass('sandbox', 'appstudio.redhat.com/devsandbox');
  await team.addClass('cloud', 'example.com/cloud');
});
afterAll(() => team.stop());

function manifest(name: string, deploymentTargetClassName: string, more: object = {}): string {
  const file = path.join(team.dir, `${name}.yaml`);
  const metadata = { name, namespace: 'team', ...more };
  const claim = {
    apiVersion: 'appstudio.redhat.com/v1alpha1',
    kind: 'DeploymentTargetClaim',
    metadata,
    spec: { deploymentTargetClassName },
  };
  writeFileSync(file, stringify(claim));
  return file;
}

const phaseOf = async (name: string): Promise<string | undefined> =>
  (await team.client.get(DeploymentTargetClaim, { name, namespace: 'team' })).status?.phase;

/** Waits until the plan is empty: controllers may still be working. */
async function untilNothingToDo(name: string): Promise<void> {
  await until(async () => (await team.run('claim', 'plan', name)).stdout.startsWith('Nothing to do.'), 20_000);
}

test(
  'a new claim has a plan of all objects and its final phase; once it is bound, the plan is empty',
  { timeout: 60_000 },
  async () => {
    const file = manifest('dev', 'local');
    const { code, stdout } = await team.run('claim', 'plan', '-f', file);
    expect([code, stdout.trimEnd().split('\n')]).toEqual([
      2,
      [
        '+ DeploymentTargetClaim team/dev',
        '+ Namespace team-dev-…',
        '+ ServiceAccount team-dev-…/deployer',
        '+ RoleBinding team-dev-…/deployer',
        '+ NetworkPolicy team-dev-…/offshoot',
        '+ Secret team/dev-dt-…',
        '+ DeploymentTarget team/dev-dt',
        '',
        '7 to create, 0 to change, 0 to remove.',
        'Claim team/dev would be Bound, with DeploymentTarget dev-dt.',
      ],
    ]);
    expect((await team.client.list(DeploymentTargetClaim, { namespace: 'team' })).items).toEqual([]);
    await team.run('claim', 'create', 'dev', '--class', 'local', '--wait');
    expect(await phaseOf('dev')).toBe('Bound');
    await untilNothingToDo('dev');
    const after = await team.run('claim', 'plan', '-f', file);
    expect([after.code, after.stdout.split('\n')[0]]).toEqual([0, 'Nothing to do.']);
  },
);

test('a claim with a space request has an empty plan once it is bound', { timeout: 60_000 }, async () => {
  const { stdout } = await team.run('claim', 'plan', '-f', manifest('boxed', 'sandbox'));
  expect(stdout).toContain('+ Namespace offshoot-…-env\n');
  expect(stdout).toContain('Claim team/boxed would be Bound, with DeploymentTarget boxed-dt.\n');
  await team.run('claim', 'create', 'boxed', '--class', 'sandbox', '--wait');
  await untilNothingToDo('boxed');
});

test('a changed claim is planned field by field', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'timed', '--class', 'local', '--wait');
  await untilNothingToDo('timed');
  const file = path.join(team.dir, 'changed.yaml');
  const claim = await team.client.get(DeploymentTargetClaim, { name: 'timed', namespace: 'team' });
  const { apiVersion, kind } = claim;
  writeFileSync(file, stringify({ apiVersion, kind, metadata: { name: 'timed' }, spec: { ...claim.spec, ttl: '2d' } }));
  const { code, stdout } = await team.run('claim', 'plan', '-f', file);
  expect([
    code,
    stdout
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
      .trimEnd()
      .split('\n'),
  ]).toEqual([
    2,
    [
      '~ DeploymentTargetClaim team/timed',
      '    metadata.annotations[dt.appstudio.redhat.com/expires-at]: TIME',
      '    spec.ttl: 2d',
      '',
      '0 to create, 1 to change, 0 to remove.',
      'Claim team/timed would be Bound, with DeploymentTarget timed-dt, and expire at TIME.',
    ],
  ]);
});

test('--delete plans the deletion of all objects of the claim', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'short', '--class', 'local', '--wait');
  await untilNothingToDo('short');
  const { code, stdout } = await team.run('claim', 'plan', '--delete', 'short');
  const lines = stdout
    .replaceAll(/-[0-9a-f]{5}\b/g, '-ID')
    .trimEnd()
    .split('\n');
  expect([code, lines]).toEqual([
    2,
    [
      '- Secret team/short-dt-ID',
      '- Namespace team-short-ID, with everything in it',
      '- DeploymentTarget team/short-dt',
      '- DeploymentTargetClaim team/short',
      '',
      '0 to create, 0 to change, 4 to remove.',
      'Claim team/short would be gone.',
    ],
  ]);
  expect(await phaseOf('short')).toBe('Bound');
  await team.run('claim', 'delete', 'short', '--wait');
  expect(
    (await team.client.list(DeploymentTarget, { namespace: 'team' })).items.map((each) => each.metadata.name),
  ).not.toContain('short-dt');
});

describe('the plan fails with exit code 1 and the reason for', () => {
  test('a class that does not exist', async () => {
    const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('lonely', 'none'));
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('Claim team/lonely would be Pending and make no progress: ClassNotFound'),
    ]);
  });

  test('a requested namespace that exists', async () => {
    const annotations = { 'dt.appstudio.redhat.com/requested-namespace': 'team' };
    const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('named', 'local', { annotations }));
    expect([code, stdout]).toEqual([1, expect.stringContaining('NamespaceTaken: namespace team exists already')]);
  });

  test('a bound claim whose namespace was deleted, and describe does not advise to use it', async () => {
    await team.run('claim', 'create', 'emptied', '--class', 'local', '--wait');
    const key = { name: 'emptied', namespace: 'team' };
    const target = await team.client.get(DeploymentTarget, { name: 'emptied-dt', namespace: 'team' });
    await team.client.delete(Namespace, { name: target.spec.kubernetesCredentials.defaultNamespace });
    const ready = async () =>
      (await team.client.get(DeploymentTargetClaim, key)).status?.conditions?.find(({ type }) => type === 'Ready');
    await until(async () => (await ready())?.reason === 'NamespaceNotFound', 20_000);
    const { code, stdout } = await team.run('claim', 'plan', 'emptied');
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('Claim team/emptied would be Bound and make no progress: NamespaceNotFound'),
    ]);
    expect(stdout).not.toContain('Nothing to do.');
    expect((await team.run('claim', 'describe', 'emptied')).stdout).not.toContain('claim kubeconfig');
  }, 60_000);

  test('an invalid manifest, before the cluster is contacted', async () => {
    const annotations = { 'dt.appstudio.redhat.com/selector': 'a in (' };
    const { code, stdout, stderr } = await team.run('claim', 'plan', '-f', manifest('wrong', 'local', { annotations }));
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('invalid label selector')]);
  });

  test('a claim that does not exist', async () => {
    const { code, stderr } = await team.run('claim', 'plan', 'nobody');
    expect([code, stderr]).toEqual([1, expect.stringContaining('nobody')]);
  });
});

test('a claim with a short time to live is created, and the plan says that it expires', async () => {
  const annotations = { 'dt.appstudio.redhat.com/ttl': '5s' };
  const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('brief', 'local', { annotations }));
  expect([code, stdout.trimEnd().split('\n').slice(-2)]).toEqual([
    2,
    [
      '7 to create, 0 to change, 0 to remove.',
      'Claim team/brief would be Bound, with DeploymentTarget brief-dt, and expire after 5s.',
    ],
  ]);
});

test('a claim that waits for an external provisioner is not an error', async () => {
  const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('far', 'cloud'));
  expect([code, stdout]).toEqual([2, expect.stringContaining('Claim team/far would be Pending.')]);
});

test('-o json prints every object and field', async () => {
  const { stdout } = await team.run('claim', 'plan', '-f', manifest('data', 'local'), '-o', 'json');
  const { changes, claims } = JSON.parse(stdout) as { changes: { kind: string; object?: object }[]; claims: object[] };
  expect(changes.find(({ kind }) => kind === 'Secret')?.object).toMatchObject({ data: { kubeconfig: '(hidden)' } });
  expect(claims).toEqual([{ claim: 'team/data', phase: 'Bound', target: 'data-dt' }]);
});

describe('a write that the server would refuse', () => {
  let refusing: Team;
  beforeAll(async () => {
    refusing = await openTeam();
    await refusing.addClass('local', 'offshoot.dev/namespace');
    const ResourceQuota = defineKind<KubeObject & { spec: object }>('v1', 'ResourceQuota', 'resourcequotas');
    await refusing.client.create(ResourceQuota, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'few', namespace: 'team' },
      spec: { hard: { secrets: '0' } },
    });
  });
  afterAll(() => refusing.stop());

  test('is foreseen, and happens', { timeout: 60_000 }, async () => {
    const { code, stdout } = await refusing.run('claim', 'plan', '-f', manifest('dev', 'local'));
    expect([code, stdout]).toEqual([1, expect.stringContaining('exceeded quota: few')]);
    expect(stdout).not.toContain('+ Secret');
    await refusing.run('claim', 'create', 'dev', '--class', 'local');
    const problem = async (): Promise<string> => (await refusing.run('claim', 'describe', 'dev')).stdout;
    await until(async () => (await problem()).includes('exceeded quota: few'), 20_000, problem);
  });
});
