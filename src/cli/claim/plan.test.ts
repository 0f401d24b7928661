// `offshoot claim plan` as people run it, against a cluster with the controllers: what it says is what then happens.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '../../../test/support/until.ts';
import { DeploymentTarget, DeploymentTargetClaim } from '../../api/targets.ts';
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

/** Plans until there is nothing to do: controllers may still be at work. */
async function settled(name: string): Promise<void> {
  await until(async () => (await team.run('claim', 'plan', name)).stdout.startsWith('Nothing to do.'), 20_000);
}

test('a new claim: what is made for it and how it ends, then nothing more', { timeout: 60_000 }, async () => {
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
      '7 to make, 0 to change, 0 to remove.',
      'Claim team/dev would be Bound, with DeploymentTarget dev-dt.',
    ],
  ]);
  expect((await team.client.list(DeploymentTargetClaim, { namespace: 'team' })).items).toEqual([]);
  await team.run('claim', 'create', 'dev', '--class', 'local', '--wait');
  expect(await phaseOf('dev')).toBe('Bound');
  await settled('dev');
  const after = await team.run('claim', 'plan', '-f', file);
  expect([after.code, after.stdout.split('\n')[0]]).toEqual([0, 'Nothing to do.']);
});

test('a claim through a space: nothing is left to do once it is bound', { timeout: 60_000 }, async () => {
  const { stdout } = await team.run('claim', 'plan', '-f', manifest('boxed', 'sandbox'));
  expect(stdout).toContain('+ Namespace offshoot-…-env\n');
  expect(stdout).toContain('Claim team/boxed would be Bound, with DeploymentTarget boxed-dt.\n');
  await team.run('claim', 'create', 'boxed', '--class', 'sandbox', '--wait');
  await settled('boxed');
});

test('a change, field by field', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'timed', '--class', 'local', '--wait');
  await settled('timed');
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
      '0 to make, 1 to change, 0 to remove.',
      'Claim team/timed would be Bound, with DeploymentTarget timed-dt.',
    ],
  ]);
});

test('a deletion: all that goes with the claim', { timeout: 60_000 }, async () => {
  await team.run('claim', 'create', 'short', '--class', 'local', '--wait');
  await settled('short');
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
      '0 to make, 0 to change, 4 to remove.',
      'Claim team/short would be gone.',
    ],
  ]);
  expect(await phaseOf('short')).toBe('Bound');
  await team.run('claim', 'delete', 'short', '--wait');
  expect(
    (await team.client.list(DeploymentTarget, { namespace: 'team' })).items.map((each) => each.metadata.name),
  ).not.toContain('short-dt');
});

describe('what would get no further ends with exit code 1 and says why', () => {
  test('a class that does not exist', async () => {
    const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('lonely', 'none'));
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('Claim team/lonely would be Pending and make no progress: ClassNotFound'),
    ]);
  });

  test('a namespace that is taken', async () => {
    const annotations = { 'dt.appstudio.redhat.com/requested-namespace': 'team' };
    const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('named', 'local', { annotations }));
    expect([code, stdout]).toEqual([1, expect.stringContaining('NamespaceTaken: namespace team exists already')]);
  });

  test('a manifest that is wrong, before a cluster is asked', async () => {
    const annotations = { 'dt.appstudio.redhat.com/selector': 'a in (' };
    const { code, stdout, stderr } = await team.run('claim', 'plan', '-f', manifest('wrong', 'local', { annotations }));
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('invalid label selector')]);
  });

  test('a claim that is not there', async () => {
    const { code, stderr } = await team.run('claim', 'plan', 'nobody');
    expect([code, stderr]).toEqual([1, expect.stringContaining('nobody')]);
  });
});

test('a claim that waits for a provisioner of somebody else is no failure', async () => {
  const { code, stdout } = await team.run('claim', 'plan', '-f', manifest('far', 'cloud'));
  expect([code, stdout]).toEqual([2, expect.stringContaining('Claim team/far would be Pending.')]);
});

test('-o json has every object and field', async () => {
  const { stdout } = await team.run('claim', 'plan', '-f', manifest('data', 'local'), '-o', 'json');
  const { changes, claims } = JSON.parse(stdout) as { changes: { kind: string; object?: object }[]; claims: object[] };
  expect(changes.find(({ kind }) => kind === 'Secret')?.object).toMatchObject({ data: { kubeconfig: '(hidden)' } });
  expect(claims).toEqual([{ claim: 'team/data', phase: 'Bound', target: 'data-dt' }]);
});
